// Stages of a deduplication: candidates from sketches, verification, keepers from pairs.
#include <algorithm>
#include <functional>
#include <optional>

#include <nanobind/stl/optional.h>
#include "bind/module.hpp"
#include "clusters/clusters.hpp"
#include "join/agree.hpp"
#include "join/containment.hpp"
#include "join/verify.hpp"
#include "passages/copied.hpp"
#include "search/lsh.hpp"

namespace neardup {

namespace {

using SketchTable = Matrix<std::uint32_t>;

BandedSketches banded_of(const SketchTable& sketches, std::size_t bands, std::size_t rows) {
    const std::size_t values = sketches.shape(1);
    if (bands < 1 || rows < 1 || bands > values || rows > values / bands)
        throw nb::value_error("these sketches have too few values for the bands");
    if (sketches.shape(0) >= std::uint64_t{1} << 32) throw nb::value_error("at most 2**32 - 1 rows");
    return {view(sketches), values, bands, rows};
}

unsigned check_threads(int threads) {
    if (threads < 1 || threads > 1024) throw nb::value_error("threads must be from 1 to 1024");
    return static_cast<unsigned>(threads);
}

void check_order(std::span<const std::int64_t> order) {
    std::vector<bool> seen(order.size());
    for (const std::int64_t row : order) {
        if (row < 0 || static_cast<std::size_t>(row) >= order.size() || seen[static_cast<std::size_t>(row)])
            throw nb::value_error("order must name every row once");
        seen[static_cast<std::size_t>(row)] = true;
    }
}

void check_pairs(std::span<const std::int64_t> left, std::span<const std::int64_t> right, std::size_t rows) {
    const auto outside = [rows](std::int64_t row) {
        return row < 0 || static_cast<std::size_t>(row) >= rows;
    };
    for (std::size_t i = 0; i < left.size(); ++i)
        if (outside(left[i]) || outside(right[i]) || left[i] == right[i])
            throw nb::value_error("a pair names a row out of range, or one row twice");
}

void check_offsets(std::span<const std::int64_t> offsets, std::size_t size) {
    if (offsets.empty() || offsets.front() != 0 || !std::is_sorted(offsets.begin(), offsets.end()) ||
        static_cast<std::size_t>(offsets.back()) != size)
        throw nb::value_error("offsets must ascend from 0 to the number of hashes");
}

void bind_verify(nb::module_& module) {
    module.def(
        "jaccard_at_least",
        [](const Column<std::uint64_t>& hashes, const Column<std::int64_t>& offsets,
           const Column<std::int64_t>& left, const Column<std::int64_t>& right, double least, int threads) {
            if (left.shape(0) != right.shape(0)) throw nb::value_error("columns differ in length");
            if (!(least > 0 && least <= 1)) throw nb::value_error("least must be above 0 and at most 1");
            const unsigned workers = check_threads(threads);
            std::vector<double> out;
            {
                nb::gil_scoped_release free;
                check_offsets(view(offsets), hashes.shape(0));
                check_pairs(view(left), view(right), offsets.shape(0) - 1);
                out = jaccard_at_least({view(hashes), {}, view(offsets)}, {view(left), view(right)}, least,
                                       workers);
            }
            return to_numpy(std::move(out));
        },
        "hashes"_a.noconvert(), "offsets"_a.noconvert(), "left"_a.noconvert(), "right"_a.noconvert(),
        "least"_a, "threads"_a = 1, "The Jaccard similarity of each pair, -1 where it is below `least`.");
}

void bind_lsh(nb::module_& module) {
    module.def(
        "band_keys",
        [](const SketchTable& sketches, std::size_t bands, std::size_t rows, std::size_t first,
           std::size_t count, int threads) {
            const auto banded = banded_of(sketches, bands, rows);
            if (first > bands || count > bands - first) throw nb::value_error("there are fewer bands");
            const unsigned workers = check_threads(threads);
            std::vector<std::uint64_t> keys;
            {
                nb::gil_scoped_release free;
                keys = band_keys(banded, first, count, workers);
            }
            return to_numpy(std::move(keys), banded.size());
        },
        "sketches"_a.noconvert(), "bands"_a, "rows"_a, "first"_a, "count"_a, "threads"_a = 1,
        "Keys of some bands, [count, n].");
    module.def(
        "sketch_digests",
        [](const SketchTable& sketches, std::size_t bands, std::size_t rows, int threads) {
            const auto banded = banded_of(sketches, bands, rows);
            const unsigned workers = check_threads(threads);
            std::vector<std::uint64_t> digests;
            {
                nb::gil_scoped_release free;
                digests = sketch_digests(banded, workers);
            }
            return to_numpy(std::move(digests), 2);
        },
        "sketches"_a.noconvert(), "bands"_a, "rows"_a, "threads"_a = 1,
        "128 bits for each row, [n, 2], equal for rows with equal sketches.");
    // What a bucket beyond the cap is paired by: Spark's join follows the same rule.
    module.attr("STARS") = kStars;
    module.attr("NEIGHBOURS") = kNeighbours;
    module.def(
        "key_pairs",
        [](const Column<std::uint64_t>& keys, const std::optional<Column<std::uint64_t>>& then,
           const std::optional<Column<std::uint32_t>>& rank, std::size_t cap, int threads) {
            if (keys.shape(0) >= std::uint64_t{1} << 32) throw nb::value_error("at most 2**32 - 1 rows");
            if ((then && then->shape(0) != keys.shape(0)) || (rank && rank->shape(0) != keys.shape(0)))
                throw nb::value_error("columns differ in length");
            const unsigned workers = check_threads(threads);
            KeyPairs found;
            {
                nb::gil_scoped_release free;
                found = key_pairs(view(keys), then ? view(*then) : std::span<const std::uint64_t>{},
                                  rank ? view(*rank) : std::span<const std::uint32_t>{}, cap, workers);
            }
            return std::tuple(to_numpy(std::move(found.pairs)), found.capped, found.skipped);
        },
        "keys"_a.noconvert(), "then"_a.noconvert().none(), "rank"_a.noconvert().none(), "cap"_a,
        "threads"_a = 1,
        "Packed pairs of rows with equal keys, capped buckets, skipped pairs; see core/search/lsh.hpp.");
    module.def(
        "merge_pairs",
        [](const Column<std::uint64_t>& a, const Column<std::uint64_t>& b) {
            std::vector<std::uint64_t> merged;
            {
                nb::gil_scoped_release free;
                merged = merge_pairs(view(a), view(b));
            }
            return to_numpy(std::move(merged));
        },
        "a"_a.noconvert(), "b"_a.noconvert(), "The union of two ascending columns of unique numbers.");
}

void bind_held(nb::module_& module) {
    module.def(
        "held_keys",
        [](const Column<std::uint64_t>& hashes, const Column<std::int64_t>& offsets,
           const Column<std::uint64_t>& keys, int threads) {
            const unsigned workers = check_threads(threads);
            const auto ends = view(offsets);
            const auto wanted = view(keys);
            if (ends.empty() || ends.front() != 0 ||
                ends.back() != static_cast<std::int64_t>(hashes.shape(0)))
                throw nb::value_error("offsets must go from 0 to the number of hashes");
            if (ends.size() > std::uint64_t{1} << 32 || wanted.size() >= std::uint64_t{1} << 32)
                throw nb::value_error("at most 2**32 - 1 rows and keys");
            Held out;
            {
                nb::gil_scoped_release free;
                if (!std::is_sorted(ends.begin(), ends.end())) throw nb::value_error("offsets must ascend");
                if (std::adjacent_find(wanted.begin(), wanted.end(), std::greater_equal<>()) != wanted.end())
                    throw nb::value_error("keys must ascend, each once");
                out = held_keys(view(hashes), ends, wanted, workers);
            }
            return std::tuple(to_numpy(std::move(out.rows)), to_numpy(std::move(out.keys)));
        },
        "hashes"_a.noconvert(), "offsets"_a.noconvert(), "keys"_a.noconvert(), "threads"_a = 1,
        "Columns (row, key number): which rows of features hold which of the ascending keys.");
}

template <class Value>
void bind_agreeing(nb::module_& module) {
    module.def(
        "agreeing_places",
        [](const Matrix<Value>& values, const Column<std::int64_t>& left, const Column<std::int64_t>& right,
           int threads) {
            const unsigned workers = check_threads(threads);
            if (left.shape(0) != right.shape(0)) throw nb::value_error("columns differ in length");
            std::vector<std::int64_t> found;
            {
                nb::gil_scoped_release free;
                for (const auto& rows : {view(left), view(right)})
                    for (const std::int64_t row : rows)
                        if (row < 0 || static_cast<std::size_t>(row) >= values.shape(0))
                            throw nb::value_error("a row is out of range");
                found = agreeing_places(view(values), values.shape(1), view(left), view(right),
                                        sizeof(Value) == 8, workers);
            }
            return to_numpy(std::move(found));
        },
        "values"_a.noconvert(), "left"_a.noconvert(), "right"_a.noconvert(), "threads"_a = 1,
        "At how many places the rows of each pair are equal; of 64-bit keys a 0 is none.");
}

void bind_copied(nb::module_& module) {
    module.def(
        "shared_passages",
        [](const Column<std::uint64_t>& tokens, const Column<std::int64_t>& offsets,
           const Column<std::int64_t>& parts, const Column<std::int64_t>& wholes, std::size_t width,
           bool spelled, int threads) {
            const unsigned workers = check_threads(threads);
            const auto ends = view(offsets);
            if (ends.empty() || ends.front() != 0 ||
                ends.back() != static_cast<std::int64_t>(tokens.shape(0)))
                throw nb::value_error("offsets must go from 0 to the number of tokens");
            if (parts.shape(0) != wholes.shape(0)) throw nb::value_error("columns differ in length");
            if (width < 1) throw nb::value_error("a passage has at least one token");
            Passages out;
            {
                nb::gil_scoped_release free;
                for (std::size_t i = 1; i < ends.size(); ++i)
                    if (ends[i] < ends[i - 1] || ends[i] - ends[i - 1] >= std::int64_t{1} << 30)
                        throw nb::value_error("offsets must ascend, by less than 2**30 tokens each");
                for (const auto& rows : {view(parts), view(wholes)})
                    for (const std::int64_t row : rows)
                        if (row < 0 || static_cast<std::size_t>(row) + 1 >= ends.size())
                            throw nb::value_error("a row is out of range");
                out =
                    shared_passages({view(tokens), ends}, view(parts), view(wholes), width, spelled, workers);
            }
            return std::tuple(to_numpy(std::move(out.words)), to_numpy(std::move(out.longest)),
                              to_numpy(std::move(out.offsets)), to_numpy(std::move(out.in_part)),
                              to_numpy(std::move(out.in_whole)), to_numpy(std::move(out.lengths)));
        },
        "tokens"_a.noconvert(), "offsets"_a.noconvert(), "parts"_a.noconvert(), "wholes"_a.noconvert(),
        "width"_a, "spelled"_a, "threads"_a = 1,
        "Columns (words, longest) by pair and, if spelled, (offsets, in part, in whole, lengths) of the "
        "passages; see "
        "core/passages/copied.hpp.");
}

}  // namespace

void bind_stages(nb::module_& module) {
    bind_lsh(module);
    bind_held(module);
    bind_copied(module);
    bind_agreeing<std::uint32_t>(module);
    bind_agreeing<std::uint64_t>(module);
    bind_verify(module);
    module.def(
        "first_keepers",
        [](const Column<std::int64_t>& left, const Column<std::int64_t>& right,
           const Column<std::int64_t>& order) {
            if (left.shape(0) != right.shape(0)) throw nb::value_error("columns differ in length");
            if (order.shape(0) >= std::uint64_t{1} << 32) throw nb::value_error("at most 2**32 - 1 rows");
            Keepers out;
            {
                nb::gil_scoped_release free;
                check_order(view(order));
                check_pairs(view(left), view(right), order.shape(0));
                out = first_keepers(view(left), view(right), view(order));
            }
            return std::tuple(to_numpy(std::move(out.keeper)), to_numpy(std::move(out.pair)));
        },
        "left"_a.noconvert(), "right"_a.noconvert(), "order"_a.noconvert(),
        "Columns (keeper, pair) of all rows; see core/clusters/clusters.hpp.");
}

}  // namespace neardup
