#include "search/live.hpp"

#include <algorithm>
#include <stdexcept>

namespace neardup {

namespace {

constexpr std::size_t smallest_tail = std::size_t{1} << 14, tail_share = 16, deferred_share = 8,
                      merged_at_once = 4;
constexpr std::size_t rows_at_once = std::size_t{1} << 14;  // limits how long readers wait for a writer

std::size_t tail_capacity(std::int64_t rows, bool deferred) {
    const std::size_t share = deferred ? deferred_share : tail_share;
    return std::max(smallest_tail, static_cast<std::size_t>(rows) / share / smallest_tail * smallest_tail);
}

}  // namespace

LiveTables::LiveTables(const Design& design, bool deferred) : design_(design), deferred_(deferred) {
    design_.check();
    tail_ = std::make_shared<Tail>(design_, smallest_tail);
}

std::shared_lock<std::shared_mutex> LiveTables::reading() const {
    const std::lock_guard gate(gate_);
    return std::shared_lock(lock_);
}

std::unique_lock<std::shared_mutex> LiveTables::writing() const {
    const std::lock_guard gate(gate_);
    return std::unique_lock(lock_);
}

// Reads only data that never changes or that only the calling writer changes: no lock is needed, and readers continue.
LiveTables::Segment LiveTables::merged(std::span<const Segment> segments, std::span<const Aside> tails,
                                       const Tombstones& dead, unsigned threads) const {
    const std::int64_t base = segments.empty() ? tails.front().base : segments.front().base;
    std::vector<std::uint64_t> codes;
    std::vector<std::uint32_t> rows;
    std::size_t most = 0;
    for (const Segment& segment : segments) most += segment.tables->rows();
    for (const Aside& aside : tails) most += aside.tail->size();
    codes.reserve(most * design_.words());
    rows.reserve(most);
    const auto shift = [&](std::int64_t of) { return static_cast<std::uint32_t>(of - base); };
    for (const Segment& segment : segments)
        segment.tables->append(codes, rows, segment.base, shift(segment.base), dead);
    for (const Aside& aside : tails) aside.tail->append(codes, rows, aside.base, shift(aside.base), dead);
    return {std::make_shared<const Tables>(design_, codes, rows, threads), base};
}

std::size_t LiveTables::first_fitting(std::int64_t end) const {
    std::size_t first = segments_.size();
    while (first > 0 && end - segments_[first - 1].base < 0xFFFFFFFF) --first;
    return first;
}

void LiveTables::set_aside() {
    const std::int64_t next_base = tail_base_ + static_cast<std::int64_t>(tail_->size());
    auto tail = std::make_shared<Tail>(design_, tail_capacity(next_base, true));
    const auto lock = writing();
    aside_.push_back({std::move(tail_), tail_base_});
    tail_ = std::move(tail);
    tail_base_ = next_base;
}

std::size_t LiveTables::due() const {
    const auto lock = reading();
    return aside_.size();
}

bool LiveTables::merge(unsigned threads) {
    const std::lock_guard merging(merging_);
    std::vector<Segment> segments;
    std::vector<Aside> tails;
    Tombstones dead;
    {
        const std::lock_guard writer(writer_);
        if (aside_.empty()) return false;
        const auto first = static_cast<std::ptrdiff_t>(first_fitting(tail_base_));
        segments.assign(segments_.begin() + first, segments_.end());
        tails = aside_;
        dead = dead_;  // rows removed after this are still in the tables, but searches skip them
    }
    Segment segment = merged(segments, tails, dead, threads);
    {
        const std::lock_guard writer(writer_);
        const auto lock = writing();
        segments_.resize(segments_.size() - segments.size());
        if (segment.tables->rows() != 0) segments_.push_back(std::move(segment));
        aside_.erase(aside_.begin(), aside_.begin() + static_cast<std::ptrdiff_t>(tails.size()));
    }
    return true;  // the replaced parts are freed here, outside of the lock
}

void LiveTables::flush(unsigned threads) {
    if (tail_->size() == 0) return;
    if (deferred_) return set_aside();
    // How many segments are merged into the new one: those of similar size, if there are enough; then again with the
    // result.
    std::size_t taken = 0, size = tail_->size(), run = 1, total = size;
    for (std::size_t i = segments_.size(); i-- > 0;) {
        const std::size_t rows = segments_[i].tables->rows();
        const auto span = static_cast<std::uint64_t>(tail_base_ - segments_[i].base) + tail_->size();
        if (rows > 2 * size || span >= 0xFFFFFFFFu) break;
        total += rows;
        if (++run == merged_at_once) {
            taken = segments_.size() - i;
            size = total;
            run = 1;
        }
    }
    const Aside whole{tail_, tail_base_};
    Segment segment = merged(std::span(segments_).last(taken), {&whole, 1}, dead_, threads);
    const std::int64_t next_base = tail_base_ + static_cast<std::int64_t>(tail_->size());
    auto tail = std::make_shared<Tail>(design_, tail_capacity(next_base, deferred_));
    std::vector<Segment> replaced;
    {
        const auto lock = writing();
        replaced.assign(segments_.end() - static_cast<std::ptrdiff_t>(taken), segments_.end());
        segments_.resize(segments_.size() - taken);
        segments_.push_back(std::move(segment));
        std::swap(tail_, tail);
        tail_base_ = next_base;
    }  // the replaced parts are freed here, outside of the lock
}

std::int64_t LiveTables::add(std::span<const std::uint64_t> codes, std::span<const bool> empty,
                             unsigned threads) {
    const std::lock_guard writer(writer_);
    const unsigned words = design_.words();
    const std::int64_t first = tail_base_ + static_cast<std::int64_t>(tail_->size());
    for (std::size_t at = 0; at < codes.size();) {
        if (tail_->room() == 0) flush(threads);
        const std::size_t rows = std::min({tail_->room(), (codes.size() - at) / words, rows_at_once});
        const auto lock = writing();
        tail_->add(codes.subspan(at, rows * words), empty.empty() ? empty : empty.subspan(at / words, rows));
        at += rows * words;
    }
    return first;
}

std::int64_t LiveTables::load(std::span<const std::uint64_t> codes, std::span<const bool> empty,
                              unsigned threads) {
    const std::scoped_lock locks(merging_, writer_);
    const unsigned words = design_.words();
    const std::size_t count = codes.size() / words;
    if (!segments_.empty() || !aside_.empty() || tail_base_ != 0 || tail_->size() != 0)
        throw std::invalid_argument("only an empty index can be loaded");
    if (count >= 0xFFFFFFFFu) throw std::invalid_argument("too many rows for one segment");
    std::vector<std::uint64_t> kept;
    std::vector<std::uint32_t> rows;
    if (!empty.empty())
        for (std::size_t i = 0; i < count; ++i) {
            if (empty[i]) continue;
            rows.push_back(static_cast<std::uint32_t>(i));
            const auto code = codes.subspan(i * words, words);
            kept.insert(kept.end(), code.begin(), code.end());
        }
    const bool all = empty.empty() || rows.size() == count;
    if (all) rows.clear();
    auto tables = std::make_shared<const Tables>(design_, all ? codes : kept, rows, threads);
    auto tail = std::make_shared<Tail>(design_, tail_capacity(static_cast<std::int64_t>(count), deferred_));
    const auto lock = writing();
    if (tables->rows() != 0) segments_.push_back({std::move(tables), 0});
    std::swap(tail_, tail);
    tail_base_ = static_cast<std::int64_t>(count);
    return tail_base_;
}

void LiveTables::check_rows(std::span<const std::int64_t> rows) const {
    const std::int64_t end = tail_base_ + static_cast<std::int64_t>(tail_->size());
    for (const std::int64_t row : rows)
        if (row < 0 || row >= end) throw std::invalid_argument("there is no such row");
}

std::size_t LiveTables::remove(std::span<const std::int64_t> rows) {
    const std::lock_guard writer(writer_);
    check_rows(rows);
    const auto lock = writing();
    std::size_t removed = 0;
    for (const std::int64_t row : rows) {
        removed += dead_.add(static_cast<std::size_t>(row));
        hidden_.add(static_cast<std::size_t>(row));
    }
    return removed;
}

void LiveTables::hide(std::span<const std::int64_t> rows, bool hidden) {
    const std::lock_guard writer(writer_);
    check_rows(rows);
    const auto lock = writing();
    for (const std::int64_t row : rows) {
        const auto at = static_cast<std::size_t>(row);
        if (hidden)
            hidden_.add(at);
        else if (!dead_.has(at))
            hidden_.drop(at);
    }
}

void LiveTables::compact(unsigned threads) {
    const std::scoped_lock locks(merging_, writer_);
    const std::int64_t next_base = tail_base_ + static_cast<std::int64_t>(tail_->size());
    if (first_fitting(next_base) != 0) throw std::invalid_argument("too many rows for one segment");
    std::vector<Aside> tails = aside_;
    tails.push_back({tail_, tail_base_});
    Segment segment = merged(segments_, tails, dead_, threads);
    std::vector<Segment> all;
    std::vector<Aside> none;
    auto tail = std::make_shared<Tail>(design_, tail_capacity(next_base, deferred_));
    if (segment.tables->rows() != 0) all.push_back(std::move(segment));
    const auto lock = writing();
    std::swap(segments_, all);
    std::swap(aside_, none);
    std::swap(tail_, tail);
    tail_base_ = next_base;
}

Hits LiveTables::search(std::span<const std::uint64_t> queries, const Request& request) const {
    const auto lock = reading();
    const Tombstones& skipped = request.hidden ? dead_ : hidden_;
    return search_batches(queries, design_.words(), request, [&](Batch& batch, std::size_t) {
        Prober prober;
        for (const Segment& segment : segments_)
            if (segment.tables->codes() != 0)
                segment.tables->search(batch, request, prober, segment.base, &skipped);
        for (const Aside& aside : aside_) aside.tail->search(batch, request, aside.base, &skipped);
        tail_->search(batch, request, tail_base_, &skipped);
    });
}

LiveTables::State LiveTables::state() const {
    const auto lock = reading();
    State state{tail_base_ + static_cast<std::int64_t>(tail_->size()),
                dead_.count(),
                tail_->size(),
                tail_->bytes(),
                0,
                {}};
    for (const Aside& aside : aside_) {
        state.tail += aside.tail->size();
        state.bytes += aside.tail->bytes();
    }
    for (const Segment& segment : segments_) {
        state.segments.push_back(static_cast<std::int64_t>(segment.tables->rows()));
        state.bytes += segment.tables->bytes();
        state.row_bytes += segment.tables->row_bytes();
    }
    return state;
}

}  // namespace neardup
