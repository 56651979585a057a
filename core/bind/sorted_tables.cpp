#include "search/sorted_tables.hpp"
#include "bind/search.hpp"
#include "search/sorted_psm.hpp"

namespace neardup {

namespace {

void bind_sorted_tables(nb::module_& module) {
    const auto run = [](const SortedTables& self, const Matrix<std::uint64_t>& queries,
                        const Request& request) {
        const auto column = codes_of(queries, self.design().bits);
        const nb::gil_scoped_release release;
        return self.search(column, request);
    };
    nb::class_<SortedTables>(module, "SortedTables",
                             "Sorted, permuted copies of codes, searched as the papers do; the baseline of "
                             "HammingTables, with the same methods.")
        .def(
            "__init__",
            [](SortedTables* self, const Matrix<std::uint64_t>& codes, unsigned bits, unsigned radius,
               const Matrix<std::uint64_t>& masks, const Column<std::uint8_t>& flips, Seek seek,
               unsigned threads, const std::optional<Column<std::uint32_t>>& rows) {
                const Design design = design_of(bits, radius, masks, flips, 0);
                const auto column = codes_of(codes, bits);
                const auto numbers = rows_of(rows, codes.shape(0));
                const nb::gil_scoped_release release;
                new (self) SortedTables(design, column, numbers, seek, threads);
            },
            "codes"_a.noconvert(), "bits"_a, "radius"_a, "masks"_a.noconvert(), "flips"_a.noconvert(),
            "seek"_a, "threads"_a = 1, "rows"_a.noconvert() = nb::none(),
            "rows: the number of each code's row, when it is not 0, 1, 2, ...")
        .def_prop_ro("rows", &SortedTables::rows)
        .def_prop_ro("codes", &SortedTables::codes, "Distinct codes.")
        .def_prop_ro("bytes", &SortedTables::bytes, "Bytes of the codes, without the rows beside them.")
        .def_prop_ro("row_bytes", &SortedTables::row_bytes, "Bytes of the rows, of all tables.")
        .def_prop_ro("header_bits", &SortedTables::key_bits, "Of each table: its whole key.")
        .def(
            "search",
            [run](const SortedTables& self, const Matrix<std::uint64_t>& queries, Mode mode,
                  unsigned threads) { return columns(run(self, queries, {mode, true, threads})); },
            "queries"_a.noconvert(), "mode"_a = Mode::all, "threads"_a = 1,
            "(query, row, distance) columns by query, then row.")
        .def(
            "search_groups",
            [run](const SortedTables& self, const Matrix<std::uint64_t>& queries, unsigned threads) {
                return group_columns(run(self, queries, {Mode::all, false, threads}));
            },
            "queries"_a.noconvert(), "threads"_a = 1,
            "One line per distinct code: its lowest row, and in a fourth column how many rows have it.")
        .def(
            "probes",
            [](const SortedTables& self, const Matrix<std::uint64_t>& queries, unsigned threads) {
                const auto column = codes_of(queries, self.design().bits);
                const nb::gil_scoped_release release;
                return self.probes(column, threads);
            },
            "queries"_a.noconvert(), "threads"_a = 1,
            "Stored codes looked at by the lookups of these queries, one in each table.");
}

}  // namespace

void bind_sorted(nb::module_& module) {
    bind_sorted_tables(module);

    nb::class_<SortedPsm>(module, "SortedPsm",
                          "One sorted copy of codes, searched by a heap of flips as the paper does; the "
                          "baseline of PsmTable.")
        .def(
            "__init__",
            [](SortedPsm* self, const Matrix<std::uint64_t>& codes, unsigned bits, unsigned radius,
               unsigned header_bits, const std::optional<Column<std::uint32_t>>& rows) {
                const auto column = codes_of(codes, bits);
                const auto numbers = rows_of(rows, codes.shape(0));
                const nb::gil_scoped_release release;
                new (self) SortedPsm(bits, radius, column, numbers, header_bits);
            },
            "codes"_a.noconvert(), "bits"_a, "radius"_a, "header_bits"_a, "rows"_a.noconvert() = nb::none())
        .def_prop_ro("rows", &SortedPsm::rows)
        .def_prop_ro("bytes", &SortedPsm::bytes, "Bytes of the codes and of the table of headers.")
        .def_prop_ro("row_bytes", &SortedPsm::row_bytes)
        .def_prop_ro("header_bits", &SortedPsm::header_bits)
        .def(
            "search_heap",
            [](const SortedPsm& self, const Matrix<std::uint64_t>& queries, const Matrix<float>& costs,
               std::size_t sets, Mode mode, unsigned threads) {
                if (costs.shape(0) != queries.shape(0) || costs.shape(1) != self.bits())
                    throw nb::value_error("costs must be float32[queries, bits]");
                const auto column = codes_of(queries, self.bits());
                Hits hits;
                {
                    const nb::gil_scoped_release release;
                    hits = self.search(column, view(costs), sets, {mode, true, threads});
                }
                return columns(std::move(hits));
            },
            "queries"_a.noconvert(), "costs"_a.noconvert(), "sets"_a, "mode"_a = Mode::all, "threads"_a = 1,
            "As PsmTable.search_heap.");
}

}  // namespace neardup
