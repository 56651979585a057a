#pragma once
// What the bindings of the searches share: codes, rows and designs in, columns of hits out.
#include <nanobind/stl/optional.h>

#include "bind/checks.hpp"
#include "search/tables.hpp"

namespace neardup {

// Flip sets are kept for a whole batch of queries: this bounds them to 128 MB a thread.
constexpr std::size_t kMostSets = 16384;

// The columns of a matrix of codes; a wrong width or a stray bit beyond it is the caller's mistake.
inline std::span<const std::uint64_t> codes_of(const Words& codes, unsigned bits) {
    check_that(codes.shape(1) == (bits > 64 ? 2 : 1), "codes must be uint64[n, words] of the index's width");
    const auto out = view(codes);
    if (bits == 32)
        for (const std::uint64_t code : out)
            check_that(!(code >> 32), "a 32-bit code uses the low half of its word only");
    return out;
}

using RowNumbers = std::optional<Column<std::uint32_t>>;

inline std::span<const std::uint32_t> rows_of(const RowNumbers& rows, std::size_t codes) {
    check_that(!rows || rows->shape(0) == codes, "one row number per code");
    return view(rows);
}

inline Design design_of(unsigned bits, unsigned radius, const Words& masks, const Bytes& flips,
                        unsigned header_bits) {
    Design design{bits, radius, {}, header_bits};
    check_bits(bits);
    const unsigned words = design.words();
    check_that(masks.shape(1) == words && masks.shape(0) == flips.shape(0),
               "masks must be uint64[tables, words] with one number of flips each");
    for (std::size_t z = 0; z < masks.shape(0); ++z) {
        Key key{{}, flips.data()[z], true};
        for (unsigned w = 0; w < words; ++w) key.mask[w] = masks.data()[z * words + w];
        design.keys.push_back(key);
    }
    design.check();
    return design;
}

// The hits that a search finds, without the interpreter's lock.
template <class Search>
auto hits_of(Search&& search) {
    Hits hits = without_gil(search);
    return to_columns(hits.query, hits.row, hits.distance);
}

// The properties and searches that all tables of codes share; `search` is their kernel.
template <class Tables, class Search>
void bind_tables(nb::class_<Tables>& bound, Search search) {
    bound.def_prop_ro("rows", &Tables::rows)
        .def_prop_ro("codes", &Tables::codes, "Distinct codes.")
        .def_prop_ro("bytes", &Tables::bytes, "Bytes of the tables, without the rows.")
        .def_prop_ro("row_bytes", &Tables::row_bytes, "Bytes of the map from codes to rows.")
        .def(
            "search",
            [search](const Tables& self, const Words& queries, Mode mode, unsigned threads) {
                const auto column = codes_of(queries, self.design().bits);
                return hits_of([&] { return search(self, column, Request{mode, true, threads}); });
            },
            "queries"_array, "mode"_a = Mode::all, "threads"_a = 1,
            "(query, row, distance) columns by query, then row.")
        .def(
            "search_groups",
            [search](const Tables& self, const Words& queries, unsigned threads) {
                const auto column = codes_of(queries, self.design().bits);
                Hits hits =
                    without_gil([&] { return search(self, column, Request{Mode::all, false, threads}); });
                return to_columns(hits.query, hits.row, hits.distance, hits.size);
            },
            "queries"_array, "threads"_a = 1,
            "One line for each distinct code: its lowest row, and in a fourth column how many rows have it.");
}

}  // namespace neardup
