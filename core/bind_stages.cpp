// Stages of a deduplication: candidates from sketches, verification, keepers from pairs.
#include <algorithm>
#include <optional>

#include <nanobind/stl/optional.h>
#include "bind.hpp"
#include "clusters.hpp"
#include "lsh.hpp"
#include "verify.hpp"

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
        [](const SketchTable& sketches, std::size_t bands, std::size_t rows, int threads) {
            const auto banded = banded_of(sketches, bands, rows);
            const unsigned workers = check_threads(threads);
            std::vector<std::uint64_t> keys;
            {
                nb::gil_scoped_release free;
                keys = band_keys(banded, workers);
            }
            return to_numpy(std::move(keys), bands);
        },
        "sketches"_a.noconvert(), "bands"_a, "rows"_a, "threads"_a = 1, "Keys of all rows, [n, bands].");
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
    module.def(
        "band_pairs",
        [](const SketchTable& sketches, const std::optional<Column<bool>>& skip, std::size_t bands,
           std::size_t rows, std::size_t cap, int threads) {
            const auto banded = banded_of(sketches, bands, rows);
            std::span<const std::uint8_t> left_out;
            if (skip) {
                if (skip->shape(0) != banded.size())
                    throw nb::value_error("skip must have one entry for each row");
                left_out = {reinterpret_cast<const std::uint8_t*>(skip->data()), skip->shape(0)};
            }
            const unsigned workers = check_threads(threads);
            BandPairs found;
            {
                nb::gil_scoped_release free;
                found = band_pairs(banded, left_out, cap, workers);
            }
            return std::tuple(to_numpy(std::move(found.left)), to_numpy(std::move(found.right)), found.capped,
                              found.skipped);
        },
        "sketches"_a.noconvert(), "skip"_a.noconvert().none(), "bands"_a, "rows"_a, "cap"_a, "threads"_a = 1,
        "Columns (left, right) of rows that agree on a band, capped buckets, skipped pairs; see "
        "core/lsh.hpp.");
}

}  // namespace

void bind_stages(nb::module_& module) {
    bind_lsh(module);
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
        "Columns (keeper, pair) of all rows; see core/clusters.hpp.");
}

}  // namespace neardup
