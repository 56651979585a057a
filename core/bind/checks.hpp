#pragma once
// Checks of arguments. A hostile array must end in ValueError, never in a read outside of it.
#include <algorithm>

#include <cmath>

#include "bind/module.hpp"
#include "join/similarity.hpp"

namespace neardup {

inline void check_that(bool holds, const char* message) {
    if (!holds) throw nb::value_error(message);
}

inline unsigned check_threads(int threads) {
    check_that(threads >= 1 && threads <= 1024, "threads must be from 1 to 1024");
    return static_cast<unsigned>(threads);
}

// The number of words of a code.
inline unsigned check_bits(unsigned bits) {
    check_that(bits == 32 || bits == 64 || bits == 128, "bits must be 32, 64 or 128");
    return bits > 64 ? 2 : 1;
}

template <class First, class... Others>
void check_lengths(const First& first, const Others&... others) {
    check_that(((first.shape(0) == others.shape(0)) && ...), "columns differ in length");
}

inline void check_row_count(std::size_t rows) {
    check_that(rows < std::uint64_t{1} << 32, "at most 2**32 - 1 rows; use the batch on disk");
}

// All rows are below `limit`.
inline void check_rows(std::span<const std::int64_t> rows, std::size_t limit) {
    const auto inside = [limit](std::int64_t row) {
        return row >= 0 && static_cast<std::size_t>(row) < limit;
    };
    check_that(std::all_of(rows.begin(), rows.end(), inside), "a row number is out of range");
}

// Offsets of ragged rows over `size` values.
inline void check_offsets(std::span<const std::int64_t> offsets, std::size_t size) {
    check_that(!offsets.empty() && offsets.front() == 0 &&
                   offsets.back() == static_cast<std::int64_t>(size) &&
                   std::is_sorted(offsets.begin(), offsets.end()),
               "offsets must ascend from 0 to the number of values");
}

inline void check_weights(std::span<const float> weights, std::size_t size) {
    check_that(weights.size() == size, "there must be one weight for each feature");
    const auto finite = [](float weight) { return std::isfinite(weight); };
    check_that(std::all_of(weights.begin(), weights.end(), finite), "weights must be finite");
}

// Rows of features, and pairs of rows.
inline RaggedRows rows_of(const Hashes& hashes, const Longs& offsets) {
    check_offsets(view(offsets), hashes.shape(0));
    return {view(hashes), {}, view(offsets)};
}
inline RaggedRows rows_of(const Hashes& hashes, const Floats& weights, const Longs& offsets) {
    check_offsets(view(offsets), hashes.shape(0));
    check_weights(view(weights), hashes.shape(0));
    return {view(hashes), view(weights), view(offsets)};
}
inline PairRows pairs_of(const Longs& left, const Longs& right, std::size_t left_rows,
                         std::size_t right_rows) {
    check_lengths(left, right);
    check_rows(view(left), left_rows);
    check_rows(view(right), right_rows);
    return {view(left), view(right)};
}
// Pairs of two different rows of one set.
inline PairRows pairs_of(const Longs& left, const Longs& right, std::size_t rows) {
    const PairRows pairs = pairs_of(left, right, rows, rows);
    for (std::size_t i = 0; i < pairs.left.size(); ++i)
        check_that(pairs.left[i] != pairs.right[i], "a pair names one row twice");
    return pairs;
}

}  // namespace neardup
