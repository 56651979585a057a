#pragma once
// Checks of arguments. A hostile array must end in ValueError, never in a read outside of it.
#include <algorithm>

#include "bind/module.hpp"

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

}  // namespace neardup
