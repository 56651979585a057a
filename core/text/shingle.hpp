#pragma once
// The hash of a shingle: a sum over its tokens that rolls, mixed at the end.
#include <cstdint>

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

}  // namespace neardup
