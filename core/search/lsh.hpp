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

}  // namespace neardup
