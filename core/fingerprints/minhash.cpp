#include "fingerprints/minhash.hpp"

#include "parallel.hpp"

namespace neardup {

std::vector<std::uint32_t> minhash_one(std::span<const std::uint64_t> hashes,
                                       std::span<const std::int64_t> offsets, std::size_t values,
                                       std::uint64_t seed, unsigned threads) {
    const std::size_t rows = offsets.size() - 1;
    const std::uint64_t key = minhash_key(seed);
    std::vector<std::uint32_t> out(rows * values);
    in_parallel(rows, threads, 64, [&](std::size_t begin, std::size_t end) {
        std::vector<std::uint32_t> bins(values);
        on_best_cpu([=, &bins, &out]() KERNEL {
            for (std::size_t row = begin; row < end; ++row) {
                const auto from = static_cast<std::size_t>(offsets[row]);
                one_permutation_init(bins);
                one_permutation_update(
                    bins, key, hashes.subspan(from, static_cast<std::size_t>(offsets[row + 1]) - from));
                one_permutation_finish(bins, key, {out.data() + row * values, values});
            }
        });
    });
    return out;
}

std::vector<std::uint32_t> minhash_independent(std::span<const std::uint64_t> hashes,
                                               std::span<const std::int64_t> offsets, std::size_t values,
                                               std::uint64_t seed, unsigned threads) {
    const std::size_t rows = offsets.size() - 1;
    const Permutations permutations(values, seed);
    std::vector<std::uint32_t> out(rows * values);
    in_parallel(rows, threads, 16, [&](std::size_t begin, std::size_t end) {
        std::vector<std::uint64_t> minima(values);
        on_best_cpu([=, &minima, &permutations, &out]() KERNEL {
            for (std::size_t row = begin; row < end; ++row) {
                const auto from = static_cast<std::size_t>(offsets[row]);
                const std::size_t count = static_cast<std::size_t>(offsets[row + 1]) - from;
                if (count == 0) continue;
                independent_init(minima);
                independent_update(minima, permutations, hashes.subspan(from, count));
                independent_finish(minima, {out.data() + row * values, values});
            }
        });
    });
    return out;
}

std::vector<std::uint8_t> pack_low_bits(std::span<const std::uint32_t> sketches, std::size_t values,
                                        unsigned b, unsigned threads) {
    const std::size_t rows = sketches.size() / values, width = packed_bytes(values, b);
    std::vector<std::uint8_t> out(rows * width);
    in_parallel(rows, threads, 1024, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            std::uint8_t* bytes = out.data() + row * width;
            for (std::size_t j = 0; j < values; ++j) {
                const std::uint32_t low = sketches[row * values + j] & ((1u << b) - 1);
                const std::size_t place = j * b;
                bytes[place / 8] |= static_cast<std::uint8_t>(low << (place % 8));
                if (b == 16) bytes[place / 8 + 1] |= static_cast<std::uint8_t>(low >> 8);
            }
        }
    });
    return out;
}

std::vector<std::uint64_t> one_bit_codes(std::span<const std::uint32_t> sketches, std::size_t values,
                                         unsigned bits) {
    const std::size_t rows = sketches.size() / values, words = (bits + 63) / 64;
    std::vector<std::uint64_t> out(rows * words);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t j = 0; j < bits; ++j)
            out[row * words + j / 64] |= std::uint64_t{sketches[row * values + j] & 1} << (j % 64);
    return out;
}

}  // namespace neardup
