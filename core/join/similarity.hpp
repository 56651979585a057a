#pragma once
// Similarities of pairs of rows, many pairs in one call. Sums run over ascending hashes one after another, so that the
// last bit of an answer depends neither on threads nor on the CPU.
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

// Ragged rows: row i is hashes[offsets[i] .. offsets[i + 1]], its hashes unique and ascending. Weights may be absent.
struct RaggedRows {
    std::span<const std::uint64_t> hashes;
    std::span<const float> weights;
    std::span<const std::int64_t> offsets;

    std::span<const std::uint64_t> hashes_of(std::int64_t row) const { return part(hashes, row); }
    std::span<const float> weights_of(std::int64_t row) const { return part(weights, row); }

  private:
    template <class T>
    std::span<const T> part(std::span<const T> column, std::int64_t row) const {
        const auto i = static_cast<std::size_t>(row);
        return column.subspan(static_cast<std::size_t>(offsets[i]),
                              static_cast<std::size_t>(offsets[i + 1] - offsets[i]));
    }
};

// Pair i is row left[i] of one table with row right[i] of another (or of the same).
struct PairRows {
    std::span<const std::int64_t> left, right;
};

// How many hashes the rows of each pair share.
std::vector<std::int64_t> shared_features(const RaggedRows& left, const RaggedRows& right, PairRows pairs,
                                          unsigned threads);

// Of each pair's weight vectors: dot product, squared lengths, squared distance.
struct Products {
    std::vector<double> dot, left_square, right_square, distance_square;
};
Products weighted_products(const RaggedRows& left, const RaggedRows& right, PairRows pairs, unsigned threads);

// Hamming distances of codes of `words` words each.
std::vector<std::int32_t> hamming_distances(std::span<const std::uint64_t> left,
                                            std::span<const std::uint64_t> right, std::size_t words,
                                            PairRows pairs, unsigned threads);

// In how many places two sketches agree.
std::vector<std::int32_t> equal_values(std::span<const std::uint32_t> left,
                                       std::span<const std::uint32_t> right, std::size_t values,
                                       PairRows pairs, unsigned threads);

// The same of sketches packed to b bits a value (pack_low_bits), b in {1, 2, 4, 8, 16}.
std::vector<std::int32_t> equal_packed(std::span<const std::uint8_t> left,
                                       std::span<const std::uint8_t> right, std::size_t values, unsigned b,
                                       PairRows pairs, unsigned threads);

}  // namespace neardup
