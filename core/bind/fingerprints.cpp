#include <cmath>
#include <stdexcept>

#include "bind/module.hpp"
#include "fingerprints/digest.hpp"
#include "fingerprints/minhash.hpp"
#include "fingerprints/simhash.hpp"
#include "join/similarity.hpp"
#include "text/hash.hpp"

namespace neardup {

namespace {

// A hostile array must end in ValueError, never in a read outside of it.
void check_offsets(std::span<const std::int64_t> offsets, std::size_t size) {
    if (offsets.empty() || offsets.front() != 0 || offsets.back() < 0 ||
        static_cast<std::uint64_t>(offsets.back()) != size)
        throw std::invalid_argument("offsets must start at 0 and end at the number of features");
    for (std::size_t i = 1; i < offsets.size(); ++i)
        if (offsets[i] < offsets[i - 1]) throw std::invalid_argument("offsets must not descend");
}

void check_weights(std::span<const float> weights, std::size_t size) {
    if (weights.size() != size) throw std::invalid_argument("there must be one weight for each feature");
    for (const float weight : weights)
        if (!std::isfinite(weight)) throw std::invalid_argument("weights must be finite");
}

void check_values(std::size_t values) {
    if (values < 1 || values > kMostValues) throw std::invalid_argument("values must be 1 to 65536");
}

void check_low_bits(unsigned bits) {
    if (bits > 16 || !std::has_single_bit(bits)) throw std::invalid_argument("bits must be 1, 2, 4, 8 or 16");
}

void bind_simhash(nb::module_& module) {
    nb::enum_<Tie>(module, "Tie").value("ge", Tie::ge).value("gt", Tie::gt);
    nb::enum_<Margins>(module, "Margins")
        .value("none", Margins::none)
        .value("full", Margins::full)
        .value("bytes", Margins::bytes)
        .value("ranks", Margins::ranks);
    module.def(
        "simhash",
        [](Column<std::uint64_t> hashes, Column<float> weights, Column<std::int64_t> offsets, unsigned bits,
           Tie tie, bool gaussian, Margins margins, std::size_t ranks, unsigned threads) {
            if (bits != 32 && bits != 64 && bits != 128)
                throw std::invalid_argument("bits must be 32, 64 or 128");
            if (ranks < 1 || ranks > bits) throw std::invalid_argument("ranks must be 1 to bits");
            const auto compute = [&] {
                nb::gil_scoped_release free;
                check_offsets(view(offsets), hashes.shape(0));
                check_weights(view(weights), hashes.shape(0));
                return simhash(view(hashes), view(weights), view(offsets), {bits, tie, gaussian}, margins,
                               ranks, threads);
            };
            SimhashColumns out = compute();
            return std::make_tuple(to_numpy(std::move(out.codes), words_of(bits)),
                                   to_numpy(std::move(out.margins), bits),
                                   to_numpy(std::move(out.bytes), bits), to_numpy(std::move(out.scales)),
                                   to_numpy(std::move(out.ranks), ranks));
        },
        "hashes"_a.noconvert(), "weights"_a.noconvert(), "offsets"_a.noconvert(), "bits"_a, "tie"_a,
        "gaussian"_a, "margins"_a, "ranks"_a, "threads"_a,
        "Codes, margins, margin bytes, their scales and ranks; columns not asked for are empty.");
    module.def(
        "gaussian_quantiles",
        [] {
            const auto table = gaussian_quantiles();
            return to_numpy(std::vector<std::int16_t>(table.begin(), table.end()));
        },
        "The quantiles of N(0, 1) the Gaussian variant draws from, in units of 2^-12.");
}

void bind_minhash(nb::module_& module) {
    module.def(
        "minhash",
        [](Column<std::uint64_t> hashes, Column<std::int64_t> offsets, std::size_t values, std::uint64_t seed,
           bool independent, unsigned threads) {
            check_values(values);
            std::vector<std::uint32_t> out;
            {
                nb::gil_scoped_release free;
                check_offsets(view(offsets), hashes.shape(0));
                out = independent ? minhash_independent(view(hashes), view(offsets), values, seed, threads)
                                  : minhash_one(view(hashes), view(offsets), values, seed, threads);
            }
            return to_numpy(std::move(out), values);
        },
        "hashes"_a.noconvert(), "offsets"_a.noconvert(), "values"_a, "seed"_a, "independent"_a, "threads"_a,
        "Sketches of one permutation with densification, or of independent permutations.");
    module.def(
        "permutations",
        [](std::size_t values, std::uint64_t seed) {
            check_values(values);
            Permutations made(values, seed);
            return std::make_tuple(made.key, to_numpy(std::move(made.multipliers)),
                                   to_numpy(std::move(made.offsets)));
        },
        "values"_a, "seed"_a, "Key, multipliers and offsets of x -> mix(x ^ key) * multiplier + offset.");
    module.def(
        "pack_low_bits",
        [](Matrix<std::uint32_t> sketches, unsigned bits, unsigned threads) {
            check_values(sketches.shape(1));
            check_low_bits(bits);
            std::vector<std::uint8_t> out;
            {
                nb::gil_scoped_release free;
                out = pack_low_bits(view(sketches), sketches.shape(1), bits, threads);
            }
            return to_numpy(std::move(out), packed_bytes(sketches.shape(1), bits));
        },
        "sketches"_a.noconvert(), "bits"_a, "threads"_a, "The low bits of every value, packed row by row.");
    module.def(
        "one_bit_codes",
        [](Matrix<std::uint32_t> sketches, unsigned bits) {
            check_values(sketches.shape(1));
            if (bits < 1 || bits > sketches.shape(1))
                throw std::invalid_argument("a code cannot have more bits than the sketch has values");
            std::vector<std::uint64_t> out;
            {
                nb::gil_scoped_release free;
                out = one_bit_codes(view(sketches), sketches.shape(1), bits);
            }
            return to_numpy(std::move(out), words_of(bits));
        },
        "sketches"_a.noconvert(), "bits"_a, "Codes whose bit j is the low bit of value j.");
}

PairRows check_pairs(const Column<std::int64_t>& left, const Column<std::int64_t>& right,
                     std::size_t left_rows, std::size_t right_rows) {
    if (left.shape(0) != right.shape(0)) throw std::invalid_argument("left and right must be of one length");
    for (std::size_t i = 0; i < left.shape(0); ++i)
        if (static_cast<std::uint64_t>(left.data()[i]) >= left_rows ||
            static_cast<std::uint64_t>(right.data()[i]) >= right_rows)
            throw std::invalid_argument("a pair names a row that does not exist");
    return {view(left), view(right)};
}

void bind_overlaps(nb::module_& module) {
    module.def(
        "shared_features",
        [](Column<std::uint64_t> left_hashes, Column<std::int64_t> left_offsets,
           Column<std::uint64_t> right_hashes, Column<std::int64_t> right_offsets, Column<std::int64_t> left,
           Column<std::int64_t> right, unsigned threads) {
            std::vector<std::int64_t> out;
            {
                nb::gil_scoped_release free;
                check_offsets(view(left_offsets), left_hashes.shape(0));
                check_offsets(view(right_offsets), right_hashes.shape(0));
                const PairRows pairs =
                    check_pairs(left, right, left_offsets.shape(0) - 1, right_offsets.shape(0) - 1);
                out = shared_features({view(left_hashes), {}, view(left_offsets)},
                                      {view(right_hashes), {}, view(right_offsets)}, pairs, threads);
            }
            return to_numpy(std::move(out));
        },
        "left_hashes"_a.noconvert(), "left_offsets"_a.noconvert(), "right_hashes"_a.noconvert(),
        "right_offsets"_a.noconvert(), "left"_a.noconvert(), "right"_a.noconvert(), "threads"_a,
        "How many hashes the rows of each pair share.");
    module.def(
        "weighted_products",
        [](Column<std::uint64_t> left_hashes, Column<float> left_weights, Column<std::int64_t> left_offsets,
           Column<std::uint64_t> right_hashes, Column<float> right_weights,
           Column<std::int64_t> right_offsets, Column<std::int64_t> left, Column<std::int64_t> right,
           unsigned threads) {
            Products out;
            {
                nb::gil_scoped_release free;
                check_offsets(view(left_offsets), left_hashes.shape(0));
                check_offsets(view(right_offsets), right_hashes.shape(0));
                check_weights(view(left_weights), left_hashes.shape(0));
                check_weights(view(right_weights), right_hashes.shape(0));
                const PairRows pairs =
                    check_pairs(left, right, left_offsets.shape(0) - 1, right_offsets.shape(0) - 1);
                out = weighted_products({view(left_hashes), view(left_weights), view(left_offsets)},
                                        {view(right_hashes), view(right_weights), view(right_offsets)}, pairs,
                                        threads);
            }
            return std::make_tuple(to_numpy(std::move(out.dot)), to_numpy(std::move(out.left_square)),
                                   to_numpy(std::move(out.right_square)),
                                   to_numpy(std::move(out.distance_square)));
        },
        "left_hashes"_a.noconvert(), "left_weights"_a.noconvert(), "left_offsets"_a.noconvert(),
        "right_hashes"_a.noconvert(), "right_weights"_a.noconvert(), "right_offsets"_a.noconvert(),
        "left"_a.noconvert(), "right"_a.noconvert(), "threads"_a,
        "Dot products, squared lengths of the left and of the right, squared distances.");
}

void bind_agreement(nb::module_& module) {
    const auto same_width = [](std::size_t left, std::size_t right) {
        if (left != right || left == 0) throw std::invalid_argument("left and right must be of one width");
    };
    module.def(
        "hamming_distances",
        [=](Matrix<std::uint64_t> left_codes, Matrix<std::uint64_t> right_codes, Column<std::int64_t> left,
            Column<std::int64_t> right, unsigned threads) {
            same_width(left_codes.shape(1), right_codes.shape(1));
            std::vector<std::int32_t> out;
            {
                nb::gil_scoped_release free;
                const PairRows pairs = check_pairs(left, right, left_codes.shape(0), right_codes.shape(0));
                out = hamming_distances(view(left_codes), view(right_codes), left_codes.shape(1), pairs,
                                        threads);
            }
            return to_numpy(std::move(out));
        },
        "left_codes"_a.noconvert(), "right_codes"_a.noconvert(), "left"_a.noconvert(), "right"_a.noconvert(),
        "threads"_a, "Differing bits of each pair.");
    module.def(
        "equal_values",
        [=](Matrix<std::uint32_t> left_values, Matrix<std::uint32_t> right_values, Column<std::int64_t> left,
            Column<std::int64_t> right, unsigned threads) {
            same_width(left_values.shape(1), right_values.shape(1));
            std::vector<std::int32_t> out;
            {
                nb::gil_scoped_release free;
                const PairRows pairs = check_pairs(left, right, left_values.shape(0), right_values.shape(0));
                out =
                    equal_values(view(left_values), view(right_values), left_values.shape(1), pairs, threads);
            }
            return to_numpy(std::move(out));
        },
        "left_values"_a.noconvert(), "right_values"_a.noconvert(), "left"_a.noconvert(),
        "right"_a.noconvert(), "threads"_a, "In how many places the sketches of each pair agree.");
    module.def(
        "equal_packed",
        [](Matrix<std::uint8_t> left_packed, Matrix<std::uint8_t> right_packed, std::size_t values,
           unsigned bits, Column<std::int64_t> left, Column<std::int64_t> right, unsigned threads) {
            check_values(values);
            check_low_bits(bits);
            if (left_packed.shape(1) != packed_bytes(values, bits) ||
                right_packed.shape(1) != left_packed.shape(1))
                throw std::invalid_argument("packed rows must hold `values` values of `bits` bits");
            std::vector<std::int32_t> out;
            {
                nb::gil_scoped_release free;
                const PairRows pairs = check_pairs(left, right, left_packed.shape(0), right_packed.shape(0));
                out = equal_packed(view(left_packed), view(right_packed), values, bits, pairs, threads);
            }
            return to_numpy(std::move(out));
        },
        "left_packed"_a.noconvert(), "right_packed"_a.noconvert(), "values"_a, "bits"_a, "left"_a.noconvert(),
        "right"_a.noconvert(), "threads"_a, "In how many places the packed sketches of each pair agree.");
}

void bind_digests(nb::module_& module) {
    module.def(
        "sort_digests",
        [](Matrix<std::uint8_t> digests) {
            if (digests.shape(1) == 0) throw std::invalid_argument("a digest has at least one byte");
            std::vector<std::int64_t> out;
            {
                nb::gil_scoped_release free;
                out = sort_digests(view(digests), digests.shape(1));
            }
            return to_numpy(std::move(out));
        },
        "digests"_a.noconvert(), "The order that sorts digests as bytes, equal ones by row.");
    module.def(
        "find_digests",
        [](Matrix<std::uint8_t> sorted, Matrix<std::uint8_t> wanted, unsigned threads) {
            if (sorted.shape(1) == 0 || sorted.shape(1) != wanted.shape(1))
                throw std::invalid_argument("digests must be of one width");
            Places out;
            {
                nb::gil_scoped_release free;
                out = find_digests(view(sorted), view(wanted), sorted.shape(1), threads);
            }
            return std::make_tuple(to_numpy(std::move(out.first)), to_numpy(std::move(out.last)));
        },
        "sorted"_a.noconvert(), "wanted"_a.noconvert(), "threads"_a,
        "The places [first, last) of each wanted digest among the sorted ones.");
    module.def(
        "hash_array",
        [](Column<std::uint8_t> bytes, std::uint64_t seed) {
            nb::gil_scoped_release free;
            return xxh3({reinterpret_cast<const char*>(bytes.data()), bytes.shape(0)}, seed);
        },
        "bytes"_a.noconvert(), "seed"_a, "XXH3 of an array's bytes, without copying them.");
}

}  // namespace

void bind_prints(nb::module_& module) {
    bind_simhash(module);
    bind_minhash(module);
    bind_overlaps(module);
    bind_agreement(module);
    bind_digests(module);
}

}  // namespace neardup
