#include <cmath>
#include <stdexcept>

#include "bind.hpp"
#include "minhash.hpp"
#include "simhash.hpp"

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
            SimhashColumns out;
            {
                nb::gil_scoped_release free;
                check_offsets(view(offsets), hashes.shape(0));
                check_weights(view(weights), hashes.shape(0));
                out = simhash(view(hashes), view(weights), view(offsets), {bits, tie, gaussian}, margins,
                              ranks, threads);
            }
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
            if (bits < 1 || bits > 16 || !std::has_single_bit(bits))
                throw std::invalid_argument("bits must be 1, 2, 4, 8 or 16");
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

}  // namespace

void bind_prints(nb::module_& module) {
    bind_simhash(module);
    bind_minhash(module);
}

}  // namespace neardup
