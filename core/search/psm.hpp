#pragma once
// Probabilistic simhash matching (Sood and Loguinov, section 6.2): one table over the most significant bits. A query
// looks up its own header, then the headers most likely to have come of it, and reads each bucket with what remains of
// the radius. Which flips are likely follows from the margins, so some neighbours are missed: the fewer, the more
// probes.
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "search/tables.hpp"
#include "search/vosh.hpp"

namespace neardup {

// How a query's bits rank, weakest first: from `costs` (bits per query, the cost of flipping each; only their size
// counts), or from `ranks` (a fixed number of bit numbers per query, weakest first; other bits are never flipped).
struct Volatility {
    std::span<const float> costs;
    std::span<const std::uint8_t> ranks;
    std::size_t ranks_per_query = 0;
};

// How many flips of its own order each query tries.
struct OwnFlips {
    std::size_t sets;
    double limit = std::numeric_limits<double>::infinity();
};

class Psm {
  public:
    // A header of `header_bits` bits; 0: floor(log2(codes)).
    Psm(unsigned bits, unsigned radius, std::span<const std::uint64_t> codes,
        std::span<const std::uint32_t> rows, unsigned header_bits, unsigned threads);

    const Tables& tables() const { return tables_; }
    unsigned header_bits() const { return header_bits_; }

    // With a template every query flips the same ranks in the same order: fast, and almost as good.
    Hits search(std::span<const std::uint64_t> queries, const Volatility& volatility,
                std::span<const Step> steps, const Request& request) const;
    // Without, each query's likeliest sets are found in exact order from its own costs: `flips.sets` of them at most, and
    // none that costs more than `flips.limit`.
    Hits search(std::span<const std::uint64_t> queries, const Volatility& volatility, const OwnFlips& flips,
                const Request& request) const;

  private:
    unsigned header_bits_;
    Tables tables_;
};

}  // namespace neardup
