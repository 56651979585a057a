#pragma once
// Sorted digests: O(log n) lookup, and fewer steps when digests are spread evenly, as hashes are.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace neardup {

// The order that sorts digests of `width` bytes each, as bytes; equal ones keep their order.
std::vector<std::int64_t> sort_digests(std::span<const std::uint8_t> digests, std::size_t width);

// For each wanted digest its places [first, last) in the sorted digests.
struct Places {
    std::vector<std::int64_t> first, last;
};
Places find_digests(std::span<const std::uint8_t> sorted, std::span<const std::uint8_t> wanted,
                    std::size_t width, unsigned threads);

}  // namespace neardup
