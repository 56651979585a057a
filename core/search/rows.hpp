#pragma once
// Which rows have a code. Equal codes are stored once; the rows that share one are a group.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pages.hpp"

namespace neardup {

class Rows {
  public:
    Rows() = default;
    explicit Rows(std::size_t codes) : lowest_(codes), grouped_((codes + 63) / 64) {}

    // Rows of one code, ascending; different codes may be set by different threads as long as groups, which are
    // handed over in `groups` and `members`, are joined afterwards in order of code.
    void set(std::uint32_t code, std::uint32_t row) { lowest_[code] = row; }
    void join(std::span<const std::uint32_t> groups, std::span<const std::uint32_t> sizes,
              std::span<const std::uint32_t> members) {
        std::size_t next = members_.size();
        for (std::size_t i = 0; i < groups.size(); ++i) {
            grouped_[groups[i] / 64] |= std::uint64_t{1} << (groups[i] % 64);
            groups_.push_back(groups[i]);
            starts_.push_back(next);
            next += sizes[i];
        }
        members_.insert(members_.end(), members.begin(), members.end());
    }

    std::size_t codes() const { return lowest_.size(); }
    void prefetch(std::uint32_t code) const {
        __builtin_prefetch(lowest_.data() + code);
        if (!groups_.empty()) __builtin_prefetch(grouped_.data() + code / 64);
    }
    std::span<const std::uint32_t> of(std::uint32_t code) const {
        if (groups_.empty() || (grouped_[code / 64] >> (code % 64) & 1) == 0)
            return {lowest_.data() + code, 1};
        const auto at = static_cast<std::size_t>(std::lower_bound(groups_.begin(), groups_.end(), code) -
                                                 groups_.begin());
        const std::size_t end = at + 1 < starts_.size() ? starts_[at + 1] : members_.size();
        return {members_.data() + starts_[at], end - starts_[at]};
    }
    std::size_t bytes() const {
        return lowest_.bytes() + (groups_.empty() ? 0 : grouped_.bytes()) +
               4 * (groups_.size() + members_.size()) + 8 * starts_.size();
    }

  private:
    Pages<std::uint32_t> lowest_;
    Pages<std::uint64_t> grouped_;  // a bit per code: has it several rows?
    std::vector<std::uint32_t> groups_, members_;
    std::vector<std::size_t> starts_;
};

// Rows that were removed, as bits; rows past the end live.
class Tombstones {
  public:
    bool empty() const { return count_ == 0; }
    std::size_t count() const { return count_; }
    bool has(std::size_t row) const {
        return row / 64 < words_.size() && (words_[row / 64] >> (row % 64) & 1) != 0;
    }
    // Says whether the row was alive.
    bool add(std::size_t row) {
        if (has(row)) return false;
        if (words_.size() <= row / 64) words_.resize(std::max(row / 64 + 1, words_.size() * 2));
        words_[row / 64] |= std::uint64_t{1} << (row % 64);
        ++count_;
        return true;
    }
    void drop(std::size_t row) {
        if (!has(row)) return;
        words_[row / 64] &= ~(std::uint64_t{1} << (row % 64));
        --count_;
    }

  private:
    std::vector<std::uint64_t> words_;
    std::size_t count_ = 0;
};

}  // namespace neardup
