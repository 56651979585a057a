#pragma once
// Sorting what has a hash: hashes are spread evenly, so one pass by their leading bits leaves almost nothing to do.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "cpu.hpp"

namespace neardup {

// Sorts items by the 64-bit number hash(item). Any numbers are sorted right; evenly spread ones in linear time.
template <class Items, class Hash>
void sort_by_hash(Items& items, Items& scratch, std::vector<std::uint32_t>& starts, Hash hash) {
    using Item = typename Items::value_type;
    const std::size_t n = items.size();
    const auto less = [&](const Item& a, const Item& b) { return hash(a) < hash(b); };
    if (n < 32 || n > 0xFFFFFFFFu) return std::sort(items.begin(), items.end(), less);
    const int bits = std::min(16, static_cast<int>(std::bit_width(n)) - 1), shift = 64 - bits;
    const std::size_t buckets = std::size_t{1} << bits;
    starts.assign(buckets + 1, 0);
    for (const Item& item : items) ++starts[(hash(item) >> shift) + 1];
    std::uint32_t largest = 0;
    for (std::size_t b = 1; b <= buckets; ++b) {
        largest = std::max(largest, starts[b]);
        starts[b] += starts[b - 1];
    }
    if (largest > 64 && largest > 4 * (n >> bits)) return std::sort(items.begin(), items.end(), less);
    scratch.resize(n);
    for (const Item& item : items) scratch[starts[hash(item) >> shift]++] = item;
    for (std::size_t b = 0, begin = 0; b < buckets; begin = starts[b++]) {
        const std::size_t end = starts[b];
        if (end - begin > 24) {
            std::sort(scratch.begin() + static_cast<std::ptrdiff_t>(begin),
                      scratch.begin() + static_cast<std::ptrdiff_t>(end), less);
            continue;
        }
        for (std::size_t i = begin + 1; i < end; ++i) {
            const Item item = scratch[i];
            std::size_t j = i;
            for (; j > begin && less(item, scratch[j - 1]); --j) scratch[j] = scratch[j - 1];
            scratch[j] = item;
        }
    }
    items.swap(scratch);
}

}  // namespace neardup
