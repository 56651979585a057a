#include "join/verify.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace neardup {

namespace {

constexpr std::size_t kPairs = 256;  // handed to a thread at a time
constexpr std::size_t kSteps = 64;   // of a merge between two checks whether `least` is still possible

double jaccard(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b, double least) {
    const double both = static_cast<double>(a.size() + b.size());
    // s shared features of `both` give s / (both - s). One less than that needs, because of rounding.
    const auto needed = static_cast<std::int64_t>(least / (1 + least) * both) - 1;
    std::int64_t count = 0;
    for (std::size_t i = 0, j = 0;;) {
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
    }
    if (count == 0) return -1;
    const double similarity = static_cast<double>(count) / (both - static_cast<double>(count));
    return similarity >= least ? similarity : -1;
}

}  // namespace

std::vector<double> jaccard_at_least(const RaggedRows& rows, PairRows pairs, double least, unsigned threads) {
    std::vector<double> out(pairs.left.size());
    in_parallel(out.size(), threads, kPairs, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            out[i] = jaccard(rows.hashes_of(pairs.left[i]), rows.hashes_of(pairs.right[i]), least);
    });
    return out;
}

}  // namespace neardup
