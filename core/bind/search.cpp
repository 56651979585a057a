#include "bind/search.hpp"
#include "search/live.hpp"
#include "search/psm.hpp"
#include "search/vosh.hpp"

#include <limits>

namespace neardup {

namespace {

std::span<const float> costs_of(const Floats& costs) {
    const auto out = view(costs);
    check_that(out.size() <= 256, "at most 256 costs");
    for (std::size_t i = 0; i < out.size(); ++i)
        check_that(out[i] >= (i > 0 ? out[i - 1] : 0.0f),
                   "costs must be numbers from 0 up, in ascending order");
    return out;
}

unsigned flips_of(unsigned radius) {
    check_that(radius <= most_flips, "at most 16 bits are flipped at once");
    return radius;
}

void bind_vosh(nb::module_& module) {
    module.def(
        "vosh",
        [](const Floats& costs, unsigned radius, std::size_t limit) {
            FlipOrder order;
            order.start(costs_of(costs), flips_of(radius));
            std::vector<std::int64_t> offsets{0};
            std::vector<std::uint8_t> ranks;
            std::vector<double> totals;
            for (RankSet set; totals.size() < limit && order.next(set);) {
                ranks.insert(ranks.end(), set.span().begin(), set.span().end());
                offsets.push_back(static_cast<std::int64_t>(ranks.size()));
                totals.push_back(set.cost);
            }
            return to_columns(offsets, ranks, totals);
        },
        "costs"_array, "radius"_a, "limit"_a,
        "The cheapest `limit` sets of 1 to `radius` ranks, as (offsets, ranks, cost); costs ascend by rank.");
    module.def(
        "vosh_children",
        [](const std::vector<unsigned>& ranks, unsigned width) {
            RankSet set;
            check_that(!ranks.empty() && ranks.size() <= most_flips && width <= 256,
                       "1 to 16 ranks below 256");
            for (std::size_t i = 0; i < ranks.size(); ++i) {
                check_that(ranks[i] < width && (i == 0 || ranks[i] > ranks[i - 1]),
                           "ranks ascend and are below the width");
                set.ranks[i] = static_cast<std::uint8_t>(ranks[i]);
            }
            set.size = static_cast<std::uint8_t>(ranks.size());
            const Children next = children(set, width);
            const auto list = [](const RankSet& s) {
                return std::vector<unsigned>(s.span().begin(), s.span().end());
            };
            std::vector<std::vector<unsigned>> out(2);
            if (next.has_left) out[0] = list(next.left);
            if (next.has_right) out[1] = list(next.right);
            return out;
        },
        "ranks"_a, "width"_a,
        "The left and right child of a set in its tree; an empty list where there is none.");
}

void bind_psm(nb::module_& module) {
    const auto own_costs = [](const Psm& self, const Words& queries, const Matrix<float>& costs) {
        check_that(costs.shape(0) == queries.shape(0) && costs.shape(1) == self.tables().design().bits,
                   "costs must be float32[queries, bits]");
        return Volatility{view(costs), {}, 0};
    };
    const auto steps_of = [](const Psm& self, const Floats& expected, std::size_t sets) {
        check_that(expected.shape(0) == self.header_bits(), "one expected cost per header bit");
        check_that(sets <= kMostSets, "at most 16384 flip sets");
        return flip_template(costs_of(expected), self.tables().design().radius, sets);
    };
    const auto run = [](const Psm& self, const Words& queries, const Volatility& volatility,
                        const auto& order, const Request& request) {
        const auto column = codes_of(queries, self.tables().design().bits);
        return hits_of([&] { return self.search(column, volatility, order, request); });
    };
    nb::class_<Psm>(module, "PsmTable",
                    "Codes in one table, searched by their likeliest flips; never changes once built.")
        .def(
            "__init__",
            [](Psm* self, const Words& codes, unsigned bits, unsigned radius, unsigned header_bits,
               unsigned threads, const RowNumbers& rows) {
                check_bits(bits);
                check_that(header_bits <= std::min(bits, 32u), "a header has at most 32 bits");
                construct(self, bits, flips_of(radius), codes_of(codes, bits), rows_of(rows, codes.shape(0)),
                          header_bits, threads);
            },
            "codes"_array, "bits"_a, "radius"_a, "header_bits"_a = 0, "threads"_a = 1,
            "rows"_array = nb::none())
        .def_prop_ro("rows", [](const Psm& self) { return self.tables().rows(); })
        .def_prop_ro(
            "codes", [](const Psm& self) { return self.tables().codes(); }, "Distinct codes.")
        .def_prop_ro(
            "bytes", [](const Psm& self) { return self.tables().bytes(); }, "Without the row map.")
        .def_prop_ro("row_bytes", [](const Psm& self) { return self.tables().row_bytes(); })
        .def_prop_ro("header_bits", &Psm::header_bits)
        .def(
            "search_heap",
            [=](const Psm& self, const Words& queries, const Matrix<float>& costs, std::size_t sets,
                Mode mode, unsigned threads, double limit) {
                check_that(sets <= kMostSets, "at most 16384 flip sets");
                return run(self, queries, own_costs(self, queries, costs), OwnFlips{sets, limit},
                           {mode, true, threads});
            },
            "queries"_array, "costs"_array, "sets"_a, "mode"_a = Mode::all, "threads"_a = 1,
            "limit"_a = std::numeric_limits<double>::infinity(),
            "Each query flips its own cheapest sets, in exact order, and none that costs more than `limit`.")
        .def(
            "search_template",
            [=](const Psm& self, const Words& queries, const Matrix<float>& costs, const Floats& expected,
                std::size_t sets, Mode mode, unsigned threads) {
                const auto steps = steps_of(self, expected, sets);
                return run(self, queries, own_costs(self, queries, costs), std::span<const Step>(steps),
                           {mode, true, threads});
            },
            "queries"_array, "costs"_array, "expected"_array, "sets"_a, "mode"_a = Mode::all, "threads"_a = 1,
            "Every query flips the same sets of ranks: the cheapest ones if rank r cost `expected[r]`.")
        .def(
            "search_ranks",
            [=](const Psm& self, const Words& queries, const Matrix<std::uint8_t>& ranks,
                const Floats& expected, std::size_t sets, Mode mode, unsigned threads) {
                check_that(ranks.shape(0) == queries.shape(0) && ranks.shape(1) >= 1 && ranks.shape(1) <= 256,
                           "ranks must be uint8[queries, r] with r from 1 to 256");
                const auto steps = steps_of(self, expected, sets);
                return run(self, queries, {{}, view(ranks), ranks.shape(1)}, std::span<const Step>(steps),
                           {mode, true, threads});
            },
            "queries"_array, "ranks"_array, "expected"_array, "sets"_a, "mode"_a = Mode::all, "threads"_a = 1,
            "As search_template, from each query's weakest bits: their numbers, weakest first.");
}

void bind_live(nb::module_& module) {
    const auto adder = [](auto method) {
        return [method](LiveTables& self, const Words& codes, const std::optional<Column<bool>>& empty,
                        unsigned threads) {
            const auto column = codes_of(codes, self.design().bits);
            check_that(!empty || empty->shape(0) == codes.shape(0), "one flag per code");
            return without_gil([&] { return (self.*method)(column, view(empty), threads); });
        };
    };
    nb::class_<LiveTables>(module, "LiveTables",
                           "Tables that grow: searchable while codes are added and rows removed.")
        .def(
            "__init__",
            [](LiveTables* self, unsigned bits, unsigned radius, const Words& masks, const Bytes& flips,
               bool deferred) { construct(self, design_of(bits, radius, masks, flips, 0), deferred); },
            "bits"_a, "radius"_a, "masks"_array, "flips"_array, "deferred"_a = false,
            "deferred: full tails are still searched, and wait for a call of `merge`.")
        .def("due", &LiveTables::due, nb::call_guard<nb::gil_scoped_release>(),
             "How many full tails wait to be merged.")
        .def("merge", &LiveTables::merge, "threads"_a = 1, nb::call_guard<nb::gil_scoped_release>(),
             "Merges them into one segment while others search and add; returns whether there were any.")
        .def("add", adder(&LiveTables::add), "codes"_array, "empty"_array = nb::none(), "threads"_a = 1,
             "Adds codes; returns the row of the first. Empty ones take a row but are never found.")
        .def("load", adder(&LiveTables::load), "codes"_array, "empty"_array = nb::none(), "threads"_a = 1,
             "The first rows of an empty index, at once as one segment; returns how many rows there are.")
        .def(
            "hide",
            [](LiveTables& self, const Longs& rows, bool hidden) {
                without_gil([&] { self.hide(view(rows), hidden); });
            },
            "rows"_array, "hidden"_a = true,
            "Rows that a search finds only if it asks for hidden ones too; or, with False, always again.")
        .def(
            "remove",
            [](LiveTables& self, const Longs& rows) {
                return without_gil([&] { return self.remove(view(rows)); });
            },
            "rows"_array, "Removes rows; returns how many of them were there.")
        .def("compact", &LiveTables::compact, "threads"_a = 1, nb::call_guard<nb::gil_scoped_release>(),
             "Merges everything into one segment.")
        .def(
            "search",
            [](const LiveTables& self, const Words& queries, Mode mode, unsigned threads, bool hidden,
               std::optional<std::size_t> most) {
                const auto column = codes_of(queries, self.design().bits);
                check_that(!most || *most > 0, "at least one row of a group is listed");
                return hits_of([&] {
                    return self.search(column, {mode, true, threads, hidden, most.value_or(SIZE_MAX)});
                });
            },
            "queries"_array, "mode"_a = Mode::all, "threads"_a = 1, "hidden"_a = true, "most"_a = nb::none(),
            "As HammingTables.search, over all segments and the tail; with `most`, of rows with one code at "
            "most so many of each segment, the lowest.")
        .def(
            "state",
            [](const LiveTables& self) {
                auto state = without_gil([&] { return self.state(); });
                return std::make_tuple(state.rows, state.removed, state.tail, state.segments, state.bytes,
                                       state.row_bytes);
            },
            "(rows, removed, rows in the tail, rows of each segment, bytes, bytes of the row maps).");
}

}  // namespace

void bind_search(nb::module_& module) {
    nb::enum_<Mode>(module, "Mode").value("all", Mode::all).value("first", Mode::first);
    bind_vosh(module);
    bind_psm(module);
    bind_live(module);

    auto tables =
        nb::class_<Tables>(module, "HammingTables",
                           "Codes in tables, searched by key; never changes once built.")
            .def(
                "__init__",
                [](Tables* self, const Words& codes, unsigned bits, unsigned radius, const Words& masks,
                   const Bytes& flips, unsigned header_bits, unsigned threads, const RowNumbers& rows) {
                    construct(self, design_of(bits, radius, masks, flips, header_bits), codes_of(codes, bits),
                              rows_of(rows, codes.shape(0)), threads);
                },
                "codes"_array, "bits"_a, "radius"_a, "masks"_array, "flips"_array, "header_bits"_a = 0,
                "threads"_a = 1, "rows"_array = nb::none(),
                "rows: the number of each code's row, when it is not 0, 1, 2, ...")
            .def_prop_ro("header_bits", &Tables::header_bits, "Of each table.");
    bind_tables(tables, [](const Tables& self, std::span<const std::uint64_t> queries,
                           const Request& request) { return search(self, queries, request); });
}

}  // namespace neardup
