#include "join/verify.hpp"

#include <algorithm>
#include <cmath>

#include "parallel.hpp"
#include "simd.hpp"

namespace neardup {

namespace {

constexpr std::size_t kPairs = 256;    // handed to a thread at a time
constexpr std::size_t kSteps = 64;     // of a merge between two checks whether `least` is still possible
constexpr std::size_t kBlocks = 8;     // the same for comparisons of blocks
constexpr std::size_t kSample = 64;    // features between two entries of the table below
constexpr std::size_t kSamples = 256;  // entries

// Features are hashes, so the first n of the union of two sets in ascending order are a sample of it without
// replacement. If the similarity is `least` or more, then so few of them or fewer are shared with a probability below
// e^-30 (Hoeffding 1963, theorem 1 and section 6): below one in 10^9 for all n up to 10,000 together. Entry i is for
// n from i * kSample on.
class RuledOut {
  public:
    explicit RuledOut(double least) {
        for (std::size_t i = 1; i < kSamples; ++i) {
            const auto n = static_cast<double>(i * kSample);
            std::int64_t low = -1, high = static_cast<std::int64_t>(n * least);
            while (low < high) {  // the most that is still too few
                const std::int64_t middle = high - (high - low) / 2;
                if (n * divergence(static_cast<double>(middle) / n, least) >= 30)
                    low = middle;
                else
                    high = middle - 1;
            }
            most_[i] = low;
        }
    }
    bool holds(std::size_t seen, std::int64_t shared) const {
        return shared <= most_[std::min(seen / kSample, kSamples - 1)];
    }

  private:
    // Of a share from a larger one: the exponent of the bound.
    static double divergence(double share, double of) {
        if (share >= of) return 0;
        const double both = share <= 0 ? 0 : share * std::log(share / of);
        return both + (of >= 1 ? 1e9 : (1 - share) * std::log((1 - share) / (1 - of)));
    }
    std::int64_t most_[kSamples] = {-1};
};

template <Cpu level>
KERNEL inline double jaccard(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b, double least,
                             const RuledOut* ruled_out) {
    constexpr std::size_t kBlock = set_block<level>;
    const double both = static_cast<double>(a.size() + b.size());
    // s shared features of `both` give s / (both - s). One less than that needs, because of rounding.
    const auto needed = static_cast<std::int64_t>(least / (1 + least) * both) - 1;
    std::int64_t count = 0;
    std::size_t i = 0, j = 0;
    if constexpr (level != Cpu::baseline) {
        // The block that ends first was compared with all blocks that can share a feature with it.
        while (i + kBlock <= a.size() && j + kBlock <= b.size()) {
            for (std::size_t step = kBlocks; step > 0; --step) {
                count += shared_in_blocks<level>(a.data() + i, b.data() + j);
                const std::uint64_t x = a[i + kBlock - 1], y = b[j + kBlock - 1];
                i += x <= y ? kBlock : 0;
                j += y <= x ? kBlock : 0;
                if (i + kBlock > a.size() || j + kBlock > b.size()) break;
            }
            if (count + static_cast<std::int64_t>(std::min(a.size() - i, b.size() - j)) < needed) return -1;
            if (ruled_out != nullptr && ruled_out->holds(i + j - static_cast<std::size_t>(count), count))
                return -1;
        }
        // What is left of the block that did not end was compared with the other side as far as that was seen; its
        // shared features before that are counted.
        const std::uint64_t *from = a.data() + i, *other = b.data() + j;
        if (i > 0 && j < b.size())
            other = std::upper_bound(other, std::min(other + kBlock, b.data() + b.size()), a[i - 1]);
        if (j > 0 && i < a.size())
            from = std::upper_bound(from, std::min(from + kBlock, a.data() + a.size()), b[j - 1]);
        i = static_cast<std::size_t>(from - a.data());
        j = static_cast<std::size_t>(other - b.data());
    }
    for (;;) {
        const std::size_t left = std::min(a.size() - i, b.size() - j);
        if (count + static_cast<std::int64_t>(left) < needed) return -1;
        if (left == 0) break;
        // Without branches on the data: hashes are random, so every one would be mispredicted half the time. No side
        // can end within as many steps as its features left.
        for (std::size_t step = std::min(left, kSteps); step > 0; --step) {
            const std::uint64_t x = a[i], y = b[j];
            count += x == y;
            i += x <= y;
            j += y <= x;
        }
        if (ruled_out != nullptr && ruled_out->holds(i + j - static_cast<std::size_t>(count), count))
            return -1;
    }
    if (count == 0) return -1;
    const double similarity = static_cast<double>(count) / (both - static_cast<double>(count));
    return similarity >= least ? similarity : -1;
}

}  // namespace

std::vector<double> jaccard_at_least(const RaggedRows& rows, PairRows pairs, double least, bool sampled,
                                     unsigned threads) {
    std::vector<double> out(pairs.left.size());
    const RuledOut table(least);
    const RuledOut* const ruled_out = sampled ? &table : nullptr;
    in_parallel(out.size(), threads, kPairs, [&](std::size_t begin, std::size_t end) {
        on_best_level([&]<Cpu level>() KERNEL {
            for (std::size_t i = begin; i < end; ++i)
                out[i] = jaccard<level>(rows.hashes_of(pairs.left[i]), rows.hashes_of(pairs.right[i]), least,
                                        ruled_out);
        });
    });
    return out;
}

}  // namespace neardup
