#pragma once
// Simhash: every feature votes on every bit, +weight where its hash has a 1 and -weight where it has a 0; the sign of
// the votes is the bit, their size is its margin (Sood and Loguinov 2011, algorithm 1).
//
// Votes are exact. A row's weights are scaled by the power of two that puts the largest of them in [2^22, 2^23) and
// rounded to integers (half to even), so sums do not depend on the order of the features nor on the CPU. 23 bits, the
// precision of the float32 weights themselves: 128 such votes fit a 32-bit lane, twice as fast as 64-bit lanes.
//
// The Gaussian variant (their equation 4) votes weight * nu, with nu from N(0, 1) instead of from {-1, +1}.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "cpu.hpp"
#include "text/hash.hpp"

namespace neardup {

enum class Tie : int { ge = 0, gt = 1 };  // no votes either way: ge makes the bit 1, gt makes it 0
enum class Margins : int { none = 0, full = 1, bytes = 2, ranks = 3 };

struct SimhashOptions {
    unsigned bits = 64;  // 32, 64 or 128
    Tie tie = Tie::ge;
    bool gaussian = false;
};

constexpr unsigned kMostBits = 128;
constexpr std::size_t words_of(unsigned bits) { return (bits + 63) / 64; }

// Quantiles of N(0, 1) at (i + 1/2) / 65536, in units of 2^-12; each size is below 2^15.
std::span<const std::int16_t, 65536> gaussian_quantiles();
constexpr int kQuantileBits = 12;

// The 64 bits a feature gives to word `word` of a code: word 0 is the hash itself.
KERNEL inline std::uint64_t code_word(std::uint64_t hash, unsigned word) {
    return word == 0 ? hash : mix(hash ^ 0xD6E8FEB86659FD93u);
}

// The exponent e for which 2^e * the largest |weight| is in [2^22, 2^23). Integers, so that any input is harmless.
KERNEL inline int vote_exponent(std::span<const float> weights) {
    std::uint32_t largest = 0;
    for (const float weight : weights)
        largest = std::max(largest, std::bit_cast<std::uint32_t>(weight) & 0x7FFFFFFFu);
    if (largest == 0) return 0;
    const auto wide = std::bit_cast<std::uint64_t>(double{std::bit_cast<float>(largest)});
    return 22 - (static_cast<int>(wide >> 52) - 1023);
}

KERNEL inline double power_of_two(int exponent) {
    return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

// Rounds weight * scale to an integer, half to even: adding 1.5 * 2^52 leaves it in the low bits of the sum. lrint
// would not be vectorised.
KERNEL inline std::uint32_t scaled_weight(float weight, double scale) {
    return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(double{weight} * scale + 0x1.8p52));
}

// acc[b] += weights[i] wherever bit b of hashes[i] is 1; count is a multiple of 4. Written as a mask: with `?:` GCC
// branches. One lane is one bit, so nothing has to be added across lanes at the end.
KERNEL inline void add_where_set(const std::uint32_t* __restrict hashes,
                                 const std::uint32_t* __restrict weights, std::size_t count,
                                 std::uint32_t* __restrict acc) {
    static constexpr auto kBits = [] {
        std::array<std::uint32_t, 32> bits{};
        for (std::size_t b = 0; b < 32; ++b) bits[b] = std::uint32_t{1} << b;
        return bits;
    }();
    const std::uint32_t* bits = kBits.data();
    for (std::size_t i = 0; i < count; i += 4) {
        const std::uint32_t h0 = hashes[i], h1 = hashes[i + 1], h2 = hashes[i + 2], h3 = hashes[i + 3];
        const std::uint32_t w0 = weights[i], w1 = weights[i + 1], w2 = weights[i + 2], w3 = weights[i + 3];
#pragma GCC unroll 1
        for (std::size_t b = 0; b < 32; ++b) {
            const std::uint32_t bit = bits[b];
            acc[b] += (w0 & -std::uint32_t{(h0 & bit) == bit}) + (w1 & -std::uint32_t{(h1 & bit) == bit}) +
                      (w2 & -std::uint32_t{(h2 & bit) == bit}) + (w3 & -std::uint32_t{(h3 & bit) == bit});
        }
    }
}

// Signed votes for the first `bits` bits, in units of 2^-exponent. A 32-bit lane holds a chunk of 128 features:
// |scaled weight| <= 2^23, so |sum| <= 2^30.
KERNEL inline void sign_votes(std::span<const std::uint64_t> hashes, std::span<const float> weights,
                              unsigned bits, int exponent, std::int64_t* votes) {
    constexpr std::size_t kChunk = 128;
    alignas(64) std::uint32_t low[kChunk], high[kChunk], scaled[kChunk];
    alignas(64) std::uint32_t acc[64];
    const double scale = power_of_two(exponent);
    std::fill_n(votes, bits, 0);
    std::int64_t total = 0;
    for (std::size_t start = 0; start < hashes.size(); start += kChunk) {
        const std::size_t count = std::min(kChunk, hashes.size() - start), padded = (count + 3) / 4 * 4;
        const std::uint64_t* h = hashes.data() + start;
        const float* w = weights.data() + start;
        for (std::size_t i = 0; i < count; ++i) scaled[i] = scaled_weight(w[i], scale);
        for (std::size_t i = count; i < padded; ++i) scaled[i] = low[i] = high[i] = 0;
        for (std::size_t i = 0; i < count; ++i) total += static_cast<std::int32_t>(scaled[i]);
        for (unsigned word = 0; word < words_of(bits); ++word) {
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint64_t x = code_word(h[i], word);
                low[i] = static_cast<std::uint32_t>(x);
                high[i] = static_cast<std::uint32_t>(x >> 32);
            }
            const unsigned width = std::min(bits - 64 * word, 64u);
            std::fill_n(acc, 64, 0);
            add_where_set(low, scaled, padded, acc);
            if (width > 32) add_where_set(high, scaled, padded, acc + 32);
            for (unsigned b = 0; b < width; ++b) votes[64 * word + b] += static_cast<std::int32_t>(acc[b]);
        }
    }
    for (unsigned b = 0; b < bits; ++b) votes[b] = 2 * votes[b] - total;
}

// Gaussian votes in units of 2^-(exponent + kQuantileBits - 8). Each product is below 2^23 * 2^15 and is rounded to
// drop 8 bits, so that 2^33 features cannot overflow a sum. nu of bit j is the j % 4-th 16 bits of draw(hash, j / 4).
KERNEL inline void gaussian_votes(std::span<const std::uint64_t> hashes, std::span<const float> weights,
                                  unsigned bits, int exponent, std::int64_t* votes) {
    const std::int16_t* quantiles = gaussian_quantiles().data();
    const double scale = power_of_two(exponent);
    std::fill_n(votes, bits, 0);
    for (std::size_t i = 0; i < hashes.size(); ++i) {
        const std::int64_t weight = static_cast<std::int32_t>(scaled_weight(weights[i], scale));
        for (unsigned j = 0; j < bits; j += 4) {
            const std::uint64_t random = draw(hashes[i], j / 4);
            for (unsigned k = 0; k < 4; ++k)
                votes[j + k] += (weight * quantiles[(random >> (16 * k)) & 0xFFFF] + 128) >> 8;
        }
    }
}

// The code (words_of(bits) words) and, unless null, the margins (`bits` floats) of one row. Weights are finite and as
// many as the hashes. A row without features has no code: it gets zeros, and the caller says so.
KERNEL inline void simhash_row(std::span<const std::uint64_t> hashes, std::span<const float> weights,
                               const SimhashOptions& options, std::uint64_t* code, float* margins) {
    const unsigned bits = options.bits;
    std::fill_n(code, words_of(bits), 0);
    if (hashes.empty()) {
        if (margins != nullptr) std::fill_n(margins, bits, 0.0f);
        return;
    }
    alignas(64) std::int64_t votes[kMostBits];
    const int exponent = vote_exponent(weights);
    if (options.gaussian)
        gaussian_votes(hashes, weights, bits, exponent, votes);
    else
        sign_votes(hashes, weights, bits, exponent, votes);
    const std::int64_t least = options.tie == Tie::ge ? 0 : 1;
    for (unsigned j = 0; j < bits; ++j) code[j / 64] |= std::uint64_t{votes[j] >= least} << (j % 64);
    if (margins == nullptr) return;
    const double unit = power_of_two(options.gaussian ? 8 - kQuantileBits - exponent : -exponent);
    constexpr double kMost = std::numeric_limits<float>::max();
    for (unsigned j = 0; j < bits; ++j)
        margins[j] = static_cast<float>(std::clamp(static_cast<double>(votes[j]) * unit, -kMost, kMost));
}

// |margin| in 8 bits: bytes[j] * (the returned scale) is |margins[j]| within half a step, and order is kept up to
// ties. Signs are in the code.
KERNEL inline float margin_bytes_row(std::span<const float> margins, std::uint8_t* bytes) {
    float largest = 0;
    for (const float margin : margins) largest = std::max(largest, margin < 0 ? -margin : margin);
    const double scale = largest > 0 ? 255.0 / largest : 0.0;
    for (std::size_t j = 0; j < margins.size(); ++j) {
        const double size = (margins[j] < 0 ? -double{margins[j]} : double{margins[j]}) * scale + 0.5;
        bytes[j] = static_cast<std::uint8_t>(size < 255.0 ? size : 255.0);
    }
    return largest / 255;
}

// The numbers of the count weakest bits, weakest first, ties by lower bit number; at most kMostBits margins.
inline void weakest_bits_row(std::span<const float> margins, std::size_t count, std::uint8_t* ranks) {
    std::uint64_t keys[kMostBits];
    for (std::size_t j = 0; j < margins.size(); ++j)
        keys[j] = std::uint64_t{std::bit_cast<std::uint32_t>(margins[j]) & 0x7FFFFFFFu} << 8 | j;
    std::partial_sort(keys, keys + count, keys + margins.size());
    for (std::size_t r = 0; r < count; ++r) ranks[r] = static_cast<std::uint8_t>(keys[r]);
}

// Columns of many rows; columns that were not requested are empty.
struct SimhashColumns {
    SimhashOptions options;
    Margins keep = Margins::none;
    std::size_t rank_count = 0;
    std::vector<std::uint64_t> codes;  // [rows, words]
    std::vector<float> margins;        // [rows, bits]
    std::vector<std::uint8_t> bytes;   // [rows, bits]
    std::vector<float> scales;         // [rows], of the bytes
    std::vector<std::uint8_t> ranks;   // [rows, rank_count]

    SimhashColumns(std::size_t rows, const SimhashOptions& how, Margins kept, std::size_t ranks_kept)
        : options(how), keep(kept), rank_count(ranks_kept), codes(rows * words_of(how.bits)) {
        if (keep == Margins::full) margins.resize(rows * options.bits);
        if (keep == Margins::bytes) bytes.resize(rows * options.bits), scales.resize(rows);
        if (keep == Margins::ranks) ranks.resize(rows * rank_count);
    }

    // Rows may be set in any order, by any thread.
    KERNEL void set(std::size_t row, std::span<const std::uint64_t> hashes, std::span<const float> weights) {
        const std::size_t bits = options.bits;
        float local[kMostBits];
        float* kept = keep == Margins::full ? margins.data() + row * bits : local;
        simhash_row(hashes, weights, options, codes.data() + row * words_of(options.bits),
                    keep == Margins::none ? nullptr : kept);
        if (keep == Margins::bytes) scales[row] = margin_bytes_row({kept, bits}, bytes.data() + row * bits);
        if (keep == Margins::ranks)
            weakest_bits_row({kept, bits}, rank_count, ranks.data() + row * rank_count);
    }
};

// Row i is hashes[offsets[i] .. offsets[i + 1]] with its weights.
SimhashColumns simhash(std::span<const std::uint64_t> hashes, std::span<const float> weights,
                       std::span<const std::int64_t> offsets, const SimhashOptions& options, Margins keep,
                       std::size_t rank_count, unsigned threads);

}  // namespace neardup
