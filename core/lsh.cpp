#include "lsh.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <utility>

#include "buffer.hpp"
#include "hash.hpp"
#include "parallel.hpp"
#include "sort.hpp"

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

// One bit for each of 8 places a row, set when a key falls there: most keys stand alone, and so never need sorting.
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

// What one band found, pairs packed left first.
struct Found {
    std::vector<std::uint64_t> pairs;
    std::int64_t capped = 0, skipped = 0;
};

class Banding {
  public:
    Banding(const BandedSketches& banded, std::span<const std::uint32_t> chosen, std::size_t cap)
        : banded_(banded), chosen_(chosen), cap_(cap) {}

    // The pairs of one band, sorted; `keys` are the band's, of all chosen rows.
    Found run(std::size_t band, std::span<const std::uint64_t> keys) const {
        Found found;
        std::vector<Keyed> shared = rows_that_share(keys);
        std::vector<Keyed> scratch;
        std::vector<std::uint32_t> starts;
        sort_by_hash(shared, scratch, starts, [](const Keyed& entry) { return entry.key; });
        for (std::size_t begin = 0, end; begin < shared.size(); begin = end) {
            for (end = begin + 1; end < shared.size() && shared[end].key == shared[begin].key;) ++end;
            if (end - begin < 2) continue;
            const std::span<Keyed> bucket{shared.data() + begin, end - begin};
            // The sort keeps no order among equal keys.
            const auto by_row = [](const Keyed& a, const Keyed& b) { return a.row < b.row; };
            if (!std::is_sorted(bucket.begin(), bucket.end(), by_row))
                std::sort(bucket.begin(), bucket.end(), by_row);
            if (bucket.size() <= cap_)
                all_pairs(bucket, found);
            else
                some_pairs(bucket, band, found);
        }
        sort_pairs(found.pairs, static_cast<int>(std::bit_width(banded_.size())));
        return found;
    }

  private:
    std::vector<Keyed> rows_that_share(std::span<const std::uint64_t> keys) const {
        Seen once(keys.size()), twice(keys.size());
        std::size_t repeats = 0;
        for (const std::uint64_t key : keys)
            if (once.set(key)) repeats += !twice.set(key);
        std::vector<Keyed> shared;
        shared.reserve(2 * repeats);
        for (std::size_t i = 0; i < chosen_.size(); ++i)
            if (twice.has(keys[i])) shared.push_back({keys[i], chosen_[i]});
        return shared;
    }

    static void all_pairs(std::span<const Keyed> bucket, Found& found) {
        for (std::size_t i = 0; i < bucket.size(); ++i)
            for (std::size_t j = i + 1; j < bucket.size(); ++j)
                found.pairs.push_back(pack(bucket[i].row, bucket[j].row));
    }

    void some_pairs(std::span<const Keyed> bucket, std::size_t band, Found& found) const {
        const std::size_t stars = std::min(kStars, bucket.size()), before = found.pairs.size();
        for (std::size_t i = 0; i < stars; ++i)
            for (std::size_t j = i + 1; j < bucket.size(); ++j)
                found.pairs.push_back(pack(bucket[i].row, bucket[j].row));

        struct Rest {
            std::array<std::uint32_t, 4> values;
            std::uint32_t row;
            auto operator<=>(const Rest&) const = default;
        };
        std::vector<Rest> rest;
        const std::size_t used = banded_.bands * banded_.rows;
        for (const Keyed& entry : bucket.subspan(stars)) {
            Rest one{{}, entry.row};
            const std::uint32_t* sketch = banded_.of(entry.row);
            for (std::size_t k = 0; k < one.values.size(); ++k)
                one.values[k] = sketch[((band + 1) * banded_.rows + k) % used];
            rest.push_back(one);
        }
        std::sort(rest.begin(), rest.end());
        for (std::size_t i = 0; i < rest.size(); ++i)
            for (std::size_t j = i + 1; j < std::min(rest.size(), i + 1 + kNeighbours); ++j)
                found.pairs.push_back(pack(rest[i].row, rest[j].row));
        ++found.capped;
        found.skipped += static_cast<std::int64_t>(bucket.size() * (bucket.size() - 1) / 2 -
                                                   (found.pairs.size() - before));
    }

    const BandedSketches& banded_;
    std::span<const std::uint32_t> chosen_;
    std::size_t cap_;
};

}  // namespace

std::vector<std::uint64_t> band_keys(const BandedSketches& banded, unsigned threads) {
    std::vector<std::uint64_t> keys(banded.size() * banded.bands);
    in_parallel(banded.size(), threads, 4096, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row)
            for (std::size_t band = 0; band < banded.bands; ++band)
                keys[row * banded.bands + band] = key_of(banded.of(row, band), banded.rows);
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

BandPairs band_pairs(const BandedSketches& banded, std::span<const std::uint8_t> skip, std::size_t cap,
                     unsigned threads) {
    std::vector<std::uint32_t> chosen;
    for (std::size_t row = 0; row < banded.size(); ++row)
        if (skip.empty() || !skip[row]) chosen.push_back(static_cast<std::uint32_t>(row));
    const Banding banding(banded, chosen, cap);
    BandPairs out;
    std::vector<std::uint64_t> pairs, merged;
    // Keys of a few bands are made in one pass over the sketches, which is what reads most memory. Then as many bands as
    // threads are paired and merged, where pairs met in an earlier band are dropped: no more than that is held twice.
    const std::size_t together = std::max<std::size_t>(threads, 4), rows = chosen.size();
    Buffer<std::uint64_t> keys(std::min(together, banded.bands) * rows);
    std::vector<Found> found(threads);
    for (std::size_t wave = 0; wave < banded.bands; wave += together) {
        const std::size_t count = std::min(together, banded.bands - wave);
        in_parallel(rows, threads, 4096, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                for (std::size_t k = 0; k < count; ++k)
                    keys[k * rows + i] = key_of(banded.of(chosen[i], wave + k), banded.rows);
        });
        for (std::size_t start = 0; start < count; start += threads) {
            const std::size_t now = std::min<std::size_t>(threads, count - start);
            in_parallel(now, threads, 1, [&](std::size_t t, std::size_t) {
                found[t] = banding.run(wave + start + t, {keys.data() + (start + t) * rows, rows});
            });
            for (std::size_t t = 0; t < now; ++t) {
                out.capped += found[t].capped;
                out.skipped += found[t].skipped;
                merged.clear();
                merged.reserve(pairs.size() + found[t].pairs.size());
                std::set_union(pairs.begin(), pairs.end(), found[t].pairs.begin(), found[t].pairs.end(),
                               std::back_inserter(merged));
                pairs.swap(merged);
                found[t] = {};
            }
        }
    }
    out.left.resize(pairs.size());
    out.right.resize(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        out.left[i] = static_cast<std::int64_t>(pairs[i] >> 32);
        out.right[i] = static_cast<std::int64_t>(pairs[i] & 0xFFFFFFFFu);
    }
    return out;
}

}  // namespace neardup
