#pragma once
// All pairs of codes within a radius, of one set or between two: exact, as a stream, in bounded memory.
//
// Each table of a design brings together the codes that agree on its key; any two codes within the radius
// agree on one key at least. Tables are taken one after another over the same scratch memory (8, 12 or 20
// bytes a row for codes of 32, 64 or 128 bits), with sequential passes only; see partition.hpp and walk.hpp.
//
// The order of the pairs is fixed: by table, then partition, then bucket, then rows; the number of threads
// and the sizes asked for change nothing.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "join/partition.hpp"

namespace neardup {

struct PairColumns {
    std::vector<std::int64_t> left, right;
    std::vector<std::uint8_t> distance;
};

class Join {
  public:
    // One set: pairs left < right of its rows. Two sets: pairs of a row of the first and a row of the
    // second. The sets are read until the stream ends. `masks` are the keys of a design that covers the
    // radius; fewer than 2^32 rows.
    Join(std::span<const RowSet> sets, int bits, int radius, std::span<const Mask> masks, unsigned threads);
    Join(Join&&) noexcept;
    ~Join();

    // The next `most` pairs, or what is left; no pairs mean the end.
    PairColumns next(std::size_t most);

    // Ties all remaining pairs of one set together without ever holding them: labels by row, each the
    // smallest row it hangs together with.
    std::vector<std::int64_t> labels();

    struct Stream;

  private:
    std::unique_ptr<Stream> stream_;
};

}  // namespace neardup
