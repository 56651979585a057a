#include "compare/edit.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "buffer.hpp"
#include "cpu.hpp"
#include "parallel.hpp"

namespace neardup {

namespace {

constexpr std::size_t kPairs = 16;                        // handed to a thread at a time
constexpr std::size_t kWords = 4, kStripe = 64 * kWords;  // symbols of one side that are aligned together
constexpr std::int64_t kNarrow = 64, kWiden = 4;          // the first band, and how it grows
constexpr std::size_t kLook = 64;                         // symbols between two looks at what is left
constexpr std::uint64_t kSymbol = (std::uint64_t{1} << kSymbolBits) - 1;

using Stripe = std::array<std::uint64_t, kWords>;

std::uint64_t symbol_at(std::span<const std::uint64_t> row, std::size_t i) {
    if (row[i] >> kSymbolBits != i) throw std::invalid_argument("edit similarity is of ordered features");
    return row[i] & kSymbol;
}

// One thread's buffers. The left row is numbered once for all pairs in a row that have it.
class Aligner {
  public:
    // Number the symbols of the left row of the next pairs.
    void take(std::span<const std::uint64_t> left) {
        const std::size_t slots = std::bit_ceil(2 * left.size() + 16);
        mask_ = slots - 1;
        known_.assign(slots, {});
        row_ = left;
        numbered_.resize(left.size());
        symbols_ = 0;
        for (std::size_t i = 0; i < left.size(); ++i) {
            const std::uint64_t symbol = symbol_at(left, i);
            Known& known = known_[slot(symbol)];
            if (known.number == 0) known = {symbol, ++symbols_};
            numbered_[i] = known.number - 1;
        }
        if (places_.size() < symbols_) places_.resize(symbols_);
    }

    // The longest common subsequence of that row and another, or -1 if it is shorter than `needed`. Equal ends belong to
    // some longest one, so only what is between them is looked at.
    std::int64_t common(std::span<const std::uint64_t> right, std::int64_t needed) {
        const std::size_t most = std::min(row_.size(), right.size());
        if (static_cast<std::int64_t>(most) < needed) return -1;
        std::size_t front = 0, back = 0;
        while (front < most && row_[front] == right[front]) ++front;
        while (back < most - front &&
               ((row_[row_.size() - 1 - back] ^ right[right.size() - 1 - back]) & kSymbol) == 0)
            ++back;
        for (std::size_t i = right.size() - back; i < right.size(); ++i) symbol_at(right, i);
        const auto ends = static_cast<std::int64_t>(front + back);
        const std::int64_t rest = std::max<std::int64_t>(0, needed - ends);
        const std::int64_t shared = choose(front, back, right, rest);
        if (shared < rest) return -1;
        const std::int64_t found = left_.size() <= right_.size() ? between(left_, right_, shared, rest)
                                                                 : between(right_, left_, shared, rest);
        return found < 0 ? -1 : ends + found;
    }

  private:
    struct Known {
        std::uint64_t symbol;
        std::uint32_t number;  // its number + 1, or 0 for a free slot
    };

    struct Counts {
        std::uint32_t left, right;  // how often either side has a symbol
    };

    std::size_t slot(std::uint64_t symbol) const {
        std::size_t i = (symbol * 0x9E3779B97F4A7C15u >> 20) & mask_;
        while (known_[i].number != 0 && known_[i].symbol != symbol) i = (i + 1) & mask_;
        return i;
    }

    // Takes the symbols between the ends that both sides have, and leaves the others out, which no alignment can use.
    // Returns how many the sides share, whatever their order: at least as many as any alignment. It stops, with too few,
    // when the symbols that are left of a side cannot reach `needed`.
    std::int64_t choose(std::size_t front, std::size_t back, std::span<const std::uint64_t> right,
                        std::int64_t needed) {
        counts_.assign(symbols_, {});
        const std::size_t left_end = numbered_.size() - back, right_end = right.size() - back;
        for (std::size_t i = front; i < left_end; ++i) ++counts_[numbered_[i]].left;
        right_.resize(right_end - front);
        std::size_t chosen = 0;
        std::int64_t shared = 0;
        for (std::size_t begin = front; begin < right_end; begin += kLook) {
            if (shared + static_cast<std::int64_t>(right_end - begin) < needed) return shared;
            const std::size_t end = std::min(right_end, begin + kLook);
            for (std::size_t i = begin; i < end; ++i) {
                const Known& known = known_[slot(symbol_at(right, i))];
                if (known.number == 0) continue;
                Counts& counts = counts_[known.number - 1];
                right_[chosen] = known.number - 1;
                chosen += counts.left > 0;
                shared += counts.right++ < counts.left;
            }
        }
        right_.resize(chosen);
        left_.resize(left_end - front);
        chosen = 0;
        for (std::size_t i = front; i < left_end; ++i) {
            left_[chosen] = numbered_[i];
            chosen += counts_[numbered_[i]].right > 0;
        }
        left_.resize(chosen);
        return shared;
    }

    // An alignment that leaves out x symbols of a and y of b pairs no place i of a with a place of b outside of i - x to
    // i + y. So one found in a band that wide for what it leaves out is the longest of all, and a band that is too narrow
    // still says how wide one must be.
    std::int64_t between(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                         std::int64_t shared, std::int64_t needed) {
        const auto n = static_cast<std::int64_t>(a.size()), m = static_cast<std::int64_t>(b.size());
        if (std::min(n, m) < needed) return -1;
        if (n == 0 || m == 0) return 0;
        // A single stripe is aligned with nearly all of b in any band.
        std::int64_t room = a.size() <= kStripe ? m : kNarrow + 2 * (n - shared);
        for (;; room *= kWiden) {
            const std::int64_t before = std::min(n - needed, room + std::max<std::int64_t>(0, n - m));
            const std::int64_t behind = std::min(m - needed, room + std::max<std::int64_t>(0, m - n));
            const bool widest = before == n - needed && behind == m - needed;
            const std::int64_t found = in_band(a, b, before, behind, widest ? needed : 0);
            if (widest) return found;
            if (n - found <= before && m - found <= behind) return found >= needed ? found : -1;
            needed = std::max(needed, found);
        }
    }

    // The longest common subsequence among pairs of places i and j with i - j <= before and j - i <= behind, and perhaps
    // some further ones; -1 as soon as it must be shorter than `needed`. Bit-parallel (Crochemore et al. 2001, Hyyro
    // 2004): a zero in a stripe is a place of a at which the longest one grows; carry j says whether symbol j of b makes
    // it grow at the end of the stripes that are done, so that the sum of carries is its length.
    std::int64_t in_band(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                         std::int64_t before, std::int64_t behind, std::int64_t needed) {
        carries_.assign(b.size(), 0);
        std::int64_t length = 0;
        for (std::size_t begin = 0; begin < a.size(); begin += kStripe) {
            const std::size_t end = std::min(a.size(), begin + kStripe);
            for (std::size_t i = begin; i < end; ++i)
                places_[a[i]][(i - begin) / 64] |= std::uint64_t{1} << (i - begin) % 64;
            const auto signed_begin = static_cast<std::int64_t>(begin),
                       signed_end = static_cast<std::int64_t>(end);
            const auto low = static_cast<std::size_t>(std::max<std::int64_t>(0, signed_begin - before));
            const auto high = std::min(b.size(), static_cast<std::size_t>(signed_end + behind));
            if (low < high) length += aligned(end - begin, b, low, high);
            for (std::size_t i = begin; i < end; ++i) places_[a[i]] = {};
            if (length + static_cast<std::int64_t>(a.size() - end) < needed) return -1;
        }
        return length >= needed ? length : -1;
    }

    std::int64_t aligned(std::size_t size, std::span<const std::uint32_t> b, std::size_t low,
                         std::size_t high) {
        if (size <= 64) return stripe<1>(b, low, high);
        if (size <= 128) return stripe<2>(b, low, high);
        return size <= 192 ? stripe<3>(b, low, high) : stripe<kWords>(b, low, high);
    }

    // One stripe with the symbols low .. high of b; returns by how much the length changes. Symbols before `low` have
    // nothing to pair with, so that their carries go on. Each carry behind `high` takes away the growth at one place, if
    // there is one left.
    template <std::size_t Words>
    std::int64_t stripe(std::span<const std::uint32_t> b, std::size_t low, std::size_t high) {
        std::array<std::uint64_t, Words> rows;
        rows.fill(~std::uint64_t{0});
        std::int64_t change = 0;
        for (std::size_t j = low; j < high; ++j) {
            const Stripe& match = places_[b[j]];
            std::uint64_t carry = carries_[j];
            change -= static_cast<std::int64_t>(carry);
            for (std::size_t word = 0; word < Words; ++word) {
                const std::uint64_t row = rows[word], both = row & match[word];
                const std::uint64_t sum = row + both, total = sum + carry;
                carry = (sum < row) | (total < sum);
                rows[word] = total | (row & ~both);
            }
            carries_[j] = static_cast<std::uint8_t>(carry);
            change += static_cast<std::int64_t>(carry);
        }
        int grows = 0;
        for (const std::uint64_t row : rows) grows += std::popcount(~row);
        for (std::size_t j = high; grows > 0 && j < b.size(); ++j) {
            const void* next = std::memchr(carries_.data() + j, 1, b.size() - j);
            if (next == nullptr) break;
            j = static_cast<std::size_t>(static_cast<const std::uint8_t*>(next) - carries_.data());
            carries_[j] = 0;
            --change;
            --grows;
        }
        return change;
    }

    std::span<const std::uint64_t> row_;
    std::size_t mask_ = 0;
    std::uint32_t symbols_ = 0;
    std::vector<Known> known_;
    std::vector<Counts> counts_;
    std::vector<std::uint32_t> numbered_, left_, right_;
    std::vector<std::uint8_t> carries_;
    std::vector<Stripe> places_;  // all zero between two stripes
};

}  // namespace

std::vector<double> edit_at_least(const RaggedRows& rows, PairRows pairs, double least, unsigned threads) {
    std::vector<double> out(pairs.left.size(), -1);
    in_parallel(out.size(), threads, kPairs, [&](std::size_t begin, std::size_t end) {
        Aligner aligner;
        std::int64_t taken = -1;
        for (std::size_t i = begin; i < end; ++i) {
            const auto a = rows.hashes_of(pairs.left[i]), b = rows.hashes_of(pairs.right[i]);
            const double both = static_cast<double>(a.size() + b.size());
            // One less than is needed, because of rounding.
            const auto needed = std::max<std::int64_t>(1, static_cast<std::int64_t>(least / 2 * both) - 1);
            if (static_cast<std::int64_t>(std::min(a.size(), b.size())) < needed) continue;
            if (taken != pairs.left[i]) aligner.take(a);
            taken = pairs.left[i];
            const std::int64_t common = aligner.common(b, needed);
            const double similarity = 2 * static_cast<double>(common) / both;
            if (common > 0 && similarity >= least) out[i] = similarity;
        }
    });
    return out;
}

}  // namespace neardup
