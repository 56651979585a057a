#pragma once
// Winnowing: a sample of a sequence of features with bounded gaps.
#include <cstdint>
#include <span>

#include "buffer.hpp"

namespace neardup {

// In every window the smallest feature is kept, the rightmost of equals, each place once (Schleimer, Wilkerson,
// Aiken 2003). So any run of window + width - 1 tokens that two texts share leaves a common feature in both.
// Replaces `kept`. Linear time for hashes; at worst window times that.
void winnow(std::span<const std::uint64_t> sequence, std::size_t window, Buffer<std::uint64_t>& kept);

}  // namespace neardup
