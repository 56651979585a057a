#pragma once
// The pairs of one partition of one table, a bounded number at a time.
//
// Buckets of the partition are small as a rule, and every pair in a bucket is tried on folded codes, lanes
// at a time. A large bucket is many codes that agree on the key. Up to `worth_sorting` trying all pairs is
// still the fastest way; above it, the bits that still vary are dealt into radius + 1 blocks of about equal
// spread: a pair within the radius agrees on one of them, so the bucket is sorted by each block in turn and
// only runs of equal blocks are tried, split again if they are larger still. Worst case O(m^2 / lanes) for
// m codes that no block separates. All work is done in place.
//
// A pair is reported by the first table, and inside a split bucket by the first block, on which it agrees.
#include "join/partition.hpp"

namespace neardup {

struct Neighbour {
    std::uint32_t left, right;
    std::uint8_t distance;
};

// Values that are the same for all partitions of a table.
struct TableRules {
    Mask key;                   // bits that must agree
    std::vector<Mask> earlier;  // of each of these at least one bit must differ: earlier tables have the rest
    int radius = 0;
    int width = 0;                // bits of a code
    std::uint32_t left_rows = 0;  // rows below belong to the left set; pairs need one of each unless `self`
    bool self = true;
};

template <int halves>
class Walk {
  public:
    using Item = Entry<halves>;
    static constexpr std::size_t small = 512;  // buckets up to this size use the short loop
    static constexpr std::size_t tile =
        8192;  // codes compared with one code at a time, so that they fit the cache
    static constexpr std::size_t largest_copy = 131072;  // larger partitions are sorted in place

    std::vector<Neighbour> found;

    // `skip_bits` of the hash chose the partition; `bits` more choose the bucket.
    void begin(std::span<Item> part, const TableRules& rules, int skip_bits, int bits) {
        rules_ = &rules;
        found.clear();
        bucket_ = buckets_count_ = 0;
        frames_.clear();
        earlier_ = rules.earlier;
        leaf_ = {};
        if (part.size() < 2) return;
        if (part.size() > largest_copy) {
            push_key(part);
            return;
        }
        buckets_.fill(part, rules.key, skip_bits, bits);
        buckets_count_ = std::size_t{1} << bits;
    }

    // Adds pairs to `found` until there are about `limit`; false when the partition has no more.
    bool run(std::size_t limit) {
        for (;;) {
            if (!frames_.empty() && !run_frames(limit)) return true;
            if (bucket_ == buckets_count_) return false;
            on_best_cpu([this, limit]() KERNEL { small_buckets(limit); });
            if (found.size() >= limit) return true;
            if (bucket_ == buckets_count_) return false;
            const std::uint32_t from = buckets_.ends[bucket_], to = buckets_.ends[bucket_ + 1];
            ++bucket_;
            push_key({&buckets_.entries[from], to - from});
        }
    }

  private:
    // Codes that agree on everything sorted by so far, taken block by block.
    struct Frame {
        std::span<Item> items;
        std::vector<Mask> blocks;
        std::size_t block;    // the current one
        std::size_t cursor;   // where the next run of equal blocks begins
        std::size_t earlier;  // length of earlier_ when the frame was pushed
    };
    struct Leaf {
        std::span<Item> items;
        std::size_t split = 0;  // the first item of the right set, when there are two
        std::size_t tile = 0, at = 0;
    };

    KERNEL void report(const Item& a, const Item& b) {
        const std::uint64_t low = a.low() ^ b.low(), high = a.high() ^ b.high();
        const int differing = std::popcount(low) + (halves == 4 ? std::popcount(high) : 0);
        if (differing > rules_->radius) return;
        if ((low & rules_->key[0]) | (high & rules_->key[1])) return;
        for (const Mask& mask : earlier_)
            if (!((low & mask[0]) | (high & mask[1]))) return;
        found.push_back({a.row, b.row, static_cast<std::uint8_t>(differing)});
    }

    // Item a against items [from, to), whose folds are folds[0], folds[1]...; whole lanes are read, past
    // the end too.
    template <int lanes>
    KERNEL void try_lanes(const Item& a, std::uint32_t fold, const Item* items, const std::uint32_t* folds,
                          std::size_t count) {
        const int radius = rules_->radius;
        std::uint32_t least = 64;
        for (int i = 0; i < lanes; ++i)
            least = std::min(least, static_cast<std::uint32_t>(std::popcount(fold ^ folds[i])));
        if (least > static_cast<std::uint32_t>(radius)) return;
        // One byte a lane, so that in crowds the few that are near are found eight lanes at a time.
        std::array<std::uint8_t, lanes> near;
        for (int i = 0; i < lanes; ++i) near[i] = std::popcount(fold ^ folds[i]) <= radius;
        for (std::size_t start = 0; start < lanes; start += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, &near[start], 8);
            for (; eight; eight &= eight - 1) {
                const std::size_t i = start + static_cast<std::size_t>(std::countr_zero(eight)) / 8;
                if (i < count) report(a, items[i]);
            }
        }
    }
    KERNEL void try_all(const Item& a, std::uint32_t fold, const Item* items, const std::uint32_t* folds,
                        std::size_t count) {
        std::size_t i = 0;
        for (; i + 64 <= count; i += 64) try_lanes<64>(a, fold, items + i, folds + i, 64);
        for (; i < count; i += 16) try_lanes<16>(a, fold, items + i, folds + i, count - i);
    }

    KERNEL void small_buckets(std::size_t limit) {
        const Item* items = buckets_.entries.data();
        const std::uint32_t *folds = buckets_.folds.data(), *ends = buckets_.ends.data();
        for (; bucket_ < buckets_count_ && found.size() < limit; ++bucket_) {
            const std::size_t from = ends[bucket_], to = ends[bucket_ + 1];
            if (to - from < 2) continue;
            if (to - from > small) return;
            std::size_t split = from;
            if (!rules_->self)
                while (split < to && items[split].row < rules_->left_rows) ++split;
            const std::size_t last = rules_->self ? to - 1 : split;
            for (std::size_t i = from; i < last; ++i) {
                const std::size_t j = rules_->self ? i + 1 : split;
                try_all(items[i], folds[i], items + j, folds + j, to - j);
            }
        }
    }

    // How many codes are worth sorting by radius + 1 blocks, inside `level` such sorts: more at each level,
    // because codes that the last one did not separate may not be separated by the next one either.
    std::size_t worth_sorting(std::size_t level) const {
        return (static_cast<std::size_t>(rules_->radius) + 1) * 2048 << 2 * level;
    }

    void push_key(std::span<Item> items) {
        if (items.size() <= worth_sorting(0)) {
            frames_.push_back({items, {}, 0, items.size(), earlier_.size()});
            open_leaf(items);
        } else {
            push(items, {rules_->key});
        }
    }
    void push(std::span<Item> items, std::vector<Mask> blocks) {
        sort_by(items, blocks.front());
        frames_.push_back({items, std::move(blocks), 0, 0, earlier_.size()});
    }
    static void sort_by(std::span<Item> items, const Mask& mask) {
        std::sort(items.begin(), items.end(), [mask](const Item& a, const Item& b) {
            const std::uint64_t low_a = a.low() & mask[0], low_b = b.low() & mask[0];
            if (low_a != low_b) return low_a < low_b;
            if constexpr (halves == 4) {
                const std::uint64_t high_a = a.high() & mask[1], high_b = b.high() & mask[1];
                if (high_a != high_b) return high_a < high_b;
            }
            return a.row < b.row;
        });
    }

    // False when `limit` stopped it.
    bool run_frames(std::size_t limit) {
        while (!frames_.empty()) {
            if (!leaf_.items.empty()) {
                if (!on_best_cpu([this, limit]() KERNEL { return run_leaf(limit); })) return false;
                leaf_ = {};
            }
            Frame& frame = frames_.back();
            if (frame.cursor == frame.items.size()) {
                if (frame.block + 1 >= frame.blocks.size()) {
                    earlier_.resize(frame.earlier);
                    frames_.pop_back();
                    continue;
                }
                earlier_.push_back(frame.blocks[frame.block++]);
                sort_by(frame.items, frame.blocks[frame.block]);
                frame.cursor = 0;
            }
            const Mask mask = frame.blocks[frame.block];
            const std::size_t from = frame.cursor;
            const Mask key = frame.items[from].under(mask);
            std::size_t to = from + 1;
            while (to < frame.items.size() && frame.items[to].under(mask) == key) ++to;
            frame.cursor = to;
            const auto run = frame.items.subspan(from, to - from);
            if (run.size() < 2) continue;
            auto blocks =
                run.size() > worth_sorting(frames_.size() - 1) ? spread_blocks(run) : std::vector<Mask>{};
            if (blocks.empty())
                open_leaf(run);
            else
                push(run, std::move(blocks));
        }
        return true;
    }

    void open_leaf(std::span<Item> items) {
        leaf_ = {items, 0, 0, 0};
        if (!rules_->self)
            leaf_.split = static_cast<std::size_t>(
                std::partition_point(items.begin(), items.end(),
                                     [&](const Item& item) { return item.row < rules_->left_rows; }) -
                items.begin());
    }

    // All pairs of a leaf, one tile of right items after another. False when `limit` stopped it.
    KERNEL bool run_leaf(std::size_t limit) {
        const auto items = leaf_.items;
        folds_.resize(tile + Buckets<halves>::slack);
        for (; leaf_.tile < items.size(); leaf_.tile += tile, leaf_.at = 0) {
            const std::size_t start = std::max(leaf_.tile, rules_->self ? 0 : leaf_.split);
            const std::size_t end = std::min(items.size(), leaf_.tile + tile);
            if (start >= end) continue;
            for (std::size_t j = start; j < end; ++j) folds_[j - start] = items[j].fold();
            const std::size_t last = rules_->self ? end : leaf_.split;
            for (std::size_t i = leaf_.at; i < last; ++i) {
                const std::size_t j = rules_->self ? std::max(start, i + 1) : start;
                try_all(items[i], items[i].fold(), &items[0] + j, &folds_[j - start], end - j);
                if (found.size() >= limit) {
                    leaf_.at = i + 1;
                    return false;
                }
            }
        }
        return true;
    }

    // radius + 1 blocks of the bits that vary, which separate codes about equally well; none if too few bits vary.
    std::vector<Mask> spread_blocks(std::span<const Item> items) const {
        std::array<std::size_t, 128> ones{};
        for (const Item& item : items) {
            for (std::uint64_t low = item.low(); low; low &= low - 1)
                ++ones[static_cast<std::size_t>(std::countr_zero(low))];
            for (std::uint64_t high = item.high(); high; high &= high - 1)
                ++ones[64 + static_cast<std::size_t>(std::countr_zero(high))];
        }
        std::vector<std::pair<std::size_t, std::size_t>> varying;  // (how often the rarer value occurs, bit)
        for (std::size_t bit = 0; bit < static_cast<std::size_t>(rules_->width); ++bit)
            if (const std::size_t rarer = std::min(ones[bit], items.size() - ones[bit]); rarer > 0)
                varying.emplace_back(rarer, bit);
        const auto count = static_cast<std::size_t>(rules_->radius) + 1;
        if (varying.size() < count) return {};
        std::sort(varying.begin(), varying.end(), [](const auto& a, const auto& b) {
            return a.first != b.first ? a.first > b.first : a.second < b.second;
        });
        std::vector<Mask> blocks(count, Mask{});
        std::vector<double> agree(count, 1.0);  // the chance that two of these codes agree on the block
        for (std::size_t i = 0; i < varying.size(); ++i) {
            const std::size_t turn = i / count, place = i % count;
            const std::size_t to = turn % 2 ? count - 1 - place : place;
            const auto [rarer, bit] = varying[i];
            const double share = static_cast<double>(rarer) / static_cast<double>(items.size());
            agree[to] *= share * share + (1 - share) * (1 - share);
            blocks[to][bit / 64] |= std::uint64_t{1} << (bit % 64);
        }
        double all = 0;
        for (const double chance : agree) all += chance;
        if (all > 0.5) return {};
        return blocks;
    }

    const TableRules* rules_ = nullptr;
    Buckets<halves> buckets_;
    std::size_t bucket_ = 0, buckets_count_ = 0;
    std::vector<Frame> frames_;
    std::vector<Mask> earlier_;
    Leaf leaf_;
    std::vector<std::uint32_t> folds_;
};

}  // namespace neardup
