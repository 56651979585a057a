#pragma once
// Tables that grow: codes are searchable as soon as they are added, and removed ones are never found again.
//
// New codes are added to a mutable tail of at most a sixteenth of the index. A full tail becomes a segment of immutable
// tables, and four segments of about the same size become one, so there are few of them and a code is rebuilt rarely.
// When this happens depends on the number of rows alone, not on how they were batched.
//
// Or merging is `deferred`: a full tail, of an eighth, is set aside as it is, still searched, and a new one begun;
// a call of `merge`, from another thread, makes one segment of everything but the new tail. So adding never waits for a
// merge, and a search reads one segment and at most a few tails, which are cheaper than segments of their size.
//
// Readers share a lock that writers take only to put codes into the tail or to swap segments, never while building; a
// search sees one state from beginning to end.
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <vector>

#include "search/tables.hpp"
#include "search/tail.hpp"

namespace neardup {

class LiveTables {
  public:
    explicit LiveTables(const Design& design, bool deferred = false);

    const Design& design() const { return design_; }

    // Returns the row of the first; the others follow. Rows that are `empty` (none, if there are no flags) get a number
    // but no place. One writer at a time; others wait.
    std::int64_t add(std::span<const std::uint64_t> codes, std::span<const bool> empty, unsigned threads);
    // The first rows of an index that has none, as one segment; returns how many rows that makes.
    std::int64_t load(std::span<const std::uint64_t> codes, std::span<const bool> empty, unsigned threads);
    // Returns how many of these rows were alive. Rows that were never added are an error.
    std::size_t remove(std::span<const std::int64_t> rows);
    // Hides rows, so that only searches with `hidden` find them, or shows them again. Removed rows are not restored.
    void hide(std::span<const std::int64_t> rows, bool hidden);
    // Merges everything into one segment, without the removed rows.
    void compact(unsigned threads);

    // How many tails have been set aside.
    std::size_t due() const;
    // Merges them and all segments into one; returns whether there were any. Nothing waits for it while it builds.
    bool merge(unsigned threads);

    Hits search(std::span<const std::uint64_t> queries, const Request& request) const;

    struct State {
        std::int64_t rows;
        std::size_t removed, tail, bytes, row_bytes;
        std::vector<std::int64_t> segments;  // rows of each
    };
    State state() const;

  private:
    struct Segment {
        std::shared_ptr<const Tables> tables;
        std::int64_t base;
    };
    // Waiting writers are served before later readers; otherwise a stream of searches could block them forever.
    std::shared_lock<std::shared_mutex> reading() const;
    std::unique_lock<std::shared_mutex> writing() const;

    struct Aside {
        std::shared_ptr<const Tail> tail;
        std::int64_t base;
    };
    // Segments and tails that follow each other, as one segment without the rows that are dead.
    Segment merged(std::span<const Segment> segments, std::span<const Aside> tails, const Tombstones& dead,
                   unsigned threads) const;
    // The last segments that fit into one together with all that follows them: the number of the first of these.
    std::size_t first_fitting(std::int64_t end) const;
    void flush(unsigned threads);
    void set_aside();

    Design design_;
    bool deferred_;
    std::vector<Segment> segments_;
    std::vector<Aside> aside_;  // by row; they come after the segments and before the tail
    std::shared_ptr<Tail> tail_;
    std::int64_t tail_base_ = 0;
    // Throws unless all of them have been added.
    void check_rows(std::span<const std::int64_t> rows) const;

    Tombstones dead_, hidden_;  // dead rows are hidden too
    std::mutex merging_;        // taken before writer_ by a thread that replaces segments of deferred tables
    std::mutex writer_;
    mutable std::mutex gate_;
    mutable std::shared_mutex lock_;
};

}  // namespace neardup
