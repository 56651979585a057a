#pragma once
// MinHash: two sets agree at each place of their sketches with a probability equal to their Jaccard similarity.
//
// One permutation (the fast way): hash every feature once; its high bits choose one of k bins, its low 32 bits are
// its value there, each bin keeps its minimum. An empty bin borrows from another one, found by a seeded
// sequence of its own (optimal densification, Shrivastava 2017), so that two sets borrow in the same way.
//
// Independent permutations (the seeds' way): k bijections of the 64-bit numbers, each keeping its minimum.
//
// Either is fed a row in parts: init, update as often as needed, finish. finish ends with a bijection of the 32-bit
// values, so that their low bits are as random as the high ones even when minima are small (long documents): b-bit
// sketches and band keys may take any bits.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "cpu.hpp"
#include "text/hash.hpp"

namespace neardup {

constexpr std::size_t kMostValues = 65536;
constexpr std::uint32_t kEmptyBin = 0xFFFFFFFFu;

// A bijection of 32-bit numbers (the finaliser of MurmurHash3).
KERNEL inline std::uint32_t mix32(std::uint32_t x) {
    x = (x ^ (x >> 16)) * 0x85EBCA6Bu;
    x = (x ^ (x >> 13)) * 0xC2B2AE35u;
    return x ^ (x >> 16);
}

// Seeds reach features through this key: unrelated seeds give unrelated sketches.
KERNEL inline std::uint64_t minhash_key(std::uint64_t seed) { return draw(seed, 0); }

KERNEL inline void one_permutation_init(std::span<std::uint32_t> bins) {
    std::fill(bins.begin(), bins.end(), kEmptyBin);
}

KERNEL inline void one_permutation_update(std::span<std::uint32_t> bins, std::uint64_t key,
                                          std::span<const std::uint64_t> hashes) {
    std::uint32_t* minima = bins.data();
    // A value never equals kEmptyBin, or a feature could leave its bin empty.
    if (bins.size() > 1 && std::has_single_bit(bins.size())) {
        const int shift = std::countl_zero(std::uint64_t{bins.size()}) + 1;
        // Mixed some at a time: that needs no bin, and so becomes vectors.
        constexpr std::size_t kTogether = 64;
        std::uint64_t mixed[kTogether];
        for (std::size_t at = 0; at < hashes.size(); at += kTogether) {
            const std::size_t many = std::min(kTogether, hashes.size() - at);
            for (std::size_t i = 0; i < many; ++i) mixed[i] = mix(hashes[at + i] ^ key);
            for (std::size_t i = 0; i < many; ++i) {
                std::uint32_t& slot = minima[mixed[i] >> shift];
                slot = std::min(slot, std::min(static_cast<std::uint32_t>(mixed[i]), kEmptyBin - 1));
            }
        }
        return;
    }
    for (const std::uint64_t hash : hashes) {
        const std::uint64_t h = mix(hash ^ key);
        std::uint32_t& slot =
            minima[static_cast<std::size_t>((static_cast<unsigned __int128>(h) * bins.size()) >> 64)];
        slot = std::min(slot, std::min(static_cast<std::uint32_t>(h), kEmptyBin - 1));
    }
}

// Bin `bin` looks for a lender in rounds of four tries: the four 16-bit parts of one number, each scaled to a bin.
KERNEL inline std::uint64_t four_tries(std::uint64_t key, std::size_t bin, std::uint64_t round) {
    return draw(~key, round * kMostValues + bin);
}

// a, or b where bin a is empty (all ones); a mask, because GCC turns `?:` into a branch here.
KERNEL inline std::uint32_t or_else(std::uint32_t a, std::uint32_t b) {
    return a & (b | -std::uint32_t{a < kEmptyBin});
}

// Writes the sketch; false, and zeros, if no feature was ever given. values and bins are of one size and apart.
KERNEL inline bool one_permutation_finish(std::span<const std::uint32_t> bins, std::uint64_t key,
                                          std::span<std::uint32_t> values) {
    const std::size_t count = bins.size();
    const std::uint32_t* minima = bins.data();
    std::size_t filled = 0;
    for (std::size_t j = 0; j < count; ++j) filled += minima[j] != kEmptyBin;
    if (filled == 0) {
        std::fill(values.begin(), values.end(), 0);
        return false;
    }
    if (filled == count) {
        for (std::size_t j = 0; j < count; ++j) values[j] = mix32(minima[j]);
        return true;
    }
    const std::uint32_t lowest =
        *std::find_if(bins.begin(), bins.end(), [](auto bin) { return bin != kEmptyBin; });
    if (filled == 1) {  // every search would end there
        std::fill(values.begin(), values.end(), mix32(lowest));
        return true;
    }
    // All empty bins of a block search together, round by round and without branches: one bin at a time would
    // mispredict the end of each search. A bin that finds none, one in e^256, takes the lowest filled bin.
    constexpr std::size_t kBlock = 256;
    std::uint32_t pending[kBlock], found[kBlock];
    for (std::size_t start = 0; start < count; start += kBlock) {
        std::size_t left = 0;
        for (std::size_t j = start; j < std::min(count, start + kBlock); ++j) {
            values[j] = minima[j];
            pending[left] = static_cast<std::uint32_t>(j);
            left += minima[j] == kEmptyBin;
        }
        for (std::uint64_t round = 0; left > 0; ++round) {
            if (round == 64 * count) {
                for (std::size_t i = 0; i < left; ++i) values[pending[i]] = lowest;
                break;
            }
            for (std::size_t i = 0; i < left; ++i) {
                const std::uint64_t tries = four_tries(key, pending[i], round);
                const std::uint32_t a = minima[((tries & 0xFFFF) * count) >> 16];
                const std::uint32_t b = minima[((tries >> 16 & 0xFFFF) * count) >> 16];
                const std::uint32_t c = minima[((tries >> 32 & 0xFFFF) * count) >> 16];
                const std::uint32_t d = minima[((tries >> 48) * count) >> 16];
                found[i] = or_else(or_else(a, b), or_else(c, d));
            }
            std::size_t still = 0;
            for (std::size_t i = 0; i < left; ++i) {
                const std::uint32_t j = pending[i];
                values[j] = found[i];
                pending[still] = j;
                still += found[i] == kEmptyBin;
            }
            left = still;
        }
    }
    for (std::size_t j = 0; j < count; ++j) values[j] = mix32(values[j]);
    return true;
}

// k bijections x -> mix(x ^ key) * multiplier + offset (mod 2^64), multipliers odd. Mixed first: affine maps alone
// would be biased on structured features.
struct Permutations {
    std::uint64_t key;
    std::vector<std::uint64_t> multipliers, offsets;

    Permutations(std::size_t values, std::uint64_t seed) : key(minhash_key(seed)) {
        for (std::size_t j = 0; j < values; ++j) {
            multipliers.push_back(draw(key, 2 * j) | 1);
            offsets.push_back(draw(key, 2 * j + 1));
        }
    }
};

KERNEL inline void independent_init(std::span<std::uint64_t> minima) {
    std::fill(minima.begin(), minima.end(), ~std::uint64_t{0});
}

KERNEL inline void independent_update(std::span<std::uint64_t> minima, const Permutations& permutations,
                                      std::span<const std::uint64_t> hashes) {
    const std::uint64_t* __restrict multipliers = permutations.multipliers.data();
    const std::uint64_t* __restrict offsets = permutations.offsets.data();
    std::uint64_t* __restrict least = minima.data();
    const std::uint64_t key = permutations.key;
    // Four features a pass, to load and store the minima once; the last feature may serve twice, which changes nothing.
    for (std::size_t i = 0; i < hashes.size(); i += 4) {
        const std::size_t last = hashes.size() - 1;
        const std::uint64_t a = mix(hashes[i] ^ key), b = mix(hashes[std::min(i + 1, last)] ^ key),
                            c = mix(hashes[std::min(i + 2, last)] ^ key),
                            d = mix(hashes[std::min(i + 3, last)] ^ key);
        for (std::size_t j = 0; j < minima.size(); ++j) {
            const std::uint64_t m = multipliers[j], o = offsets[j];
            least[j] =
                std::min(std::min(least[j], std::min(a * m + o, b * m + o)), std::min(c * m + o, d * m + o));
        }
    }
}

// Writes the low 32 bits of each mixed minimum.
KERNEL inline void independent_finish(std::span<const std::uint64_t> minima,
                                      std::span<std::uint32_t> values) {
    for (std::size_t j = 0; j < minima.size(); ++j) values[j] = static_cast<std::uint32_t>(mix(minima[j]));
}

// Sketches of many rows, [rows, values]; rows without features hold zeros.
std::vector<std::uint32_t> minhash_one(std::span<const std::uint64_t> hashes,
                                       std::span<const std::int64_t> offsets, std::size_t values,
                                       std::uint64_t seed, unsigned threads);
std::vector<std::uint32_t> minhash_independent(std::span<const std::uint64_t> hashes,
                                               std::span<const std::int64_t> offsets, std::size_t values,
                                               std::uint64_t seed, unsigned threads);

// b-bit sketches, b in {1, 2, 4, 8, 16}: the low b bits of value j are bits j*b .. j*b+b-1 of the row, lowest bit
// first, the row padded with zeros to whole bytes.
constexpr std::size_t packed_bytes(std::size_t values, unsigned b) { return (values * b + 7) / 8; }
std::vector<std::uint8_t> pack_low_bits(std::span<const std::uint32_t> sketches, std::size_t values,
                                        unsigned b, unsigned threads);

// The 1-bit sketch as a code: bit j is the low bit of value j, for the first `bits` values; [rows, words_of(bits)].
std::vector<std::uint64_t> one_bit_codes(std::span<const std::uint32_t> sketches, std::size_t values,
                                         unsigned bits);

}  // namespace neardup
