#include <algorithm>
#include <mutex>
#include <optional>

#include <nanobind/stl/optional.h>
#include "bind/module.hpp"
#include "clusters/unionfind.hpp"
#include "join/collapse.hpp"
#include "join/join.hpp"
#include "search/hamming.hpp"

namespace neardup {

namespace {

using Words = Matrix<std::uint64_t>;

void check_width(int bits) {
    if (bits != 32 && bits != 64 && bits != 128) throw nb::value_error("bits must be 32, 64 or 128");
}

Codes codes_of(const Words& words, int bits) {
    check_width(bits);
    if (words.shape(1) != words_of(bits))
        throw nb::value_error("codes of this width need another number of words");
    return view(words);
}

void check_radius(int radius, int bits) {
    if (radius < 0 || radius > bits) throw nb::value_error("radius must be from 0 to the width of a code");
}

unsigned check_threads(int threads) {
    if (threads < 1 || threads > 1024) throw nb::value_error("threads must be from 1 to 1024");
    return static_cast<unsigned>(threads);
}

void check_rows(std::span<const std::int64_t> rows, std::size_t limit) {
    const auto outside = [limit](std::int64_t row) {
        return row < 0 || static_cast<std::size_t>(row) >= limit;
    };
    if (std::any_of(rows.begin(), rows.end(), outside)) throw nb::value_error("a row number is out of range");
}

void bind_hamming(nb::module_& module) {
    module.def(
        "distances",
        [](const Words& left, const Words& right) {
            if (left.shape(0) != right.shape(0) || left.shape(1) != right.shape(1) || left.shape(1) < 1 ||
                left.shape(1) > 2)
                throw nb::value_error("both columns must have the same shape, of one or two words");
            std::vector<std::uint8_t> out;
            {
                nb::gil_scoped_release free;
                out = distances(view(left), view(right), left.shape(1));
            }
            return to_numpy(std::move(out));
        },
        "left"_a.noconvert(), "right"_a.noconvert(), "Differing bits of row i of left and row i of right.");
    module.def(
        "distances_at",
        [](const Words& left, const Words& right, const Column<std::int64_t>& left_rows,
           const Column<std::int64_t>& right_rows) {
            if (left.shape(1) != right.shape(1) || left.shape(1) < 1 || left.shape(1) > 2)
                throw nb::value_error("both columns must have one word, or both two");
            if (left_rows.shape(0) != right_rows.shape(0))
                throw nb::value_error("row columns differ in length");
            std::vector<std::uint8_t> out;
            {
                nb::gil_scoped_release free;
                check_rows(view(left_rows), left.shape(0));
                check_rows(view(right_rows), right.shape(0));
                out = distances_at(view(left), view(right), left.shape(1), view(left_rows), view(right_rows));
            }
            return to_numpy(std::move(out));
        },
        "left"_a.noconvert(), "right"_a.noconvert(), "left_rows"_a.noconvert(), "right_rows"_a.noconvert(),
        "Differing bits of row left_rows[i] of left and row right_rows[i] of right.");
    module.def(
        "scan",
        [](const Words& stored, const Words& queries, int bits, int radius, bool first, int threads) {
            const Codes s = codes_of(stored, bits), q = codes_of(queries, bits);
            check_radius(radius, bits);
            const unsigned workers = check_threads(threads);
            HitColumns hits;
            {
                nb::gil_scoped_release free;
                hits = scan(s, q, bits, radius, first, workers);
            }
            return std::tuple(to_numpy(std::move(hits.query)), to_numpy(std::move(hits.row)),
                              to_numpy(std::move(hits.distance)));
        },
        "stored"_a.noconvert(), "queries"_a.noconvert(), "bits"_a, "radius"_a, "first"_a = false,
        "threads"_a = 1,
        "Columns (query, row, distance) of all stored codes within the radius of each query, by brute "
        "force.");
    module.def(
        "count_distances",
        [](const Words& left, const Words& right, int bits, int threads) {
            const Codes l = codes_of(left, bits), r = codes_of(right, bits);
            const unsigned workers = check_threads(threads);
            std::vector<std::int64_t> counts;
            {
                nb::gil_scoped_release free;
                counts = count_distances(l, r, bits, workers);
            }
            return to_numpy(std::move(counts));
        },
        "left"_a.noconvert(), "right"_a.noconvert(), "bits"_a, "threads"_a = 1,
        "How many pairs of a left and a right row lie at each distance, 0 to bits.");
}

using Skip = std::optional<Column<bool>>;

std::span<const std::uint8_t> skip_of(const Skip& skip, std::size_t rows) {
    if (!skip) return {};
    if (skip->shape(0) != rows) throw nb::value_error("skip must have one entry for each row");
    // Any nonzero byte skips; bool has the size of a byte here and in numpy.
    return {reinterpret_cast<const std::uint8_t*>(skip->data()), rows};
}

void check_count(std::size_t rows) {
    if (rows >= std::uint64_t{1} << 32)
        throw nb::value_error("at most 2**32 - 1 rows; use the batch on disk");
}

void bind_groups(nb::module_& module) {
    module.def(
        "collapse",
        [](const Words& codes, const Skip& skip, int bits, int threads) {
            const Codes all = codes_of(codes, bits);
            check_count(codes.shape(0));
            const auto left_out = skip_of(skip, codes.shape(0));
            const unsigned workers = check_threads(threads);
            EqualCodes groups;
            {
                nb::gil_scoped_release free;
                groups = collapse(all, left_out, bits, workers);
            }
            return std::tuple(to_numpy(std::move(groups.repeats)), to_numpy(std::move(groups.members)),
                              to_numpy(std::move(groups.offsets)));
        },
        "codes"_a.noconvert(), "skip"_a.noconvert().none(), "bits"_a, "threads"_a = 1,
        "Columns (repeats, members, offsets) of the rows with equal codes; see core/join/collapse.hpp.");
    module.def(
        "labels_of_pairs",
        [](std::size_t rows, const Column<std::int64_t>& left, const Column<std::int64_t>& right) {
            check_count(rows);
            if (left.shape(0) != right.shape(0)) throw nb::value_error("columns differ in length");
            std::vector<std::int64_t> labels;
            {
                nb::gil_scoped_release free;
                check_rows(view(left), rows);
                check_rows(view(right), rows);
                labels = labels_of_pairs(rows, view(left), view(right));
            }
            return to_numpy(std::move(labels));
        },
        "rows"_a, "left"_a.noconvert(), "right"_a.noconvert(),
        "For each row the smallest row that the pairs tie it to.");
}

// A join and the arrays it reads. One caller at a time: the GIL is released while it works.
class PairStream {
  public:
    PairStream(Words left, Skip left_skip, std::optional<Words> right, Skip right_skip,
               const Matrix<std::uint64_t>& masks, int bits, int radius, int threads)
        : left_(std::move(left)),
          right_(std::move(right)),
          left_skip_(std::move(left_skip)),
          right_skip_(std::move(right_skip)) {
        std::vector<RowSet> sets{{codes_of(left_, bits), skip_of(left_skip_, left_.shape(0))}};
        if (right_) sets.push_back({codes_of(*right_, bits), skip_of(right_skip_, right_->shape(0))});
        check_count(left_.shape(0) + (right_ ? right_->shape(0) : 0));
        check_radius(radius, bits);
        if (masks.shape(0) == 0 || masks.shape(1) != 2)
            throw nb::value_error("masks must be uint64[tables, 2]");
        std::vector<Mask> keys;
        for (std::size_t i = 0; i < masks.shape(0); ++i) keys.push_back({masks(i, 0), masks(i, 1)});
        const unsigned workers = check_threads(threads);
        nb::gil_scoped_release free;
        join_.emplace(sets, bits, radius, keys, workers);
    }

    auto next(std::size_t most) {
        PairColumns pairs;
        {
            nb::gil_scoped_release free;
            const std::lock_guard lock(guard_);
            pairs = join_->next(most);
        }
        return std::tuple(to_numpy(std::move(pairs.left)), to_numpy(std::move(pairs.right)),
                          to_numpy(std::move(pairs.distance)));
    }

    nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>> labels() {
        if (right_) throw nb::value_error("labels need a join of one set");
        std::vector<std::int64_t> labels;
        {
            nb::gil_scoped_release free;
            const std::lock_guard lock(guard_);
            labels = join_->labels();
        }
        return to_numpy(std::move(labels));
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
        .def(nb::init<Words, Skip, std::optional<Words>, Skip, const Matrix<std::uint64_t>&, int, int, int>(),
             "left"_a.noconvert(), "left_skip"_a.noconvert().none(), "right"_a.noconvert().none(),
             "right_skip"_a.noconvert().none(), "masks"_a.noconvert(), "bits"_a, "radius"_a, "threads"_a = 1)
        .def("next", &PairStream::next, "most"_a,
             "The next pairs as columns (left, right, distance), `most` of them or what is left; none at the "
             "end.")
        .def("labels", &PairStream::labels,
             "Ties the remaining pairs together: for each row the smallest row it hangs together with.");
}

}  // namespace

void bind_join(nb::module_& module) {
    bind_hamming(module);
    bind_groups(module);
    bind_pairs(module);
}

}  // namespace neardup
