#pragma once
// The suffix array of a sequence of numbers, and the maximal repeats it shows.
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

// Places of all suffixes, in their order. Doubles the compared length from round to round and sorts only what is still
// equal: O(n log^2 n) for any input, periodic ones too. At most 2^32 - 2 letters.
std::vector<std::uint32_t> suffix_array(std::span<const std::int64_t> letters);

// How many letters the suffixes at i - 1 and i of the array share; the first is 0.
std::vector<std::uint32_t> shared_prefixes(std::span<const std::int64_t> letters,
                                           std::span<const std::uint32_t> suffixes);

// Words that occur twice or more and cannot be made longer, to the left or to the right, without losing an occurrence:
// the occurrences of each are suffixes[lows[i]:highs[i]]. Longer ones come before their own parts at the same place.
struct MaximalRepeats {
    std::vector<std::uint32_t> lows, highs, lengths;
};
MaximalRepeats maximal_repeats(std::span<const std::int64_t> letters, std::span<const std::uint32_t> suffixes,
                               std::span<const std::uint32_t> shared);

}  // namespace neardup
