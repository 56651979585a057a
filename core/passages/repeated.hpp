#pragma once
// Items that occur more than once, by their place in the corpus.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "parallel.hpp"

namespace neardup {

// Places of items that occur at least a given number of times, each with the first place of its equals and their count.
// The order is arbitrary, but places of equal items are next to each other and ascend.
struct Repeated {
    std::vector<std::int64_t> places, firsts, counts;
};

// Sorts items by less(a, b), which must agree with key(item), a number of 64 bits: items are put into buckets by its
// leading bits, then each bucket is sorted. Unlike sort_by_hash it is also fast when thousands of keys are equal.
template <class Item, class Key, class Less>
void sort_in_buckets(Buffer<Item>& items, unsigned threads, Key key, Less less) {
    const std::size_t n = items.size();
    if (n < 64) return std::sort(items.begin(), items.end(), less);
    const int bits = std::min(16, static_cast<int>(std::bit_width(n)) - 4), shift = 64 - bits;
    std::vector<std::size_t> ends((std::size_t{1} << bits) + 1);
    for (const Item& item : items) ++ends[(key(item) >> shift) + 1];
    for (std::size_t b = 1; b < ends.size(); ++b) ends[b] += ends[b - 1];
    Buffer<Item> sorted(n);
    for (const Item& item : items) sorted[ends[key(item) >> shift]++] = item;
    in_parallel(ends.size() - 1, threads, 64, [&](std::size_t from, std::size_t to) {
        for (std::size_t b = from; b < to; ++b) {
            const auto begin = static_cast<std::ptrdiff_t>(b == 0 ? 0 : ends[b - 1]);
            std::sort(sorted.begin() + begin, sorted.begin() + static_cast<std::ptrdiff_t>(ends[b]), less);
        }
    });
    items.swap(sorted);
}

// Items have a `hash`, a `place`, same(other) and an order less(other) by hash and then place.
template <class Item>
Repeated group(Buffer<Item>& items, std::size_t least, unsigned threads) {
    sort_in_buckets(
        items, threads, [](const Item& item) { return item.hash; },
        [](const Item& a, const Item& b) { return a.less(b); });
    Repeated out;
    for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
        while (end < items.size() && items[end].same(items[begin])) ++end;
        if (end - begin < std::max<std::size_t>(least, 2)) continue;
        for (std::size_t i = begin; i < end; ++i) {
            out.places.push_back(items[i].place);
            out.firsts.push_back(items[begin].place);
            out.counts.push_back(static_cast<std::int64_t>(end - begin));
        }
    }
    return out;
}

}  // namespace neardup
