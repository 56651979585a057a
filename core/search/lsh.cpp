#include "search/lsh.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

#include "buffer.hpp"
#include "parallel.hpp"
#include "sort.hpp"
#include "text/hash.hpp"

namespace neardup {

namespace {

constexpr std::uint64_t kStart = 0x9E3779B97F4A7C15u;

// A chain of bijections, two values at a time: sequences of one length that differ in one step never collide there.
std::uint64_t key_of(const std::uint32_t* values, std::size_t count, std::uint64_t key = kStart) {
    std::size_t i = 0;
    for (; i + 1 < count; i += 2) key = mix(key ^ (values[i] | std::uint64_t{values[i + 1]} << 32));
    if (i < count) key = mix(key ^ values[i]);
    return key;
}

struct Keyed {
    std::uint64_t key;
    std::uint32_t row;
};

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

// The buckets of one part of all keys: those whose leading bits fall to it, so that parts can be done side by side.
class Buckets {
  public:
    Buckets(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> then,
            std::span<const std::uint32_t> rank, std::size_t cap)
        : keys_(keys), then_(then), rank_(rank), cap_(cap) {}

    KeyPairs run(std::size_t part, std::size_t parts) const {
        KeyPairs found;
        std::vector<Keyed> shared = rows_that_share(part, parts);
        std::vector<Keyed> scratch;
        std::vector<std::uint32_t> starts;
        sort_by_hash(shared, scratch, starts, [](const Keyed& entry) { return entry.key; });
        for (std::size_t begin = 0, end; begin < shared.size(); begin = end) {
            for (end = begin + 1; end < shared.size() && shared[end].key == shared[begin].key;) ++end;
            if (end - begin < 2) continue;
            const std::span<Keyed> bucket{shared.data() + begin, end - begin};
            // The sort keeps no order among equal keys; where all pairs are listed, none is needed.
            if (bucket.size() <= cap_)
                all_pairs(bucket, found);
            else
                some_pairs(bucket, found);
        }
        sort_pairs(found.pairs, static_cast<int>(std::bit_width(keys_.size())));
        return found;
    }

  private:
    std::vector<Keyed> rows_that_share(std::size_t part, std::size_t parts) const {
        const auto ours = [part, parts](std::uint64_t key) { return (key >> 32) * parts >> 32 == part; };
        Seen once(keys_.size()), twice(keys_.size());
        std::size_t repeats = 0;
        for (const std::uint64_t key : keys_)
            if (ours(key) && once.set(key)) repeats += !twice.set(key);
        std::vector<Keyed> shared;
        shared.reserve(2 * repeats);
        for (std::size_t i = 0; i < keys_.size(); ++i)
            if (ours(keys_[i]) && twice.has(keys_[i]))
                shared.push_back({keys_[i], static_cast<std::uint32_t>(i)});
        return shared;
    }

    static void all_pairs(std::span<const Keyed> bucket, KeyPairs& found) {
        for (std::size_t i = 0; i < bucket.size(); ++i)
            for (std::size_t j = i + 1; j < bucket.size(); ++j)
                found.pairs.push_back(pack(bucket[i].row, bucket[j].row));
    }

    void some_pairs(std::span<Keyed> bucket, KeyPairs& found) const {
        std::sort(bucket.begin(), bucket.end(), [this](const Keyed& a, const Keyed& b) {
            return rank_.empty() ? a.row < b.row : rank_[a.row] < rank_[b.row];
        });
        const std::size_t stars = std::min(kStars, bucket.size()), before = found.pairs.size();
        for (std::size_t i = 0; i < stars; ++i)
            for (std::size_t j = i + 1; j < bucket.size(); ++j)
                found.pairs.push_back(pack(bucket[i].row, bucket[j].row));
        std::vector<Keyed> rest(bucket.begin() + static_cast<std::ptrdiff_t>(stars), bucket.end());
        for (Keyed& entry : rest) entry.key = then_.empty() ? 0 : then_[entry.row];
        std::sort(rest.begin(), rest.end(), [](const Keyed& a, const Keyed& b) {
            return a.key != b.key ? a.key < b.key : a.row < b.row;
        });
        for (std::size_t i = 0; i < rest.size(); ++i)
            for (std::size_t j = i + 1; j < std::min(rest.size(), i + 1 + kNeighbours); ++j)
                found.pairs.push_back(pack(rest[i].row, rest[j].row));
        ++found.capped;
        found.skipped += static_cast<std::int64_t>(bucket.size() * (bucket.size() - 1) / 2 -
                                                   (found.pairs.size() - before));
    }

    std::span<const std::uint64_t> keys_, then_;
    std::span<const std::uint32_t> rank_;
    std::size_t cap_;
};

}  // namespace

std::vector<std::uint64_t> band_keys(const BandedSketches& banded, std::size_t first, std::size_t count,
                                     unsigned threads) {
    const std::size_t size = banded.size();
    std::vector<std::uint64_t> keys(size * count);
    in_parallel(size, threads, 4096, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row)
            for (std::size_t band = 0; band < count; ++band)
                keys[band * size + row] = key_of(banded.of(row, first + band), banded.rows);
    });
    return keys;
}

std::vector<std::uint64_t> sketch_digests(const BandedSketches& banded, unsigned threads) {
    std::vector<std::uint64_t> digests(banded.size() * 2);
    in_parallel(banded.size(), threads, 4096, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            // Two chains that start apart: together they are 128 bits.
            digests[2 * row] = key_of(banded.of(row), banded.values);
            digests[2 * row + 1] = key_of(banded.of(row), banded.values, ~kStart);
        }
    });
    return digests;
}

KeyPairs key_pairs(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> then,
                   std::span<const std::uint32_t> rank, std::size_t cap, unsigned threads) {
    const Buckets buckets(keys, then, rank, cap);
    std::vector<KeyPairs> parts(std::max(threads, 1u));
    in_parallel(parts.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t part = begin; part < end; ++part) parts[part] = buckets.run(part, parts.size());
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
