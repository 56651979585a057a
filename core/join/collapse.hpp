#pragma once
// Rows with equal codes, gathered in groups, so that everything after sees each code once.
#include <cstdint>
#include <span>
#include <vector>

#include "search/hamming.hpp"

namespace neardup {

// repeats[i] is 1 when an earlier row has the code of row i. Groups of two rows or more, in the order of
// their first rows: group g is members[offsets[g]] to members[offsets[g + 1]], ascending.
struct EqualCodes {
    std::vector<std::uint8_t> repeats;
    std::vector<std::int64_t> members, offsets;
};

// Rows with a nonzero `skip` (if given at all) belong to no group and repeat nothing. O(rows) expected. For
// 64-bit codes 12 bytes a row while it works, and 4 more when there are repeats.
EqualCodes collapse(Codes codes, std::span<const std::uint8_t> skip, int bits, unsigned threads);

}  // namespace neardup
