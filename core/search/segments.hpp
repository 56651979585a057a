#pragma once
// Sorted columns of codes: checksums of their blocks, sorting, and search by prefix. Files are Python's business.
//
// A code is `words` words of 64 bits, the low word first, and codes are ordered as unsigned numbers.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "cpu.hpp"

namespace neardup {

using Code64 = std::uint64_t;
using Code128 = unsigned __int128;

// A column of codes read as numbers. Code128 values are put together from their words, so nothing need be aligned.
template <class Code>
struct CodeColumn {
    std::span<const std::uint64_t> words;

    KERNEL std::size_t size() const { return words.size() / (sizeof(Code) / 8); }
    KERNEL Code operator[](std::size_t i) const {
        if constexpr (sizeof(Code) == 8)
            return words[i];
        else
            return static_cast<Code>(words[2 * i + 1]) << 64 | words[2 * i];
    }
};

// The codes that share the top `prefix` of `bits` bits with a code are low to high, both included.
template <class Code>
struct Prefix {
    Code low, high;

    Prefix(Code code, unsigned bits, unsigned prefix) {
        const unsigned free = bits - prefix;
        const Code below = free == 8 * sizeof(Code) ? ~Code{0} : (Code{1} << free) - 1;
        low = code & ~below;
        high = low | below;
    }
};

// XXH3 of block `which[i]` of the bytes, seeded with seed + which[i]. The last block may be short.
std::vector<std::uint64_t> block_checksums(std::string_view bytes, std::size_t block, std::uint64_t seed,
                                           std::span<const std::int64_t> which, unsigned threads);

struct SortedCodes {
    std::vector<std::uint64_t> codes;
    std::vector<std::int64_t> rows;
};

// Codes in ascending order, equal codes in ascending order of their rows. Takes twice the input's size.
SortedCodes sort_codes(std::span<const std::uint64_t> codes, unsigned words,
                       std::span<const std::int64_t> rows);

// True when no code is below the one before it.
bool is_ascending(std::span<const std::uint64_t> codes, unsigned words);

enum class Seek : int { binary = 0, interpolation = 1 };

struct Positions {
    std::vector<std::int64_t> positions;
    std::uint64_t probes = 0;
};

// For each value the first place whose code is not below it (with `after`: whose code is above it), and how many
// codes were read in all. Interpolation guesses by value and halves when a guess helped little, so it takes
// about log log n steps on uniform codes and never more than twice those of binary search.
Positions bounds(std::span<const std::uint64_t> codes, unsigned words, std::span<const std::uint64_t> values,
                 bool after, Seek seek, unsigned threads);

struct PrefixHits {
    std::vector<std::int64_t> query, position;
    std::vector<std::uint8_t> distance;
};

// The hits of all parts, one part after another.
PrefixHits joined(std::span<const PrefixHits> parts);

// All (query, place) that share the top `prefix` bits and are at most `radius` apart; by query, then place. Query q is
// searched only in places [from[q], to[q]), so nothing outside them is read. Throws nothing; ranges must fit.
PrefixHits search_prefix(std::span<const std::uint64_t> codes, unsigned words,
                         std::span<const std::uint64_t> queries, std::span<const std::int64_t> from,
                         std::span<const std::int64_t> to, unsigned bits, unsigned prefix, unsigned radius,
                         unsigned threads);

// The first place in [0, size) whose code is not below `value`, or above it with `after`.
template <class Keys, class Code>
KERNEL inline std::size_t binary_bound(const Keys& keys, Code value, bool after, std::uint64_t& probes) {
    std::size_t low = 0, high = keys.size();
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        const Code key = keys[middle];
        ++probes;
        if (key < value || (after && key == value))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

template <class Keys, class Code>
KERNEL inline std::size_t interpolation_bound(const Keys& keys, Code value, bool after,
                                              std::uint64_t& probes) {
    // Invariant: places below `low` are before the bound, places from `high` on are not. `floor` and `ceiling` are
    // the values known to bracket the codes between.
    std::size_t low = 0, high = keys.size();
    if (high == 0) return 0;
    Code floor = keys[0], ceiling = keys[high - 1];
    probes += 2;
    const auto before = [value, after](Code key) KERNEL { return key < value || (after && key == value); };
    if (!before(floor)) return 0;
    if (before(ceiling)) return high;
    low = 1, high -= 1;
    bool halve = false;
    while (low < high) {
        const std::size_t width = high - low;
        std::size_t guess = low + width / 2;
        if (!halve && ceiling > floor) {
            // The share of the bracket below the value, to 53 bits: a guess only, exactness is the invariant's.
            const double share = static_cast<double>(value - floor) / static_cast<double>(ceiling - floor);
            guess = low + static_cast<std::size_t>(share * static_cast<double>(width));
            if (guess >= high) guess = high - 1;
        }
        const Code key = keys[guess];
        ++probes;
        if (before(key))
            low = guess + 1, floor = key;
        else
            high = guess, ceiling = key;
        halve = high - low > width / 2;
    }
    return low;
}

template <class Keys, class Code>
KERNEL inline std::size_t bound(const Keys& keys, Code value, bool after, Seek seek, std::uint64_t& probes) {
    return seek == Seek::binary ? binary_bound(keys, value, after, probes)
                                : interpolation_bound(keys, value, after, probes);
}

KERNEL inline unsigned ones(Code64 x) { return static_cast<unsigned>(__builtin_popcountll(x)); }
KERNEL inline unsigned ones(Code128 x) {
    return ones(static_cast<Code64>(x)) + ones(static_cast<Code64>(x >> 64));
}

}  // namespace neardup
