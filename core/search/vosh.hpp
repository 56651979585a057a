#pragma once
// The order in which to try flips: sets of bits by increasing cost, where a cheap bit is one likely to have flipped.
//
// The volatility-ordered heap of Sood and Loguinov (CIKM 2011, sections 5 and 6.1). Bits are ranked by cost. Sets of one
// size form a tree in which no child is cheaper than its parent; a heap holds the frontier of the trees of all sizes,
// so each set comes up once, cheapest first, at O(log k) each. Ties: fewer bits first, then lower ranks.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

constexpr unsigned most_flips = 16;

// A set of ranks, ascending.
struct RankSet {
    double cost = 0;
    std::uint8_t size = 0;
    std::array<std::uint8_t, most_flips> ranks{};

    std::span<const std::uint8_t> span() const { return {ranks.data(), size}; }
};

// The children of a set in the tree of its size, among ranks 0 to width - 1: the last rank moves up by one; and, where
// the last gap of at least two is exactly two, the rank before it does.
struct Children {
    bool has_left, has_right;
    RankSet left, right;
};
Children children(const RankSet& set, unsigned width);

// Ranks bits by the size of their costs, the cheapest first, equal ones by number; what is not a number comes last.
// `ranking` gets the bit of each rank and `ranked` its cost; both have room for as many.
void rank_bits(std::span<const float> costs, std::span<std::uint8_t> ranking, std::span<float> ranked);

// Gives sets one by one. `costs` are by rank: ascending, not negative, at most 256 of them; they must outlive this.
class FlipOrder {
  public:
    void start(std::span<const float> costs, unsigned radius);
    // False when every set has been given.
    bool next(RankSet& set);

  private:
    void push(RankSet set);

    std::span<const float> costs_;
    std::vector<RankSet> heap_;
};

// Sets over ranks, ready to be applied to any query's ranking: set i is set `parent` and one more rank.
struct Step {
    std::uint32_t parent;  // 0: the empty set; i: the i-th set of the template, which is an earlier one
    std::uint8_t rank, size;
};
std::vector<Step> flip_template(std::span<const float> costs, unsigned radius, std::size_t sets);

}  // namespace neardup
