#pragma once
// The hash of a shingle: a sum over its tokens that rolls, mixed at the end.
#include <algorithm>
#include <cstdint>
#include <span>

#include "text/hash.hpp"

namespace neardup {

// Shingle = mix(sum of base^(width-1-j) * token[j], width). The base is 3 modulo 4: were base - 1 divisible by 4 or
// more, swapping two words would lose more than one bit of their difference.
KERNEL inline std::uint64_t shingle_base(std::uint64_t seed) { return draw(seed, 1) << 2 | 3; }

// The width is mixed in, so that shingles of different widths get different hashes.
KERNEL inline std::uint64_t shingle_hash(std::uint64_t sum, std::uint64_t width) {
    return mix(sum + width * 0x9E3779B97F4A7C15u);
}

KERNEL inline std::uint64_t pair_hash(std::uint64_t first, std::uint64_t second, std::uint64_t base) {
    return shingle_hash(first * base + second, 2);
}

// All shingles of at least `width` tokens, as many as `out` has room for. The next one costs two products for any width.
KERNEL inline void rolling_sums(std::span<const std::uint64_t> tokens, std::size_t width, std::uint64_t base,
                                std::uint64_t base_power, std::span<std::uint64_t> out) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < width; ++i) sum = sum * base + tokens[i];
    out[0] = shingle_hash(sum, width);
    for (std::size_t i = width; i < tokens.size(); ++i) {
        sum = sum * base + tokens[i] - tokens[i - width] * base_power;
        out[i - width + 1] = shingle_hash(sum, width);
    }
}

// The same with a sum for each: more products, but none waits for another.
KERNEL inline void separate_sums(std::span<const std::uint64_t> tokens, std::size_t width, std::uint64_t base,
                                 std::span<std::uint64_t> out) {
    constexpr std::size_t kTogether = 64;
    std::uint64_t sums[kTogether];
    for (std::size_t at = 0; at < out.size(); at += kTogether) {
        const std::size_t count = std::min(kTogether, out.size() - at);
        const std::uint64_t* from = tokens.data() + at;
        for (std::size_t i = 0; i < count; ++i) sums[i] = from[i];
        for (std::size_t j = 1; j < width; ++j)
            for (std::size_t i = 0; i < count; ++i) sums[i] = sums[i] * base + from[i + j];
        for (std::size_t i = 0; i < count; ++i) out[at + i] = shingle_hash(sums[i], width);
    }
}

}  // namespace neardup
