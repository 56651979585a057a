#include "passages/suffix_array.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace neardup {

namespace {

struct Range {
    std::uint32_t low, high;
};

// Sorts by key. Of a word repeated without end most keys are equal: those are set apart first, and need no sorting.
template <class Places, class Key>
void sort_by_key(Places first, Places last, Key key) {
    const auto less = [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); };
    constexpr std::ptrdiff_t kFew = 64;
    if (last - first < kFew) return std::sort(first, last, less);
    const std::uint64_t middle = key(first[(last - first) / 2]);
    const Places same = std::partition(first, last, [&](std::uint32_t place) { return key(place) < middle; });
    const Places rest = std::partition(same, last, [&](std::uint32_t place) { return key(place) == middle; });
    std::sort(first, same, less);
    std::sort(rest, last, less);
}

}  // namespace

std::vector<std::uint32_t> suffix_array(std::span<const std::int64_t> letters) {
    if (letters.size() > 0xFFFFFFFEu) throw std::length_error("too many letters for a suffix array");
    const auto n = static_cast<std::uint32_t>(letters.size());
    std::vector<std::uint32_t> suffixes(n), rank(n);
    std::iota(suffixes.begin(), suffixes.end(), 0u);
    std::sort(suffixes.begin(), suffixes.end(), [&](std::uint32_t a, std::uint32_t b) {
        return letters[a] != letters[b] ? letters[a] < letters[b] : a < b;
    });
    std::vector<Range> equal, next;  // ranges of the array whose suffixes are still equal
    const auto split = [&](Range range, auto same, std::vector<Range>& out) {
        for (std::uint32_t low = range.low, high = low; low < range.high; low = high) {
            while (high < range.high && same(suffixes[low], suffixes[high])) ++high;
            out.push_back({low, high});
        }
    };
    split({0, n}, [&](std::uint32_t a, std::uint32_t b) { return letters[a] == letters[b]; }, equal);
    for (std::uint64_t known = 1;; known *= 2) {
        for (const Range range : equal)
            for (std::uint32_t i = range.low; i < range.high; ++i) rank[suffixes[i]] = range.low;
        std::erase_if(equal, [](Range range) { return range.high - range.low < 2; });
        if (equal.empty()) return suffixes;
        // Ranks do not change during a round; a suffix that ends here comes before all others.
        const auto key = [&](std::uint32_t place) -> std::uint64_t {
            return place + known < n ? rank[place + known] + std::uint64_t{1} : 0;
        };
        next.clear();
        for (const Range range : equal) {
            sort_by_key(suffixes.begin() + range.low, suffixes.begin() + range.high, key);
            split(range, [&](std::uint32_t a, std::uint32_t b) { return key(a) == key(b); }, next);
        }
        equal.swap(next);
    }
}

std::vector<std::uint32_t> shared_prefixes(std::span<const std::int64_t> letters,
                                           std::span<const std::uint32_t> suffixes) {
    const std::size_t n = letters.size();
    std::vector<std::uint32_t> rank(n), shared(n);
    for (std::size_t i = 0; i < n; ++i) rank[suffixes[i]] = static_cast<std::uint32_t>(i);
    std::size_t same = 0;  // dropping the first letter loses at most one shared letter
    for (std::size_t place = 0; place < n; ++place) {
        if (rank[place] == 0) {
            same = 0;
            continue;
        }
        const std::size_t other = suffixes[rank[place] - 1];
        while (place + same < n && other + same < n && letters[place + same] == letters[other + same]) ++same;
        shared[rank[place]] = static_cast<std::uint32_t>(same);
        if (same > 0) --same;
    }
    return shared;
}

MaximalRepeats maximal_repeats(std::span<const std::int64_t> letters, std::span<const std::uint32_t> suffixes,
                               std::span<const std::uint32_t> shared) {
    const std::size_t n = suffixes.size();
    MaximalRepeats out;
    if (n == 0) return out;
    // The last place in the array up to i where the letter before a suffix differs from that of the one above it.
    std::vector<std::uint32_t> changed(n);
    for (std::size_t i = 1; i < n; ++i) {
        const std::size_t a = suffixes[i - 1], b = suffixes[i];
        const bool differs = a == 0 || b == 0 || letters[a - 1] != letters[b - 1];
        changed[i] = differs ? static_cast<std::uint32_t>(i) : changed[i - 1];
    }
    struct Open {
        std::uint32_t low, length;
    };
    std::vector<Open> open{{0, 0}};
    for (std::size_t i = 1; i <= n; ++i) {
        const std::uint32_t length = i < n ? shared[i] : 0;
        auto low = static_cast<std::uint32_t>(i - 1);
        while (open.back().length > length) {
            const Open closed = open.back();
            open.pop_back();
            low = closed.low;
            if (changed[i - 1] > closed.low) {
                out.lows.push_back(closed.low);
                out.highs.push_back(static_cast<std::uint32_t>(i));
                out.lengths.push_back(closed.length);
            }
        }
        if (open.back().length < length) open.push_back({low, length});
    }
    return out;
}

}  // namespace neardup
