#include "bind/fingerprints.hpp"
#include "fingerprints/digest.hpp"
#include "join/similarity.hpp"
#include "text/hash.hpp"

namespace neardup {

namespace {

void check_low_bits(unsigned bits) {
    check_that(bits <= 16 && std::has_single_bit(bits), "bits must be 1, 2, 4, 8 or 16");
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
        [](Hashes hashes, Floats weights, Longs offsets, unsigned bits, Tie tie, bool gaussian,
           Margins margins, std::size_t ranks, unsigned threads) {
            check_simhash(bits, ranks);
            auto out = without_gil([&] {
                const RaggedRows rows = rows_of(hashes, weights, offsets);
                return simhash(rows.hashes, rows.weights, rows.offsets, {bits, tie, gaussian}, margins, ranks,
                               threads);
            });
            return simhash_columns(out, bits, ranks);
        },
        "hashes"_array, "weights"_array, "offsets"_array, "bits"_a, "tie"_a, "gaussian"_a, "margins"_a,
        "ranks"_a, "threads"_a,
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
        [](Hashes hashes, Longs offsets, std::size_t values, std::uint64_t seed, bool independent,
           unsigned threads) {
            check_values(values);
            const auto kernel = independent ? &minhash_independent : &minhash_one;
            return computed_rows(values, [&] {
                const RaggedRows rows = rows_of(hashes, offsets);
                return kernel(rows.hashes, rows.offsets, values, seed, threads);
            });
        },
        "hashes"_array, "offsets"_array, "values"_a, "seed"_a, "independent"_a, "threads"_a,
        "Sketches of one permutation with densification, or of independent permutations.");
    module.def(
        "permutations",
        [](std::size_t values, std::uint64_t seed) {
            check_values(values);
            Permutations made(values, seed);
            return to_columns(made.key, made.multipliers, made.offsets);
        },
        "values"_a, "seed"_a, "Key, multipliers and offsets of x -> mix(x ^ key) * multiplier + offset.");
    module.def(
        "pack_low_bits",
        [](Matrix<std::uint32_t> sketches, unsigned bits, unsigned threads) {
            check_values(sketches.shape(1));
            check_low_bits(bits);
            return computed_rows(packed_bytes(sketches.shape(1), bits), [&] {
                return pack_low_bits(view(sketches), sketches.shape(1), bits, threads);
            });
        },
        "sketches"_array, "bits"_a, "threads"_a, "The low bits of every value, packed row by row.");
    module.def(
        "one_bit_codes",
        [](Matrix<std::uint32_t> sketches, unsigned bits) {
            check_values(sketches.shape(1));
            check_that(bits >= 1 && bits <= sketches.shape(1),
                       "a code cannot have more bits than the sketch has values");
            return computed_rows(words_of(bits),
                                 [&] { return one_bit_codes(view(sketches), sketches.shape(1), bits); });
        },
        "sketches"_array, "bits"_a, "Codes whose bit j is the low bit of value j.");
}

void bind_overlaps(nb::module_& module) {
    module.def(
        "shared_features",
        [](Hashes left_hashes, Longs left_offsets, Hashes right_hashes, Longs right_offsets, Longs left,
           Longs right, unsigned threads) {
            return computed([&] {
                const RaggedRows one = rows_of(left_hashes, left_offsets);
                const RaggedRows two = rows_of(right_hashes, right_offsets);
                const auto pairs = pairs_of(left, right, one.offsets.size() - 1, two.offsets.size() - 1);
                return shared_features(one, two, pairs, threads);
            });
        },
        "left_hashes"_array, "left_offsets"_array, "right_hashes"_array, "right_offsets"_array, "left"_array,
        "right"_array, "threads"_a, "How many hashes the rows of each pair share.");
    module.def(
        "weighted_products",
        [](Hashes left_hashes, Floats left_weights, Longs left_offsets, Hashes right_hashes,
           Floats right_weights, Longs right_offsets, Longs left, Longs right, unsigned threads) {
            return computed([&] {
                const RaggedRows one = rows_of(left_hashes, left_weights, left_offsets);
                const RaggedRows two = rows_of(right_hashes, right_weights, right_offsets);
                const auto pairs = pairs_of(left, right, one.offsets.size() - 1, two.offsets.size() - 1);
                return weighted_products(one, two, pairs, threads);
            });
        },
        "left_hashes"_array, "left_weights"_array, "left_offsets"_array, "right_hashes"_array,
        "right_weights"_array, "right_offsets"_array, "left"_array, "right"_array, "threads"_a,
        "Dot products, squared lengths of the left and of the right, squared distances.");
}

// A kernel over pairs of rows of two matrices of one width.
template <class Value, class Kernel>
auto of_pairs(Kernel kernel) {
    return [kernel](Matrix<Value> left_rows, Matrix<Value> right_rows, Longs left, Longs right,
                    unsigned threads) {
        const std::size_t width = left_rows.shape(1);
        check_that(width == right_rows.shape(1) && width > 0, "left and right must be of one width");
        return computed([&] {
            const PairRows pairs = pairs_of(left, right, left_rows.shape(0), right_rows.shape(0));
            return kernel(view(left_rows), view(right_rows), width, pairs, threads);
        });
    };
}

void bind_agreement(nb::module_& module) {
    module.def("hamming_distances", of_pairs<std::uint64_t>(&hamming_distances), "left_codes"_array,
               "right_codes"_array, "left"_array, "right"_array, "threads"_a, "Differing bits of each pair.");
    module.def("equal_values", of_pairs<std::uint32_t>(&equal_values), "left_values"_array,
               "right_values"_array, "left"_array, "right"_array, "threads"_a,
               "In how many places the sketches of each pair agree.");
    module.def(
        "equal_packed",
        [](Matrix<std::uint8_t> left_packed, Matrix<std::uint8_t> right_packed, std::size_t values,
           unsigned bits, Longs left, Longs right, unsigned threads) {
            check_values(values);
            check_low_bits(bits);
            const std::size_t width = packed_bytes(values, bits);
            check_that(left_packed.shape(1) == width && right_packed.shape(1) == width,
                       "packed rows must hold `values` values of `bits` bits");
            return computed([&] {
                const PairRows pairs = pairs_of(left, right, left_packed.shape(0), right_packed.shape(0));
                return equal_packed(view(left_packed), view(right_packed), values, bits, pairs, threads);
            });
        },
        "left_packed"_array, "right_packed"_array, "values"_a, "bits"_a, "left"_array, "right"_array,
        "threads"_a, "In how many places the packed sketches of each pair agree.");
}

void bind_digests(nb::module_& module) {
    module.def(
        "sort_digests",
        [](Matrix<std::uint8_t> digests) {
            check_that(digests.shape(1) > 0, "a digest has at least one byte");
            return computed([&] { return sort_digests(view(digests), digests.shape(1)); });
        },
        "digests"_array, "The order that sorts digests as bytes, equal ones by row.");
    module.def(
        "find_digests",
        [](Matrix<std::uint8_t> sorted, Matrix<std::uint8_t> wanted, unsigned threads) {
            const std::size_t width = sorted.shape(1);
            check_that(width > 0 && width == wanted.shape(1), "digests must be of one width");
            return computed([&] { return find_digests(view(sorted), view(wanted), width, threads); });
        },
        "sorted"_array, "wanted"_array, "threads"_a,
        "The places [first, last) of each wanted digest among the sorted ones.");
    module.def(
        "hash_array",
        [](Bytes bytes, std::uint64_t seed) {
            return without_gil([&] { return xxh3(bytes_of(bytes), seed); });
        },
        "bytes"_array, "seed"_a, "XXH3 of an array's bytes, without copying them.");
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
