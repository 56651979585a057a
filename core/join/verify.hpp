#pragma once
// Which candidates are similar enough: a comparison stops as soon as it cannot reach the threshold any more.
#include <cstdint>
#include <span>
#include <vector>

#include "join/similarity.hpp"

namespace neardup {

// The Jaccard similarity of each pair, or -1 where it is below `least` (above 0). What is returned is the same to the
// last bit as a full comparison gives; a row without features is like nothing. If `sampled`, a comparison also stops when
// what it has seen rules `least` out with a risk below one in 10^9; a pair may then be missed, with that probability.
std::vector<double> jaccard_at_least(const RaggedRows& rows, PairRows pairs, double least, bool sampled,
                                     unsigned threads);

}  // namespace neardup
