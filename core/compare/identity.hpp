#pragma once
// The identity measure of Hoad and Zobel (2003): words that two documents use equally often.
#include <cstdint>
#include <vector>

#include "join/similarity.hpp"

namespace neardup {

// How much a difference of two counts x and y takes away, as d in 1 / (1 + d). relative: |x - y| / max(x, y), for lengths
// and for words. absolute: |x - y| for words, ln(1 + |x - y|) for lengths.
enum class Differences : int { relative = 0, absolute = 1 };

// For each pair: sum over shared words of 1 / (1 + d(counts)), times 1 / (1 + d(lengths)), over the larger number of
// distinct words; 0 to 1, and 1 for equal counts. It is -1 where it is below `least` (above 0). Weights are counts. A
// comparison ends as soon as the words that are left cannot reach `least`.
std::vector<double> identity_at_least(const RaggedRows& rows, PairRows pairs, double least,
                                      Differences differences, unsigned threads);

}  // namespace neardup
