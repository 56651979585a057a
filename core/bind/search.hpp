#pragma once
// What the bindings of the searches share: codes, rows and designs in, columns of hits out.
#include <nanobind/stl/optional.h>

#include "bind/checks.hpp"
#include "search/tables.hpp"

namespace neardup {

// The columns of a matrix of codes; a wrong width or a stray bit beyond it is the caller's mistake.
inline std::span<const std::uint64_t> codes_of(const Words& codes, unsigned bits) {
    const std::size_t words = bits > 64 ? 2 : 1;
    if (codes.shape(1) != words) throw nb::value_error("codes must be uint64[n, words] of the index's width");
    const auto out = view(codes);
    if (bits == 32)
        for (const std::uint64_t code : out)
            if (code >> 32) throw nb::value_error("a 32-bit code uses the low half of its word only");
    return out;
}

using RowNumbers = std::optional<Column<std::uint32_t>>;

inline std::span<const std::uint32_t> rows_of(const RowNumbers& rows, std::size_t codes) {
    if (!rows) return {};
    if (rows->shape(0) != codes) throw nb::value_error("one row number per code");
    return view(*rows);
}

inline Design design_of(unsigned bits, unsigned radius, const Words& masks, const Bytes& flips,
                        unsigned header_bits) {
    Design design{bits, radius, {}, header_bits};
    check_bits(bits);
    const unsigned words = design.words();
    if (masks.shape(1) != words || masks.shape(0) != flips.shape(0))
        throw nb::value_error("masks must be uint64[tables, words] with one number of flips each");
    for (std::size_t z = 0; z < masks.shape(0); ++z) {
        Key key{{}, flips.data()[z], true};
        for (unsigned w = 0; w < words; ++w) key.mask[w] = masks.data()[z * words + w];
        design.keys.push_back(key);
    }
    design.check();
    return design;
}

inline auto columns(Hits&& hits) { return to_columns(hits.query, hits.row, hits.distance); }

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
                return columns(
                    without_gil([&] { return search(self, column, Request{mode, true, threads}); }));
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
