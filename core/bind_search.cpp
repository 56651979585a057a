#include "bind.hpp"
#include "tables.hpp"

namespace neardup {

namespace {

// The columns of a matrix of codes; a wrong width or a stray bit beyond it is the caller's mistake.
std::span<const std::uint64_t> codes_of(const Matrix<std::uint64_t>& codes, unsigned bits) {
    const std::size_t words = bits > 64 ? 2 : 1;
    if (codes.shape(1) != words) throw nb::value_error("codes must be uint64[n, words] of the index's width");
    const auto out = view(codes);
    if (bits == 32)
        for (const std::uint64_t code : out)
            if (code >> 32) throw nb::value_error("a 32-bit code uses the low half of its word only");
    return out;
}

Design design_of(unsigned bits, unsigned radius, const Matrix<std::uint64_t>& masks,
                 const Column<std::uint8_t>& flips, unsigned header_bits) {
    Design design{bits, radius, {}, header_bits};
    if (bits != 32 && bits != 64 && bits != 128) throw nb::value_error("codes have 32, 64 or 128 bits");
    const unsigned words = design.words();
    if (masks.shape(1) != words || masks.shape(0) != flips.shape(0))
        throw nb::value_error("masks must be uint64[tables, words] with one number of flips each");
    for (std::size_t z = 0; z < masks.shape(0); ++z) {
        Key key{{}, flips.data()[z]};
        for (unsigned w = 0; w < words; ++w) key.mask[w] = masks.data()[z * words + w];
        design.keys.push_back(key);
    }
    design.check();
    return design;
}

nb::tuple columns(Hits&& hits, bool expand) {
    auto query = to_numpy(std::move(hits.query)), row = to_numpy(std::move(hits.row));
    auto distance = to_numpy(std::move(hits.distance));
    if (expand) return nb::make_tuple(query, row, distance);
    return nb::make_tuple(query, row, distance, to_numpy(std::move(hits.size)));
}

}  // namespace

void bind_search(nb::module_& module) {
    nb::enum_<Mode>(module, "Mode").value("all", Mode::all).value("first", Mode::first);

    nb::class_<Tables>(module, "HammingTables", "Codes in tables, searched by key; never changes once built.")
        .def(
            "__init__",
            [](Tables* self, const Matrix<std::uint64_t>& codes, unsigned bits, unsigned radius,
               const Matrix<std::uint64_t>& masks, const Column<std::uint8_t>& flips, unsigned header_bits,
               unsigned threads) {
                const Design design = design_of(bits, radius, masks, flips, header_bits);
                const auto column = codes_of(codes, bits);
                const nb::gil_scoped_release release;
                new (self) Tables(design, column, {}, threads);
            },
            "codes"_a.noconvert(), "bits"_a, "radius"_a, "masks"_a.noconvert(), "flips"_a.noconvert(),
            "header_bits"_a = 0, "threads"_a = 1)
        .def_prop_ro("rows", &Tables::rows)
        .def_prop_ro("codes", &Tables::codes, "Distinct codes.")
        .def_prop_ro("bytes", &Tables::bytes, "Bytes of the tables, without the row map.")
        .def_prop_ro("row_bytes", &Tables::row_bytes, "Bytes of the map from codes to rows.")
        .def_prop_ro("header_bits", &Tables::header_bits, "Of each table.")
        .def(
            "search",
            [](const Tables& self, const Matrix<std::uint64_t>& queries, Mode mode, bool expand,
               unsigned threads) {
                const auto column = codes_of(queries, self.design().bits);
                Hits hits;
                {
                    const nb::gil_scoped_release release;
                    hits = search(self, column, {mode, expand, threads});
                }
                return columns(std::move(hits), expand);
            },
            "queries"_a.noconvert(), "mode"_a = Mode::all, "expand"_a = true, "threads"_a = 1,
            "(query, row, distance) columns by query, then row; with expand=False one line per distinct "
            "code, its lowest "
            "row, and a fourth column: how many rows have it.");
}

}  // namespace neardup
