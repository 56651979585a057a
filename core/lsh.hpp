#pragma once
// Locality-sensitive hashing of sketches: a sketch is cut into bands, and rows that agree on a whole band are
// candidates.
//
// Band b of a sketch is its values b * rows to (b + 1) * rows - 1; its key is a 64-bit hash of them, so that a join on
// (band, key) anywhere else gives the same candidates. Values past the last band are not looked at.
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

// The keys of all rows, [size, bands].
std::vector<std::uint64_t> band_keys(const BandedSketches& banded, unsigned threads);

// 128 bits for each row, [size, 2]: equal for rows with equal sketches.
std::vector<std::uint64_t> sketch_digests(const BandedSketches& banded, unsigned threads);

// Unique pairs with left < right, sorted. `capped` buckets were larger than the cap; `skipped` counts the pairs in
// them that were not listed there (another band may list them).
struct BandPairs {
    std::vector<std::int64_t> left, right;
    std::int64_t capped = 0, skipped = 0;
};

// Candidates among the rows with a zero `skip` (no `skip` at all: among all rows), below 2^32 in number. A bucket of
// more than `cap` rows lists only each row with the bucket's first kStars rows, and with the kNeighbours that follow it
// when the others are sorted by the values after the band. Beside the pairs, about 32 bytes a row
// (8 a thread when there are more than four) and 2 a thread.
constexpr std::size_t kStars = 4, kNeighbours = 8;
BandPairs band_pairs(const BandedSketches& banded, std::span<const std::uint8_t> skip, std::size_t cap,
                     unsigned threads);

}  // namespace neardup
