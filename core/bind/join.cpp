#include <mutex>
#include <optional>

#include <nanobind/stl/optional.h>
#include "bind/checks.hpp"
#include "clusters/unionfind.hpp"
#include "join/collapse.hpp"
#include "join/join.hpp"
#include "search/hamming.hpp"

namespace neardup {

namespace {

Codes codes_of(const Words& words, int bits) {
    check_that(words.shape(1) == check_bits(static_cast<unsigned>(bits)),
               "codes of this width need another number of words");
    return view(words);
}

void check_radius(int radius, int bits) {
    check_that(radius >= 0 && radius <= bits, "radius must be from 0 to the width of a code");
}

void bind_hamming(nb::module_& module) {
    module.def(
        "distances",
        [](const Words& left, const Words& right) {
            check_that(left.shape(0) == right.shape(0) && left.shape(1) == right.shape(1) &&
                           left.shape(1) >= 1 && left.shape(1) <= 2,
                       "both columns must have the same shape, of one or two words");
            return computed([&] { return distances(view(left), view(right), left.shape(1)); });
        },
        "left"_array, "right"_array, "Differing bits of row i of left and row i of right.");
    module.def(
        "distances_at",
        [](const Words& left, const Words& right, const Longs& left_rows, const Longs& right_rows) {
            check_that(left.shape(1) == right.shape(1) && left.shape(1) >= 1 && left.shape(1) <= 2,
                       "both columns must have one word, or both two");
            return computed([&] {
                const PairRows pairs = pairs_of(left_rows, right_rows, left.shape(0), right.shape(0));
                return distances_at(view(left), view(right), left.shape(1), pairs.left, pairs.right);
            });
        },
        "left"_array, "right"_array, "left_rows"_array, "right_rows"_array,
        "Differing bits of row left_rows[i] of left and row right_rows[i] of right.");
    module.def(
        "scan",
        [](const Words& stored, const Words& queries, int bits, int radius, bool first, int threads) {
            const Codes s = codes_of(stored, bits), q = codes_of(queries, bits);
            check_radius(radius, bits);
            return computed([&] { return scan(s, q, bits, radius, first, check_threads(threads)); });
        },
        "stored"_array, "queries"_array, "bits"_a, "radius"_a, "first"_a = false, "threads"_a = 1,
        "Columns (query, row, distance) of all stored codes within the radius of each query, by brute "
        "force.");
    module.def(
        "count_distances",
        [](const Words& left, const Words& right, int bits, int threads) {
            const Codes l = codes_of(left, bits), r = codes_of(right, bits);
            return computed([&] { return count_distances(l, r, bits, check_threads(threads)); });
        },
        "left"_array, "right"_array, "bits"_a, "threads"_a = 1,
        "How many pairs of a left and a right row lie at each distance, 0 to bits.");
}

using Skip = std::optional<Column<bool>>;

std::span<const std::uint8_t> skip_of(const Skip& skip, std::size_t rows) {
    if (!skip) return {};
    check_that(skip->shape(0) == rows, "skip must have one entry for each row");
    // Any nonzero byte skips; bool has the size of a byte here and in numpy.
    return {reinterpret_cast<const std::uint8_t*>(skip->data()), rows};
}

void bind_groups(nb::module_& module) {
    module.def(
        "collapse",
        [](const Words& codes, const Skip& skip, int bits, int threads) {
            const Codes all = codes_of(codes, bits);
            check_row_count(codes.shape(0));
            const auto left_out = skip_of(skip, codes.shape(0));
            return computed([&] { return collapse(all, left_out, bits, check_threads(threads)); });
        },
        "codes"_array, "skip"_array.none(), "bits"_a, "threads"_a = 1,
        "Columns (repeats, members, offsets) of the rows with equal codes; see core/join/collapse.hpp.");
    module.def(
        "labels_of_pairs",
        [](std::size_t rows, const Longs& left, const Longs& right) {
            check_row_count(rows);
            return computed([&] {
                const PairRows pairs = pairs_of(left, right, rows, rows);
                return labels_of_pairs(rows, pairs.left, pairs.right);
            });
        },
        "rows"_a, "left"_array, "right"_array, "For each row the smallest row that the pairs connect it to.");
}

// A join and the arrays it reads. One caller at a time: the GIL is released while it works.
class PairStream {
  public:
    PairStream(Words left, Skip left_skip, std::optional<Words> right, Skip right_skip, const Words& masks,
               int bits, int radius, int threads)
        : left_(std::move(left)),
          right_(std::move(right)),
          left_skip_(std::move(left_skip)),
          right_skip_(std::move(right_skip)) {
        std::vector<RowSet> sets{{codes_of(left_, bits), skip_of(left_skip_, left_.shape(0))}};
        if (right_) sets.push_back({codes_of(*right_, bits), skip_of(right_skip_, right_->shape(0))});
        check_row_count(left_.shape(0) + (right_ ? right_->shape(0) : 0));
        check_radius(radius, bits);
        check_that(masks.shape(0) > 0 && masks.shape(1) == 2, "masks must be uint64[tables, 2]");
        std::vector<Mask> keys;
        for (std::size_t i = 0; i < masks.shape(0); ++i) keys.push_back({masks(i, 0), masks(i, 1)});
        without_gil([&] { join_.emplace(sets, bits, radius, keys, check_threads(threads)); });
    }

    auto next(std::size_t most) {
        return computed([&] {
            const std::lock_guard lock(guard_);
            return join_->next(most);
        });
    }

    auto labels() {
        check_that(!right_, "labels need a join of one set");
        return computed([&] {
            const std::lock_guard lock(guard_);
            return join_->labels();
        });
    }

  private:
    Words left_;
    std::optional<Words> right_;
    Skip left_skip_, right_skip_;
    std::mutex guard_;
    std::optional<Join> join_;
};

void bind_pairs(nb::module_& module) {
    nb::class_<PairStream>(module, "PairStream",
                           "All pairs of codes within a radius, a bounded number at a time.")
        .def(nb::init<Words, Skip, std::optional<Words>, Skip, const Words&, int, int, int>(), "left"_array,
             "left_skip"_array.none(), "right"_array.none(), "right_skip"_array.none(), "masks"_array,
             "bits"_a, "radius"_a, "threads"_a = 1)
        .def("next", &PairStream::next, "most"_a,
             "The next pairs as columns (left, right, distance), `most` of them or what is left; none at the "
             "end.")
        .def("labels", &PairStream::labels,
             "For each row the smallest row of its connected component, by the remaining pairs.");
}

}  // namespace

void bind_join(nb::module_& module) {
    bind_hamming(module);
    bind_groups(module);
    bind_pairs(module);
}

}  // namespace neardup
