#include "text/select.hpp"

#include <algorithm>

namespace neardup {

void winnow(std::span<const std::uint64_t> sequence, std::size_t window, Buffer<std::uint64_t>& kept) {
    kept.clear();
    const std::size_t n = sequence.size();
    window = std::min(window, n);
    if (window == 0) return;
    std::size_t best = n;  // none yet
    for (std::size_t end = window; end <= n; ++end) {
        const std::size_t begin = end - window, last = best;
        const bool expired = best == n || best < begin;
        if (expired) best = begin;
        for (std::size_t i = expired ? begin : end - 1; i < end; ++i)
            if (sequence[i] <= sequence[best]) best = i;
        if (best != last) kept.push_back(sequence[best]);
    }
}

}  // namespace neardup
