#pragma once
// Verified pairs to cohesive clusters: every member is tied to its keeper by a pair of its own.
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

// For each row its keeper (itself for a keeper), and the index of the pair that ties them (-1 for a keeper).
struct Keepers {
    std::vector<std::int64_t> keeper, pair;
};

// `order` lists all rows, best first. The best row not yet taken becomes a keeper and takes all rows that a pair ties
// to it and not yet taken; and so on: the lexicographically first maximal independent set. O(rows + pairs).
Keepers first_keepers(std::span<const std::int64_t> left, std::span<const std::int64_t> right,
                      std::span<const std::int64_t> order);

}  // namespace neardup
