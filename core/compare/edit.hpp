#pragma once
// Edit similarity of ordered rows: the largest part of two sequences that insertions and deletions can leave.
#include <cstdint>
#include <vector>

#include "join/similarity.hpp"
#include "text/features.hpp"

namespace neardup {

// For each pair 2 L / (n + m), where L is the length of the longest common subsequence of two rows of n and m symbols:
// 1 - (insertions and deletions) / (n + m). It is -1 where it is below `least` (above 0). Rows are of a recipe with
// `ordered`: feature i is place i in the upper bits and a symbol in the lower kSymbolBits. std::invalid_argument if
// others are given. A row without features is like nothing.
//
// A pair is dropped without an alignment if its lengths rule it out, or the symbols it shares, whatever their order. The
// others are aligned 256 symbols of one side at a time, in a band around the diagonal that no alignment of enough
// symbols can leave; it begins narrow, by what the sides do not share, so that time grows with what differs:
// O((n + m) d / 256) word operations for d differences, and at most O(n m / 256).
std::vector<double> edit_at_least(const RaggedRows& rows, PairRows pairs, double least, unsigned threads);

}  // namespace neardup
