#pragma once
// Windows of `width` tokens that occur more than once, and the chains they form.
//
// A window is named by its first token's place in the whole corpus. Steps, so that none needs the corpus in memory:
//
//   WindowFilter   two passes over the tokens: two bits for each slot of a table say whether a window's hash
//                  occurred once or more often; the windows that may be repeated are then collected with their hashes
//   group_windows  takes all windows of some hashes: returns each repeated one with its first equal and its count
//   Chains         takes the repeated windows in the order of their places: verifies them token by token, then joins
//                  them to letters
//
// A letter is a chain of windows that always come together: place + 1 holds the same window wherever place does, and
// nowhere else. So repeated stretches of the corpus become short words of few letters, and whatever repeats in the
// corpus repeats in them (core/passages/suffix_array.hpp).
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pages.hpp"
#include "passages/repeated.hpp"

namespace neardup {

// Some whole documents: document i is tokens [offsets[i], offsets[i + 1]) of this piece, and token 0 is at `place`
// in the corpus. `documents` counts the documents before; it is used when windows of different documents must differ.
struct Piece {
    std::span<const std::uint64_t> tokens;
    std::span<const std::int64_t> offsets;
    std::int64_t place, documents;
};

struct WindowHash {
    std::size_t width;
    std::uint64_t seed;
    bool apart;     // windows of different documents are never equal
    int bits = 64;  // of the hash; fewer only in tests, to see collisions
};

class WindowFilter {
  public:
    explicit WindowFilter(int slot_bits);

    void mark(const Piece& piece, const WindowHash& how, unsigned threads);

    struct Found {
        std::vector<std::uint64_t> hashes;
        std::vector<std::int64_t> places;
    };
    Found collect(const Piece& piece, const WindowHash& how, unsigned threads) const;

  private:
    std::size_t slot(std::uint64_t hash) const { return static_cast<std::size_t>(hash >> shift_); }

    int shift_;
    Pages<std::uint64_t> words_;  // 32 slots each: bit 0 "seen", bit 1 "seen again"
};

// Compares only hashes: Chains detects different windows that share one.
Repeated group_windows(std::span<const std::uint64_t> hashes, std::span<const std::int64_t> places,
                       std::size_t least, unsigned threads);

// The same rows, places ascending.
Repeated in_order(std::span<const std::int64_t> places, std::span<const std::int64_t> firsts,
                  std::span<const std::int64_t> counts, unsigned threads);

class Chains {
  public:
    // For a corpus of `tokens` tokens.
    Chains(std::size_t tokens, std::size_t width)
        : tokens_(tokens), width_(width), broken_(tokens / 64 + 1) {}
    std::size_t tokens() const { return tokens_; }
    std::size_t width() const { return width_; }

    // First pass: repeated windows, places ascending from call to call. Returns how many differ from their first window
    // although the hashes are equal.
    std::size_t check(std::span<const std::int64_t> places, std::span<const std::int64_t> firsts,
                      std::span<const std::int64_t> counts, std::span<const std::uint64_t> tokens);

    // Second pass over the same windows, after all were checked. A window is cut if it is not the first of its equals,
    // or if it occurs more than `most` times (0: no limit).
    void join(std::span<const std::int64_t> places, std::span<const std::int64_t> firsts,
              std::span<const std::int64_t> counts, std::int64_t most);

    // Letters of one stretch follow each other, each with its place and how many windows it has; a stretch begins
    // with a letter of its own, negative and of size 0. `cuts`: begins and ends of the cut stretches.
    struct Words {
        std::vector<std::int64_t> letters, starts, sizes, cuts;
    };
    Words take() { return std::move(words_); }

  private:
    void end_chain(std::int64_t first) {
        broken_[static_cast<std::size_t>(first) / 64] |= std::uint64_t{1} << (first % 64);
    }
    bool broken(std::int64_t first) const {
        return broken_[static_cast<std::size_t>(first) / 64] >> (first % 64) & 1;
    }
    struct Last {
        std::int64_t place = -2, first = -2, count = 0;
    };
    std::size_t tokens_, width_;
    std::vector<std::uint64_t> broken_;  // one bit for each place: does a chain end behind this first window?
    Last checked_, joined_;
    Words words_;
    std::int64_t stretches_ = 0;
};

}  // namespace neardup
