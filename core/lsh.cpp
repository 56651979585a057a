#include "lsh.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

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

// What one band found, pairs packed left first; rows in a capped bucket are marked when there are any.
struct Found {
    std::vector<std::uint64_t> pairs;
    std::vector<std::uint8_t> in_capped;
    std::int64_t capped = 0, skipped = 0;
};

class Banding {
  public:
    Banding(const BandedSketches& banded, std::span<const std::uint32_t> chosen, std::size_t cap)
        : banded_(banded), chosen_(chosen), cap_(cap), found_(banded.bands) {}

    Found& operator[](std::size_t band) { return found_[band]; }

    // Pairs of this band that no uncapped bucket of the bands before `known` has listed; those must be done. `keys` are
    // the band's, of all chosen rows.
    void run(std::size_t band, std::size_t known, std::span<const std::uint64_t> keys) {
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
                all_pairs(bucket, band, known);
            else
                some_pairs(bucket, band);
        }
        std::vector<std::uint64_t>& pairs = found_[band].pairs;
        std::sort(pairs.begin(), pairs.end());
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

    bool listed(std::uint32_t a, std::uint32_t b, std::size_t known) const {
        for (std::size_t band = 0; band < known; ++band) {
            if (!found_[band].in_capped.empty() && found_[band].in_capped[a]) continue;
            const std::uint32_t *x = banded_.of(a, band), *y = banded_.of(b, band);
            if (std::equal(x, x + banded_.rows, y)) return true;
        }
        return false;
    }

    void add(std::uint32_t a, std::uint32_t b, std::size_t band, std::size_t known) {
        if (!listed(a, b, known)) found_[band].pairs.push_back(pack(a, b));
    }

    void all_pairs(std::span<const Keyed> bucket, std::size_t band, std::size_t known) {
        for (std::size_t i = 0; i < bucket.size(); ++i)
            for (std::size_t j = i + 1; j < bucket.size(); ++j)
                add(bucket[i].row, bucket[j].row, band, known);
    }

    void some_pairs(std::span<const Keyed> bucket, std::size_t band) {
        Found& found = found_[band];
        if (found.in_capped.empty()) found.in_capped.resize(banded_.size());
        for (const Keyed& entry : bucket) found.in_capped[entry.row] = 1;
        const std::size_t stars = std::min(kStars, bucket.size());
        // Near-linear in number, and in large part new: cheaper listed again than looked up.
        const std::size_t before = found.pairs.size();
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
    std::vector<Found> found_;
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
    Banding banding(banded, chosen, cap);
    BandPairs out;
    std::vector<std::uint64_t> pairs, merged;
    // A few bands at a time, their keys made in one pass over the sketches: that pass is most of the work. Two bands of
    // one wave may list the same pair, and so may capped buckets; merging drops the second.
    const std::size_t together = std::max<std::size_t>(threads, 4);
    Buffer<std::uint64_t> keys(std::min(together, banded.bands) * chosen.size());
    for (std::size_t wave = 0; wave < banded.bands; wave += together) {
        const std::size_t count = std::min(together, banded.bands - wave);
        in_parallel(chosen.size(), threads, 4096, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                for (std::size_t k = 0; k < count; ++k)
                    keys[k * chosen.size() + i] = key_of(banded.of(chosen[i], wave + k), banded.rows);
        });
        in_parallel(count, threads, 1, [&](std::size_t k, std::size_t) {
            banding.run(wave + k, wave, {keys.data() + k * chosen.size(), chosen.size()});
        });
        for (std::size_t band = wave; band < wave + count; ++band) {
            Found& found = banding[band];
            out.capped += found.capped;
            out.skipped += found.skipped;
            if (found.pairs.empty()) continue;
            merged.clear();
            std::set_union(pairs.begin(), pairs.end(), found.pairs.begin(), found.pairs.end(),
                           std::back_inserter(merged));
            pairs.swap(merged);
            std::vector<std::uint64_t>().swap(found.pairs);
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
