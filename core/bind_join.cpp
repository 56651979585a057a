#include <algorithm>

#include "bind.hpp"
#include "hamming.hpp"

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
            return nb::make_tuple(to_numpy(std::move(hits.query)), to_numpy(std::move(hits.row)),
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

}  // namespace

void bind_join(nb::module_& module) { bind_hamming(module); }

}  // namespace neardup
