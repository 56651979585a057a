#pragma once
// Codes with their rows, brought together by a key: the first pass of every join and of collapsing equal
// codes.
//
// The key of a table is the bits under its mask. Rows are scattered by the first bits of a hash of the key
// into partitions small enough for the cache, where later bits of the same hash split them further. A hash
// and not the bits themselves: it costs two multiplications for any mask, and skewed bits spread evenly.
// Unequal keys may share a hash, so readers of a partition must compare the key itself.
//
// Inside a partition, entries are in the order of their rows, for any number of threads.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "cpu.hpp"
#include "pages.hpp"
#include "parallel.hpp"
#include "search/hamming.hpp"
#include "simd.hpp"

namespace neardup {

using Mask = std::array<std::uint64_t, 2>;  // bit j of a code is bit j % 64 of word j / 64

// One code and its row in 8, 12 or 20 bytes: `halves` 32-bit halves of words, the low ones first.
template <int halves>
struct Entry {
    std::array<std::uint32_t, halves> half;
    std::uint32_t row;

    KERNEL std::uint64_t low() const {
        if constexpr (halves == 1) return half[0];
        std::uint64_t word;
        std::memcpy(&word, half.data(), 8);
        return word;
    }
    KERNEL std::uint64_t high() const {
        if constexpr (halves < 4) return 0;
        std::uint64_t word;
        std::memcpy(&word, half.data() + halves / 2, 8);
        return word;
    }
    // All bits folded on 32 by exclusive or: two folds never differ in more bits than their codes do.
    KERNEL std::uint32_t fold() const {
        std::uint32_t all = half[0];
        for (int i = 1; i < halves; ++i) all ^= half[i];
        return all;
    }
    KERNEL Mask under(const Mask& mask) const { return {low() & mask[0], high() & mask[1]}; }
};

template <int halves>
KERNEL inline Entry<halves> load_entry(const std::uint64_t* code, std::uint32_t row) {
    Entry<halves> entry;
    if constexpr (halves == 1)
        entry.half[0] = static_cast<std::uint32_t>(code[0]);
    else
        std::memcpy(entry.half.data(), code, sizeof(entry.half));
    entry.row = row;
    return entry;
}

template <int halves>
KERNEL inline std::uint64_t key_hash(const Entry<halves>& entry, const Mask& mask) {
    std::uint64_t hash = (entry.low() & mask[0]) * 0x9E3779B97F4A7C15u;
    if constexpr (halves == 4) hash += (entry.high() & mask[1]) * 0xD1B54A32D192ED03u;
    // One multiplication alone crowds some masks sevenfold into a few buckets (16 bits from bit 16, for one).
    return (hash ^ hash >> 32) * 0xD6E8FEB86659FD93u;
}

// Rows of one column of codes; those with a nonzero `skip` do not take part (no `skip` at all: every row
// does).
struct RowSet {
    Codes codes;
    std::span<const std::uint8_t> skip;
};

// The rows of one or two sets, numbered through, as entries grouped by the first `bits` bits of a hash.
template <int halves>
class Partitions {
  public:
    static constexpr std::size_t words = halves == 4 ? 2 : 1;
    using Item = Entry<halves>;

    Partitions(std::span<const RowSet> sets, int bits, unsigned threads)
        : sets_(sets.begin(), sets.end()), bits_(bits), threads_(threads) {
        std::size_t rows = 0;
        for (std::size_t set = 0; set < sets_.size(); ++set) {
            const std::size_t size = sets_[set].codes.size() / words;
            // One slice of each set for each thread.
            for (unsigned t = 0; t < threads; ++t) {
                const std::size_t from = size * t / threads, to = size * (t + 1) / threads;
                if (from < to) slices_.push_back({set, from, to, rows + from});
            }
            rows += size;
        }
        entries_ = Pages<Lines>(rows / together + 1);
        starts_.resize(size() + 1);
    }

    std::size_t size() const { return std::size_t{1} << bits_; }
    std::span<Item> operator[](std::size_t i) {
        return {entries_[0].item.data() + starts_[i], starts_[i + 1] - starts_[i]};
    }

    // Groups all rows by the bits under this mask. Two sequential passes over the codes.
    void scatter(const Mask& mask) {
        std::vector<std::vector<std::uint32_t>> places(slices_.size());
        in_parallel(slices_.size(), threads_, 1, [&](std::size_t s, std::size_t) {
            places[s].assign(size(), 0);
            each_entry(slices_[s], [&, mask, counts = places[s].data(), shift = 63 - bits_](const Item& item)
                                       KERNEL { ++counts[key_hash(item, mask) >> 1 >> shift]; });
        });
        std::uint32_t place = 0;
        for (std::size_t p = 0; p < size(); ++p) {
            starts_[p] = place;
            for (auto& slice : places) {
                const std::uint32_t count = slice[p];
                slice[p] = place;
                place += count;
            }
        }
        starts_[size()] = place;
        in_parallel(slices_.size(), threads_, 1,
                    [&](std::size_t s, std::size_t) { write(slices_[s], mask, places[s]); });
    }

  private:
    struct Slice {
        std::size_t set, from, to, row;
    };

    // Sixteen entries fill whole cache lines at every width.
    static constexpr std::uint32_t together = 16;
    struct alignas(64) Lines {
        std::array<Item, together> item;
    };

    // Puts the entries of a slice in their places, from `next` on. They wait in lines of their own until
    // these are full and are written past the caches, in a third of the time of single writes.
    void write(const Slice& slice, const Mask& mask, std::vector<std::uint32_t>& next) {
        const std::vector<std::uint32_t> start = next;
        const auto waiting = std::make_unique_for_overwrite<Lines[]>(size());
        Item* to = entries_[0].item.data();
        const auto spill = [&, to](std::size_t p, std::uint32_t end) {
            const std::uint32_t line = (end - 1) / together * together;
            for (std::uint32_t i = std::max(start[p], line); i < end; ++i)
                to[i] = waiting[p].item[i % together];
        };
        each_entry(slice, [&, mask, to, lines = waiting.get(), place = next.data(), from = start.data(),
                           shift = 63 - bits_](const Item& item) KERNEL {
            const std::size_t p = key_hash(item, mask) >> 1 >> shift;
            const std::uint32_t i = place[p]++;
            lines[p].item[i % together] = item;
            if (i % together != together - 1) return;
            // The first lines of a slice may hold another slice's entries too.
            if (i + 1 - from[p] < together)
                spill(p, i + 1);
            else
                stream_copy<sizeof(Lines)>(to + (i + 1 - together), &lines[p]);
        });
        for (std::size_t p = 0; p < size(); ++p)
            if (next[p] % together != 0 && next[p] > start[p]) spill(p, next[p]);
        stream_done();
    }

    template <class Body>
    void each_entry(const Slice& slice, Body body) const {
        const RowSet& set = sets_[slice.set];
        const std::uint64_t* codes = set.codes.data();
        const std::uint8_t* skip = set.skip.empty() ? nullptr : set.skip.data();
        on_best_cpu([=]() KERNEL {
            auto row = static_cast<std::uint32_t>(slice.row);
            if (skip == nullptr)
                for (std::size_t i = slice.from; i < slice.to; ++i, ++row)
                    body(load_entry<halves>(codes + i * words, row));
            else
                for (std::size_t i = slice.from; i < slice.to; ++i, ++row)
                    if (!skip[i]) body(load_entry<halves>(codes + i * words, row));
        });
    }

    std::vector<RowSet> sets_;
    int bits_;
    unsigned threads_;
    std::vector<Slice> slices_;
    Pages<Lines> entries_;
    std::vector<std::uint32_t> starts_;
};

// Entries of one partition, split further by the next bits of the hash into a copy of their own: bucket k is
// [ends[k], ends[k + 1]), in the order of rows. `folds` has room to be read a little past the end.
template <int halves>
struct Buckets {
    static constexpr std::size_t slack = 64;
    std::vector<std::uint32_t> ends;
    std::vector<std::uint32_t> folds;
    std::vector<Entry<halves>> entries;

    void fill(std::span<const Entry<halves>> part, const Mask& mask, int skip_bits, int bits) {
        if (entries.size() < part.size()) {
            entries.resize(part.size() + part.size() / 4);
            folds.resize(entries.size() + slack);
        }
        ends.assign((std::size_t{1} << bits) + 1, 0);
        on_best_cpu([&, bits, left = skip_bits, count = ends.data() + 1, fold = folds.data(),
                     to = entries.data()]() KERNEL {
            const auto bucket = [&](const Entry<halves>& entry)
                                    KERNEL { return key_hash(entry, mask) << left >> 1 >> (63 - bits); };
            for (const auto& entry : part) ++count[bucket(entry)];
            std::uint32_t start = 0;
            for (std::size_t k = 0; k < std::size_t{1} << bits; ++k) {
                const std::uint32_t here = count[k];
                count[k] = start;
                start += here;
            }
            for (const auto& entry : part) {
                const std::uint32_t place = count[bucket(entry)]++;
                fold[place] = entry.fold();
                to[place] = entry;
            }
        });
    }
};

// How many bits of hash make partitions of about `size` rows.
constexpr int partition_bits(std::size_t rows, std::size_t size) {
    return std::min(14, static_cast<int>(std::bit_width(rows / size)));
}

}  // namespace neardup
