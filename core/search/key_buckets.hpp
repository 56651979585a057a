#pragma once
// The general join on keys: rows with equal keys form a bucket, and the pairs of a bucket are candidates.
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

// Pairs of rows packed into one number, the smaller row in the high half: unique and ascending. `capped` buckets listed
// only some of their pairs; `skipped` counts those that were not listed (another table may list them).
struct KeyPairs {
    std::vector<std::uint64_t> pairs;
    std::int64_t capped = 0, skipped = 0;
};

// Large buckets: the key of each, ascending, its number of rows, and a sample of its rows, [buckets, sample].
struct Crowds {
    std::vector<std::uint64_t> keys;
    std::vector<std::int64_t> sizes, rows;
};

// How many first rows each row of a bucket beyond the cap is paired with, and how many rows that follow it.
constexpr std::size_t kStars = 4, kNeighbours = 8;
// The same for a bucket of `thin`.
constexpr std::size_t kThinStars = 0, kThinNeighbours = 1;

// The buckets of one table of keys, of below 2^32 rows. Needs 2 to 34 bytes per row beside the pairs, depending on how
// many rows share a key.
class KeyBuckets {
  public:
    KeyBuckets(std::span<const std::uint64_t> keys, unsigned threads);

    std::size_t rows() const { return rows_; }

    // The buckets of more than `least` rows, with `sample` rows of each (at most `least`): those with the smallest
    // mix(row ^ salt), ascending. So most tables name the same rows of a group, and none can be known without the salt.
    Crowds crowds(std::size_t least, std::size_t sample, std::uint64_t salt) const;

    // All pairs of rows with equal keys. A bucket of more than `cap` rows lists only each row with the bucket's first
    // kStars rows, and with the kNeighbours that follow it when the others are sorted by `then`, the keys of another
    // table, or by row if there is none. The first rows are those of the smallest `rank`, if it is given. Buckets whose
    // keys are in `thin`, which ascends, list still fewer pairs, whatever their size.
    KeyPairs pairs(std::span<const std::uint64_t> then, std::span<const std::uint32_t> rank, std::size_t cap,
                   std::span<const std::uint64_t> thin) const;

    struct Entry {
        std::uint64_t key;
        std::uint32_t row;
    };

  private:
    std::size_t rows_;
    unsigned threads_;
    std::vector<std::vector<Entry>>
        parts_;  // entries that may share a key, sorted by key; keys ascend over the parts
};

// The union of two ascending columns of unique packed pairs.
std::vector<std::uint64_t> merge_pairs(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

}  // namespace neardup
