#pragma once
// Which of some keys which rows of features hold: the inverted half of a containment join.
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

// Row rows[i] holds key number keys[i]; in the order of rows, and of keys inside a row.
struct Held {
    std::vector<std::uint32_t> rows, keys;
};

// Row i is hashes[offsets[i]] up to offsets[i + 1], ascending; `keys` ascend, each once. Below 2^32 of either. Beside
// the answer, which is the same for any number of threads, up to 16 bytes a key.
Held held_keys(std::span<const std::uint64_t> hashes, std::span<const std::int64_t> offsets,
               std::span<const std::uint64_t> keys, unsigned threads);

}  // namespace neardup
