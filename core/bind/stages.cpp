// Stages of a deduplication: candidates from sketches, verification, keepers from pairs.
#include <algorithm>
#include <functional>
#include <optional>

#include <nanobind/stl/optional.h>
#include "bind/checks.hpp"
#include "clusters/clusters.hpp"
#include "compare/edit.hpp"
#include "compare/identity.hpp"
#include "join/agree.hpp"
#include "join/containment.hpp"
#include "join/verify.hpp"
#include "passages/copied.hpp"
#include "search/key_buckets.hpp"
#include "search/lsh.hpp"

namespace neardup {

namespace {

using SketchTable = Matrix<std::uint32_t>;

BandedSketches banded_of(const SketchTable& sketches, std::size_t bands, std::size_t rows) {
    const std::size_t values = sketches.shape(1);
    if (bands < 1 || rows < 1 || bands > values || rows > values / bands)
        throw nb::value_error("these sketches have too few values for the bands");
    check_row_count(sketches.shape(0));
    return {view(sketches), values, bands, rows};
}

void check_order(std::span<const std::int64_t> order) {
    std::vector<bool> seen(order.size());
    for (const std::int64_t row : order) {
        if (row < 0 || static_cast<std::size_t>(row) >= order.size() || seen[static_cast<std::size_t>(row)])
            throw nb::value_error("order must name every row once");
        seen[static_cast<std::size_t>(row)] = true;
    }
}

void check_least(double least) { check_that(least > 0 && least <= 1, "least must be above 0 and at most 1"); }

// How key buckets are paired: by these other keys, in this order.
using Then = std::optional<Hashes>;
using Ranks = std::optional<Column<std::uint32_t>>;

KeyPairs paired(const KeyBuckets& buckets, const Then& then, const Ranks& rank, std::size_t cap,
                std::span<const std::uint64_t> thin) {
    check_that((!then || then->shape(0) == buckets.rows()) && (!rank || rank->shape(0) == buckets.rows()),
               "columns differ in length");
    return buckets.pairs(view(then), view(rank), cap, thin);
}

void bind_verify(nb::module_& module) {
    module.def(
        "jaccard_at_least",
        [](const Hashes& hashes, const Longs& offsets, const Longs& left, const Longs& right, double least,
           int threads, bool sampled) {
            check_least(least);
            return computed([&] {
                return jaccard_at_least(rows_of(hashes, offsets), pairs_of(left, right, offsets.shape(0) - 1),
                                        least, sampled, check_threads(threads));
            });
        },
        "hashes"_array, "offsets"_array, "left"_array, "right"_array, "least"_a, "threads"_a = 1,
        "sampled"_a = false,
        "The Jaccard similarity of each pair, -1 where it is below `least`; see core/join/verify.hpp.");
    module.def(
        "edit_at_least",
        [](const Hashes& hashes, const Longs& offsets, const Longs& left, const Longs& right, double least,
           int threads) {
            check_least(least);
            return computed([&] {
                return edit_at_least(rows_of(hashes, offsets), pairs_of(left, right, offsets.shape(0) - 1),
                                     least, check_threads(threads));
            });
        },
        "hashes"_array, "offsets"_array, "left"_array, "right"_array, "least"_a, "threads"_a = 1,
        "The edit similarity of each pair of ordered rows, -1 where it is below `least`; see "
        "core/compare/edit.hpp.");
    nb::enum_<Differences>(module, "Differences")
        .value("relative", Differences::relative)
        .value("absolute", Differences::absolute);
    module.def(
        "identity_at_least",
        [](const Hashes& hashes, const Floats& weights, const Longs& offsets, const Longs& left,
           const Longs& right, double least, Differences differences, int threads) {
            check_lengths(hashes, weights);
            check_least(least);
            return computed([&] {
                RaggedRows rows = rows_of(hashes, offsets);
                rows.weights = view(weights);
                return identity_at_least(rows, pairs_of(left, right, offsets.shape(0) - 1), least,
                                         differences, check_threads(threads));
            });
        },
        "hashes"_array, "weights"_array, "offsets"_array, "left"_array, "right"_array, "least"_a,
        "differences"_a, "threads"_a = 1,
        "The identity of each pair, -1 where it is below `least`; see core/compare/identity.hpp.");
}

void bind_lsh(nb::module_& module) {
    module.def(
        "band_keys",
        [](const SketchTable& sketches, std::size_t bands, std::size_t rows, std::size_t first,
           std::size_t count, int threads) {
            const auto banded = banded_of(sketches, bands, rows);
            check_that(first <= bands && count <= bands - first, "there are fewer bands");
            return computed_rows(banded.size(),
                                 [&] { return band_keys(banded, first, count, check_threads(threads)); });
        },
        "sketches"_array, "bands"_a, "rows"_a, "first"_a, "count"_a, "threads"_a = 1,
        "Keys of some bands, [count, n].");
    module.def(
        "sketch_digests",
        [](const SketchTable& sketches, std::size_t bands, std::size_t rows, int threads) {
            const auto banded = banded_of(sketches, bands, rows);
            return computed_rows(2, [&] { return sketch_digests(banded, check_threads(threads)); });
        },
        "sketches"_array, "bands"_a, "rows"_a, "threads"_a = 1,
        "128 bits for each row, [n, 2], equal for rows with equal sketches.");
    // What a bucket beyond the cap is paired by: Spark's join follows the same rule.
    module.attr("STARS") = kStars;
    module.attr("NEIGHBOURS") = kNeighbours;
    nb::class_<KeyBuckets>(module, "KeyBuckets", "Rows with equal keys; see core/search/key_buckets.hpp.")
        .def(
            "__init__",
            [](KeyBuckets* self, const Hashes& keys, int threads) {
                check_row_count(keys.shape(0));
                construct(self, view(keys), check_threads(threads));
            },
            "keys"_array, "threads"_a = 1)
        .def(
            "crowds",
            [](const KeyBuckets& buckets, std::size_t least, std::size_t sample, std::uint64_t salt) {
                check_that(sample >= 1 && sample <= least, "sample must be from 1 to least");
                auto found = without_gil([&] { return buckets.crowds(least, sample, salt); });
                return to_columns(found.keys, found.sizes, to_numpy(std::move(found.rows), sample));
            },
            "least"_a, "sample"_a, "salt"_a,
            "Of the buckets of more than `least` rows: keys, numbers of rows, and sampled rows [buckets, "
            "sample].")
        .def(
            "pairs",
            [](const KeyBuckets& buckets, const Then& then, const Ranks& rank, std::size_t cap,
               const Then& thin) {
                const auto poor = view(thin);
                check_that(std::is_sorted(poor.begin(), poor.end()), "thin must ascend");
                return computed([&] { return paired(buckets, then, rank, cap, poor); });
            },
            "then"_array.none(), "rank"_array.none(), "cap"_a, "thin"_array.none() = nb::none(),
            "Packed pairs of rows with equal keys, capped buckets, skipped pairs.");
    module.def(
        "key_pairs",
        [](const Hashes& keys, const Then& then, const Ranks& rank, std::size_t cap, int threads) {
            check_row_count(keys.shape(0));
            return computed(
                [&] { return paired(KeyBuckets(view(keys), check_threads(threads)), then, rank, cap, {}); });
        },
        "keys"_array, "then"_array.none(), "rank"_array.none(), "cap"_a, "threads"_a = 1,
        "Packed pairs of rows with equal keys, capped buckets, skipped pairs; see "
        "core/search/key_buckets.hpp.");
    module.def(
        "merge_pairs",
        [](const Hashes& a, const Hashes& b) {
            return computed([&] { return merge_pairs(view(a), view(b)); });
        },
        "a"_array, "b"_array, "The union of two ascending columns of unique numbers.");
}

void bind_held(nb::module_& module) {
    module.def(
        "held_keys",
        [](const Hashes& hashes, const Longs& offsets, const Hashes& keys, int threads) {
            const auto ends = view(offsets);
            const auto wanted = view(keys);
            check_that(ends.size() <= std::uint64_t{1} << 32 && wanted.size() < std::uint64_t{1} << 32,
                       "at most 2**32 - 1 rows and keys");
            return computed([&] {
                check_offsets(ends, hashes.shape(0));
                const auto wrong = std::adjacent_find(wanted.begin(), wanted.end(), std::greater_equal<>());
                check_that(wrong == wanted.end(), "keys must ascend, each once");
                return held_keys(view(hashes), ends, wanted, check_threads(threads));
            });
        },
        "hashes"_array, "offsets"_array, "keys"_array, "threads"_a = 1,
        "Columns (row, key number): which rows of features hold which of the ascending keys.");
}

template <class Value>
void bind_agreeing(nb::module_& module) {
    module.def(
        "agreeing_places",
        [](const Matrix<Value>& values, const Longs& left, const Longs& right, int threads) {
            return computed([&] {
                const PairRows pairs = pairs_of(left, right, values.shape(0), values.shape(0));
                return agreeing_places(view(values), values.shape(1), pairs.left, pairs.right,
                                       sizeof(Value) == 8, check_threads(threads));
            });
        },
        "values"_array, "left"_array, "right"_array, "threads"_a = 1,
        "At how many places the rows of each pair are equal; of 64-bit keys a 0 is none.");
}

void bind_copied(nb::module_& module) {
    module.def(
        "shared_passages",
        [](const Hashes& tokens, const Longs& offsets, const Longs& parts, const Longs& wholes,
           std::size_t width, bool spelled, int threads) {
            const auto ends = view(offsets);
            check_that(width >= 1, "a passage has at least one token");
            return computed([&] {
                check_offsets(ends, tokens.shape(0));
                for (std::size_t i = 1; i < ends.size(); ++i)
                    check_that(ends[i] - ends[i - 1] < std::int64_t{1} << 30,
                               "a text has less than 2**30 tokens");
                const PairRows pairs = pairs_of(parts, wholes, ends.size() - 1, ends.size() - 1);
                return shared_passages({view(tokens), ends}, pairs.left, pairs.right, width, spelled,
                                       check_threads(threads));
            });
        },
        "tokens"_array, "offsets"_array, "parts"_array, "wholes"_array, "width"_a, "spelled"_a,
        "threads"_a = 1,
        "Columns (words, longest) by pair and, if spelled, (offsets, in part, in whole, lengths) of the "
        "passages; see core/passages/copied.hpp.");
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
        [](const Longs& left, const Longs& right, const Longs& order) {
            check_row_count(order.shape(0));
            return computed([&] {
                check_order(view(order));
                const PairRows pairs = pairs_of(left, right, order.shape(0));
                return first_keepers(pairs.left, pairs.right, view(order));
            });
        },
        "left"_array, "right"_array, "order"_array,
        "Columns (keeper, pair) of all rows; see core/clusters/clusters.hpp.");
}

}  // namespace neardup
