#pragma once
// Locality-sensitive hashing of sketches: a sketch is cut into bands, and rows that agree on a whole band are
// candidates.
//
// Band b of a sketch is its values b * rows to (b + 1) * rows - 1; its key is a 64-bit hash of them, so that a join on
// (band, key) anywhere else gives the same candidates. Values past the last band are ignored.
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

// Sketches of `values` values each, cut into `bands` bands of `rows` values; bands * rows <= values.
struct BandedSketches {
    std::span<const std::uint32_t> sketches;
    std::size_t values, bands, rows;

    std::size_t size() const { return sketches.size() / values; }
    const std::uint32_t* of(std::size_t row) const { return sketches.data() + row * values; }
    const std::uint32_t* of(std::size_t row, std::size_t band) const { return of(row) + band * rows; }
};

// The keys of bands `first` to `first + count - 1`, [count, size]: the keys of a band are contiguous, for the join.
std::vector<std::uint64_t> band_keys(const BandedSketches& banded, std::size_t first, std::size_t count,
                                     unsigned threads);

// 128 bits for each row, [size, 2]: equal for rows with equal sketches.
std::vector<std::uint64_t> sketch_digests(const BandedSketches& banded, unsigned threads);

// Pairs of rows packed into one number, the smaller row in the high half: unique and ascending. `capped` buckets were
// larger than the cap; `skipped` counts the pairs in them that were not listed (another band may list them).
struct KeyPairs {
    std::vector<std::uint64_t> pairs;
    std::int64_t capped = 0, skipped = 0;
};

// The pairs of rows with equal keys, below 2^32 rows. A bucket of more than `cap` rows lists only each row with the
// bucket's first kStars rows, and with the kNeighbours that follow it when the others are sorted by `then`, the keys of
// another band, or by row if there is none. The first rows are those of the smallest `rank`, if it is given. Needs 2 to
// 34 bytes per row beside the pairs, depending on how many rows share a key.
constexpr std::size_t kStars = 4, kNeighbours = 8;
KeyPairs key_pairs(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> then,
                   std::span<const std::uint32_t> rank, std::size_t cap, unsigned threads);

// The union of two ascending columns of unique packed pairs.
std::vector<std::uint64_t> merge_pairs(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b);

}  // namespace neardup
