#include "search/key_buckets.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

#include "parallel.hpp"
#include "sort.hpp"
#include "text/hash.hpp"

namespace neardup {

namespace {

using Entry = KeyBuckets::Entry;

// One bit for each of 8 places a row, set when a key has this place: most keys occur once, so they need no sorting.
class Seen {
  public:
    explicit Seen(std::size_t rows)
        : shift_(64 - std::max(6, static_cast<int>(std::bit_width(rows)) + 3)),
          words_(std::size_t{1} << (64 - shift_ - 6)) {}
    bool has(std::uint64_t key) const { return words_[key >> shift_ >> 6] >> (key >> shift_ & 63) & 1; }
    bool set(std::uint64_t key) {
        std::uint64_t& word = words_[key >> shift_ >> 6];
        const std::uint64_t bit = std::uint64_t{1} << (key >> shift_ & 63);
        const bool before = word & bit;
        word |= bit;
        return before;
    }

  private:
    int shift_;
    std::vector<std::uint64_t> words_;
};

std::uint64_t pack(std::uint32_t a, std::uint32_t b) {
    return std::uint64_t{std::min(a, b)} << 32 | std::max(a, b);
}

// Sorts pairs of rows below 2^bits, by digits of the right row and then of the left: several times faster than
// comparing.
void sort_pairs(std::vector<std::uint64_t>& pairs, int bits) {
    constexpr int digit = 11;
    if (pairs.size() < 4 << digit) return std::sort(pairs.begin(), pairs.end());
    std::vector<std::uint64_t> scratch(pairs.size());
    for (const int half : {0, 32})
        for (int shift = half; shift < half + bits; shift += digit) {
            // The last digit of the right row would reach into the left one's bits.
            const std::uint64_t mask = (std::uint64_t{1} << std::min(digit, half + bits - shift)) - 1;
            std::array<std::size_t, (std::size_t{1} << digit)> place{};
            for (const std::uint64_t pair : pairs) ++place[pair >> shift & mask];
            std::size_t before = 0;
            for (std::size_t& here : place) before += std::exchange(here, before);
            for (const std::uint64_t pair : pairs) scratch[place[pair >> shift & mask]++] = pair;
            pairs.swap(scratch);
        }
}

// The entries of one part of all keys that may share theirs: those whose leading bits fall to it, so that parts can be
// done side by side.
std::vector<Entry> entries_that_share(std::span<const std::uint64_t> keys, std::size_t part,
                                      std::size_t parts) {
    const auto ours = [part, parts](std::uint64_t key) { return (key >> 32) * parts >> 32 == part; };
    Seen once(keys.size()), twice(keys.size());
    std::size_t repeats = 0;
    for (const std::uint64_t key : keys)
        if (ours(key) && once.set(key)) repeats += !twice.set(key);
    std::vector<Entry> shared;
    shared.reserve(2 * repeats);
    for (std::size_t i = 0; i < keys.size(); ++i)
        if (ours(keys[i]) && twice.has(keys[i])) shared.push_back({keys[i], static_cast<std::uint32_t>(i)});
    return shared;
}

// Calls visit(bucket) for each key that several entries have. The sort keeps no order among equal keys.
template <class Visit>
void each_bucket(std::span<const Entry> sorted, Visit visit) {
    for (std::size_t begin = 0, end; begin < sorted.size(); begin = end) {
        for (end = begin + 1; end < sorted.size() && sorted[end].key == sorted[begin].key;) ++end;
        if (end - begin > 1) visit(sorted.subspan(begin, end - begin));
    }
}

void all_pairs(std::span<const Entry> bucket, KeyPairs& found) {
    for (std::size_t i = 0; i < bucket.size(); ++i)
        for (std::size_t j = i + 1; j < bucket.size(); ++j)
            found.pairs.push_back(pack(bucket[i].row, bucket[j].row));
}

void some_pairs(std::span<const Entry> whole, std::span<const std::uint64_t> then,
                std::span<const std::uint32_t> rank, std::size_t stars, std::size_t neighbours,
                KeyPairs& found) {
    std::vector<Entry> bucket(whole.begin(), whole.end());
    std::sort(bucket.begin(), bucket.end(), [rank](const Entry& a, const Entry& b) {
        return rank.empty() ? a.row < b.row : rank[a.row] < rank[b.row];
    });
    stars = std::min(stars, bucket.size());
    const std::size_t before = found.pairs.size();
    for (std::size_t i = 0; i < stars; ++i)
        for (std::size_t j = i + 1; j < bucket.size(); ++j)
            found.pairs.push_back(pack(bucket[i].row, bucket[j].row));
    const std::span<Entry> rest = std::span(bucket).subspan(stars);
    for (Entry& entry : rest) entry.key = then.empty() ? 0 : then[entry.row];
    std::sort(rest.begin(), rest.end(),
              [](const Entry& a, const Entry& b) { return a.key != b.key ? a.key < b.key : a.row < b.row; });
    for (std::size_t i = 0; i < rest.size(); ++i)
        for (std::size_t j = i + 1; j < std::min(rest.size(), i + 1 + neighbours); ++j)
            found.pairs.push_back(pack(rest[i].row, rest[j].row));
    ++found.capped;
    found.skipped +=
        static_cast<std::int64_t>(bucket.size() * (bucket.size() - 1) / 2 - (found.pairs.size() - before));
}

}  // namespace

KeyBuckets::KeyBuckets(std::span<const std::uint64_t> keys, unsigned threads)
    : rows_(keys.size()), threads_(threads), parts_(std::max(threads, 1u)) {
    in_parallel(parts_.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
        std::vector<Entry> scratch;
        std::vector<std::uint32_t> starts;
        for (std::size_t part = begin; part < end; ++part) {
            parts_[part] = entries_that_share(keys, part, parts_.size());
            sort_by_hash(parts_[part], scratch, starts, [](const Entry& entry) { return entry.key; });
        }
    });
}

Crowds KeyBuckets::crowds(std::size_t least, std::size_t sample, std::uint64_t salt) const {
    Crowds found;
    sample = std::min(sample, least);
    std::vector<std::pair<std::uint64_t, std::int64_t>> drawn;
    for (const auto& part : parts_)
        each_bucket(part, [&](std::span<const Entry> bucket) {
            if (bucket.size() <= least) return;
            found.keys.push_back(bucket.front().key);
            found.sizes.push_back(static_cast<std::int64_t>(bucket.size()));
            drawn.clear();
            for (const Entry& entry : bucket) drawn.emplace_back(mix(entry.row ^ salt), entry.row);
            const auto end = drawn.begin() + static_cast<std::ptrdiff_t>(sample);
            std::nth_element(drawn.begin(), end, drawn.end());
            const std::size_t before = found.rows.size();
            for (auto one = drawn.begin(); one != end; ++one) found.rows.push_back(one->second);
            std::sort(found.rows.begin() + static_cast<std::ptrdiff_t>(before), found.rows.end());
        });
    return found;
}

KeyPairs KeyBuckets::pairs(std::span<const std::uint64_t> then, std::span<const std::uint32_t> rank,
                           std::size_t cap, std::span<const std::uint64_t> thin) const {
    std::vector<KeyPairs> parts(parts_.size());
    in_parallel(parts.size(), threads_, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t part = begin; part < end; ++part) {
            KeyPairs& found = parts[part];
            each_bucket(parts_[part], [&](std::span<const Entry> bucket) {
                if (std::binary_search(thin.begin(), thin.end(), bucket.front().key))
                    some_pairs(bucket, then, rank, kThinStars, kThinNeighbours, found);
                else if (bucket.size() <= cap)
                    all_pairs(bucket, found);
                else
                    some_pairs(bucket, then, rank, kStars, kNeighbours, found);
            });
            sort_pairs(found.pairs, static_cast<int>(std::bit_width(rows_)));
        }
    });
    KeyPairs out = std::move(parts.front());
    for (std::size_t part = 1; part < parts.size(); ++part) {
        out.capped += parts[part].capped;
        out.skipped += parts[part].skipped;
        out.pairs = merge_pairs(out.pairs, parts[part].pairs);
        parts[part] = {};
    }
    return out;
}

std::vector<std::uint64_t> merge_pairs(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    std::vector<std::uint64_t> merged;
    merged.reserve(a.size() + b.size());
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(merged));
    return merged;
}

}  // namespace neardup
