#pragma once
// Things met more than once, by their place in the corpus.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "buffer.hpp"
#include "sort.hpp"

namespace neardup {

// Places of things that occur at least so often, each with the first place of its equals and how many they are.
// In no particular order, but places of equal things stand together and ascend.
struct Repeated {
    std::vector<std::int64_t> places, firsts, counts;
};

// Items have a `hash`, a `place` and same(other), and order by less(other) where their hashes are equal.
template <class Item>
Repeated group(Buffer<Item>& items, std::size_t least) {
    {
        Buffer<Item> scratch;
        std::vector<std::uint32_t> starts;
        sort_by_hash(items, scratch, starts, [](const Item& item) { return item.hash; });
    }
    Repeated out;
    const auto at = [&](std::size_t i) { return items.begin() + static_cast<std::ptrdiff_t>(i); };
    for (std::size_t run = 0, behind = 0; run < items.size(); run = behind) {
        while (behind < items.size() && items[behind].hash == items[run].hash) ++behind;
        if (behind - run < std::max<std::size_t>(least, 2)) continue;
        std::sort(at(run), at(behind), [](const Item& a, const Item& b) { return a.less(b); });
        for (std::size_t begin = run, end = run; begin < behind; begin = end) {
            while (end < behind && items[end].same(items[begin])) ++end;
            if (end - begin < std::max<std::size_t>(least, 2)) continue;
            for (std::size_t i = begin; i < end; ++i) {
                out.places.push_back(items[i].place);
                out.firsts.push_back(items[begin].place);
                out.counts.push_back(static_cast<std::int64_t>(end - begin));
            }
        }
    }
    return out;
}

}  // namespace neardup
