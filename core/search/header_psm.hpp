#pragma once
// PSM on a sorted column (Sood and Loguinov 2011, 6.2 and 6.3): a table from the top bits of a code, its header, to
// the places of such codes, and a search that looks up each query's header and the given flips of it.
//
// The table does not own the column. The caller computes the flips, once for a batch, and then searches chunk after
// chunk.
#include <cstdint>
#include <span>
#include <vector>

#include "search/segments.hpp"
#include "search/vosh.hpp"

namespace neardup {

inline constexpr unsigned kMostHeaderBits = 30;

class HeaderTable {
  public:
    // Ascending codes of `bits` bits, fewer than 2^32; the header is their top `header_bits`, 1 to 30 and no more
    // than the code has. Throws std::invalid_argument when the codes do not ascend.
    HeaderTable(std::span<const std::uint64_t> codes, unsigned bits, unsigned header_bits);

    // All (query, place) at most `radius` apart whose headers are equal or differ by one of the query's `probes`
    // flips, flips[q * probes] on. A flip is a nonzero mask of header bits, all different for one query; 0 means none.
    // By query, then place.
    PrefixHits search(std::span<const std::uint64_t> queries, std::span<const std::uint32_t> flips,
                      std::size_t probes, unsigned radius, unsigned threads) const;

    unsigned bits() const { return bits_; }
    unsigned header_bits() const { return header_bits_; }
    std::size_t bytes() const { return 4 * starts_.size(); }

  private:
    std::span<const std::uint64_t> codes_;
    unsigned bits_, header_bits_;
    std::vector<std::uint32_t> starts_;  // where codes with header h, or above, begin
};

// The flips of queries as masks of their headers, `sets` for each, likeliest first. `costs` has `bits` numbers for each
// query, the cost of flipping each bit; only their size counts. A query that has no more sets gets zeros.
//
// By heap: each query's own cheapest sets of at most `radius` bits, in exact order, none above `limit`.
std::vector<std::uint32_t> heap_flips(std::span<const float> costs, unsigned bits, unsigned header_bits,
                                      unsigned radius, std::size_t sets, double limit, unsigned threads);
// By template: the same ranks for all queries. Ranks are by cost, rounded to 18 bits, as in a search in memory.
std::vector<std::uint32_t> template_flips(std::span<const float> costs, unsigned bits, unsigned header_bits,
                                          std::span<const Step> steps, unsigned threads);

}  // namespace neardup
