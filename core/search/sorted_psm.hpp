#pragma once
// Probabilistic simhash matching as the paper has it (Sood and Loguinov 2011, section 6.2): one sorted copy of the
// codes, the place of each header's first code in a table of 2^t, and a heap of flips for each query. The baseline of
// psm.hpp: one query at a time, one lookup after another, no prefetching; see sorted_tables.hpp.
#include <cstdint>
#include <span>

#include "search/sorted_tables.hpp"

namespace neardup {

class SortedPsm {
  public:
    // A header of `header_bits` bits, 1 to 32.
    SortedPsm(unsigned bits, unsigned radius, std::span<const std::uint64_t> codes,
              std::span<const std::uint32_t> numbers, unsigned header_bits);

    unsigned bits() const { return copy_.layout.bits(); }
    unsigned header_bits() const { return header_bits_; }
    std::size_t rows() const { return copy_.rows.size(); }
    std::size_t bytes() const { return copy_.codes.bytes() + starts_.bytes(); }
    std::size_t row_bytes() const { return copy_.rows.bytes(); }

    // Each query's own header, then its `flips` likeliest, from `costs`: the cost of flipping each bit, `bits` a query,
    // only their size counts. A set leaves the heap when it is asked, so in mode first few are made.
    Hits search(std::span<const std::uint64_t> queries, std::span<const float> costs, std::size_t flips,
                const Request& request) const;

  private:
    template <class Word>
    Hits search_as(std::span<const std::uint64_t> queries, std::span<const float> costs, std::size_t flips,
                   const Request& request) const;

    unsigned radius_, header_bits_;
    SortedCopy copy_;
    Pages<std::uint32_t> starts_;
};

}  // namespace neardup
