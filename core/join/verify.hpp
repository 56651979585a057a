#pragma once
// Which candidates are similar enough: a comparison stops as soon as it cannot reach the threshold any more.
#include <cstdint>
#include <span>
#include <vector>

#include "join/similarity.hpp"

namespace neardup {

// The Jaccard similarity of each pair, or -1 where it is below `least` (above 0). What is returned is the same to the
// last bit as a full comparison gives; a row without features is like nothing.
std::vector<double> jaccard_at_least(const RaggedRows& rows, PairRows pairs, double least, unsigned threads);

}  // namespace neardup
