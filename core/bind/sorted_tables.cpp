#include "search/sorted_tables.hpp"
#include "bind/search.hpp"
#include "search/sorted_psm.hpp"

namespace neardup {

namespace {

void bind_sorted_tables(nb::module_& module) {
    auto tables = nb::class_<SortedTables>(module, "SortedTables",
                                           "Sorted, permuted copies of codes, searched as the papers do; the "
                                           "baseline of HammingTables, with the same methods.");
    tables
        .def(
            "__init__",
            [](SortedTables* self, const Words& codes, unsigned bits, unsigned radius, const Words& masks,
               const Bytes& flips, Seek seek, unsigned threads, const RowNumbers& rows) {
                construct(self, design_of(bits, radius, masks, flips, 0), codes_of(codes, bits),
                          rows_of(rows, codes.shape(0)), seek, threads);
            },
            "codes"_array, "bits"_a, "radius"_a, "masks"_array, "flips"_array, "seek"_a, "threads"_a = 1,
            "rows"_array = nb::none(), "rows: the number of each code's row, when it is not 0, 1, 2, ...")
        .def_prop_ro("header_bits", &SortedTables::key_bits, "Of each table: its whole key.")
        .def(
            "probes",
            [](const SortedTables& self, const Words& queries, unsigned threads) {
                const auto column = codes_of(queries, self.design().bits);
                return without_gil([&] { return self.probes(column, threads); });
            },
            "queries"_array, "threads"_a = 1,
            "Stored codes read by the lookups of these queries, one in each table.");
    bind_tables(tables, [](const SortedTables& self, std::span<const std::uint64_t> queries,
                           const Request& request) { return self.search(queries, request); });
}

}  // namespace

void bind_sorted(nb::module_& module) {
    bind_sorted_tables(module);

    nb::class_<SortedPsm>(
        module, "SortedPsm",
        "One sorted copy of codes, searched by a heap of flips as the paper does; the baseline of PsmTable.")
        .def(
            "__init__",
            [](SortedPsm* self, const Words& codes, unsigned bits, unsigned radius, unsigned header_bits,
               const RowNumbers& rows) {
                construct(self, bits, radius, codes_of(codes, bits), rows_of(rows, codes.shape(0)),
                          header_bits);
            },
            "codes"_array, "bits"_a, "radius"_a, "header_bits"_a, "rows"_array = nb::none())
        .def_prop_ro("rows", &SortedPsm::rows)
        .def_prop_ro("bytes", &SortedPsm::bytes, "Bytes of the codes and of the table of headers.")
        .def_prop_ro("row_bytes", &SortedPsm::row_bytes)
        .def_prop_ro("header_bits", &SortedPsm::header_bits)
        .def(
            "search_heap",
            [](const SortedPsm& self, const Words& queries, const Matrix<float>& costs, std::size_t sets,
               Mode mode, unsigned threads) {
                check_that(costs.shape(0) == queries.shape(0) && costs.shape(1) == self.bits(),
                           "costs must be float32[queries, bits]");
                const auto column = codes_of(queries, self.bits());
                return hits_of([&] { return self.search(column, view(costs), sets, {mode, true, threads}); });
            },
            "queries"_array, "costs"_array, "sets"_a, "mode"_a = Mode::all, "threads"_a = 1,
            "As PsmTable.search_heap.");
}

}  // namespace neardup
