#pragma once
// Hamming distance: of pairs of codes, of every query against every stored code (the oracle of all
// searches), and how many pairs there are at each distance.
//
// A column of codes is n rows of `words` 64-bit words; a 32-bit code is the low half of its one word.
// Widths are 32, 64 and 128 bits.
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "cpu.hpp"

namespace neardup {

using Codes = std::span<const std::uint64_t>;

constexpr std::size_t words_of(int bits) { return bits > 64 ? 2 : 1; }

KERNEL inline int distance(const std::uint64_t* a, const std::uint64_t* b, std::size_t words) {
    int differing = std::popcount(a[0] ^ b[0]);
    if (words == 2) differing += std::popcount(a[1] ^ b[1]);
    return differing;
}

// Row i of one column against row i of the other.
std::vector<std::uint8_t> distances(Codes left, Codes right, std::size_t words);

// Row left_rows[i] of one column against row right_rows[i] of the other; the rows must exist.
std::vector<std::uint8_t> distances_at(Codes left, Codes right, std::size_t words,
                                       std::span<const std::int64_t> left_rows,
                                       std::span<const std::int64_t> right_rows);

struct HitColumns {
    std::vector<std::int64_t> query, row;
    std::vector<std::uint8_t> distance;
};

// Every stored row within the radius of each query, by query and then by row; with `first`, the smallest
// such row alone. O(queries * rows), blocked so that stored codes are read from memory once for many queries.
HitColumns scan(Codes stored, Codes queries, int bits, int radius, bool first, unsigned threads);

// How many pairs (one row of each column) lie at each distance, 0 to bits.
std::vector<std::int64_t> count_distances(Codes left, Codes right, int bits, unsigned threads);

}  // namespace neardup
