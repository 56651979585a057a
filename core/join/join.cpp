#include "join/join.hpp"

#include <deque>
#include <mutex>
#include <utility>

#include "clusters/unionfind.hpp"
#include "join/partition_pairs.hpp"

namespace neardup {

namespace {

constexpr std::size_t partition_rows = 16384;
constexpr std::size_t pairs_ahead = 16384;  // found in one partition before its reader is waited for

std::size_t rows_of(std::span<const RowSet> sets, int bits) {
    std::size_t rows = 0;
    for (const RowSet& set : sets) rows += set.codes.size() / words_of(bits);
    return rows;
}

int key_bits(const Mask& mask) { return std::popcount(mask[0]) + std::popcount(mask[1]); }

}  // namespace

// What the three widths have in common.
struct Join::Stream {
    explicit Stream(std::size_t rows) : rows(rows) {}
    virtual ~Stream() = default;
    // Pairs ready to be read, in order; empty at the end. The reader says how many it took.
    virtual std::span<const Neighbour> ready() = 0;
    virtual void take(std::size_t count) = 0;

    std::size_t rows, left_rows = 0;
    bool self = true;
};

namespace {

template <int halves>
class StreamOf final : public Join::Stream {
  public:
    StreamOf(std::span<const RowSet> sets, int bits, int radius, std::span<const Mask> masks,
             unsigned threads)
        : Stream(rows_of(sets, bits)),
          masks_(masks.begin(), masks.end()),
          threads_(threads),
          partition_bits_(partition_bits(rows, partition_rows)),
          parts_(sets, partition_bits_, threads) {
        self = sets.size() == 1;
        left_rows = sets.front().codes.size() / words_of(bits);
        rules_.radius = radius;
        rules_.width = bits;
        rules_.self = self;
        rules_.left_rows = static_cast<std::uint32_t>(left_rows);
        partition_ = parts_.size();
    }

    std::span<const Neighbour> ready() override {
        for (;;) {
            while (!wave_.empty()) {
                Step& step = wave_.front();
                if (step.taken < step.found.size()) return std::span(step.found).subspan(step.taken);
                if (!step.walk) {
                    wave_.pop_front();
                    continue;
                }
                step.walk->found.clear();
                const bool more = step.walk->run(pairs_ahead);
                std::swap(step.found, step.walk->found);
                step.taken = 0;
                if (!more) idle_.push_back(std::move(step.walk));
            }
            if (!next_wave()) return {};
        }
    }
    void take(std::size_t count) override { wave_.front().taken += count; }

  private:
    // The pairs of a partition, and where to continue if it has more.
    struct Step {
        std::vector<Neighbour> found;
        std::size_t taken = 0;
        std::unique_ptr<Walk<halves>> walk;
    };

    // Runs the next few partitions in parallel; each stops at `pairs_ahead`, so memory is bounded.
    bool next_wave() {
        if (partition_ == parts_.size()) {
            if (table_ == masks_.size()) return false;
            if (table_ > 0) rules_.earlier.push_back(rules_.key);
            rules_.key = masks_[table_++];
            parts_.scatter(rules_.key);
            partition_ = 0;
        }
        const std::size_t count = std::min(parts_.size() - partition_, std::size_t{64} * threads_);
        wave_.resize(count);
        std::mutex guard;
        in_parallel(count, threads_, 1, [&](std::size_t i, std::size_t) {
            const auto part = parts_[partition_ + i];
            auto walk = take_walk(guard);
            // Buckets of about eight codes, which one step of lanes tries at once; no more than eight
            // buckets for each value a key can have.
            const int by_size = std::max(1, static_cast<int>(std::bit_width(part.size())) - 3);
            const int by_key = std::max(1, key_bits(rules_.key) + 3 - partition_bits_);
            walk->begin(part, rules_, partition_bits_, std::min(by_size, by_key));
            const bool more = walk->run(pairs_ahead);
            // A finished walk is used again for the next partition, while its memory is still in the cache.
            wave_[i].found = more ? std::exchange(walk->found, {}) : walk->found;
            if (more) {
                wave_[i].walk = std::move(walk);
            } else {
                const std::lock_guard lock(guard);
                idle_.push_back(std::move(walk));
            }
        });
        partition_ += count;
        return true;
    }

    std::unique_ptr<Walk<halves>> take_walk(std::mutex& guard) {
        const std::lock_guard lock(guard);
        if (idle_.empty()) return std::make_unique<Walk<halves>>();
        auto walk = std::move(idle_.back());
        idle_.pop_back();
        return walk;
    }

    std::vector<Mask> masks_;
    unsigned threads_;
    int partition_bits_;
    Partitions<halves> parts_;
    TableRules rules_;
    std::size_t table_ = 0, partition_ = 0;
    std::deque<Step> wave_;
    std::vector<std::unique_ptr<Walk<halves>>> idle_;
};

}  // namespace

Join::Join(std::span<const RowSet> sets, int bits, int radius, std::span<const Mask> masks,
           unsigned threads) {
    if (bits == 32)
        stream_ = std::make_unique<StreamOf<1>>(sets, bits, radius, masks, threads);
    else if (bits == 64)
        stream_ = std::make_unique<StreamOf<2>>(sets, bits, radius, masks, threads);
    else
        stream_ = std::make_unique<StreamOf<4>>(sets, bits, radius, masks, threads);
}
Join::Join(Join&&) noexcept = default;
Join::~Join() = default;

PairColumns Join::next(std::size_t most) {
    PairColumns out;
    const auto shift = static_cast<std::int64_t>(stream_->self ? 0 : stream_->left_rows);
    while (out.left.size() < most) {
        const auto found = stream_->ready();
        if (found.empty()) break;
        const std::size_t count = std::min(found.size(), most - out.left.size());
        for (const Neighbour& pair : found.first(count)) {
            out.left.push_back(pair.left);
            out.right.push_back(pair.right - shift);
            out.distance.push_back(pair.distance);
        }
        stream_->take(count);
    }
    return out;
}

std::vector<std::int64_t> Join::labels() {
    UnionFind lots(stream_->rows);
    for (auto found = stream_->ready(); !found.empty(); found = stream_->ready()) {
        for (const Neighbour& pair : found) lots.unite(pair.left, pair.right);
        stream_->take(found.size());
    }
    return lots.labels();
}

}  // namespace neardup
