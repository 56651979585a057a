#include "clusters/clusters.hpp"

#include <utility>

namespace neardup {

Keepers first_keepers(std::span<const std::int64_t> left, std::span<const std::int64_t> right,
                      std::span<const std::int64_t> order) {
    const std::size_t rows = order.size();
    std::vector<std::uint32_t> place(rows);
    for (std::size_t i = 0; i < rows; ++i)
        place[static_cast<std::size_t>(order[i])] = static_cast<std::uint32_t>(i);
    // Better and worse row of a pair. When a row's turn comes all better ones have had theirs, so each pair need be
    // found from its better row alone.
    const auto ends = [&](std::size_t i) {
        const auto a = static_cast<std::uint32_t>(left[i]), b = static_cast<std::uint32_t>(right[i]);
        return place[a] < place[b] ? std::pair(a, b) : std::pair(b, a);
    };
    std::vector<std::size_t> starts(rows + 1);
    for (std::size_t i = 0; i < left.size(); ++i) ++starts[ends(i).first];
    for (std::size_t row = 0, before = 0; row <= rows; ++row) before += std::exchange(starts[row], before);
    std::vector<std::size_t> pairs(left.size());
    {
        std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
        for (std::size_t i = 0; i < left.size(); ++i) pairs[next[ends(i).first]++] = i;
    }
    Keepers out{std::vector<std::int64_t>(rows, -1), std::vector<std::int64_t>(rows, -1)};
    for (const std::int64_t best : order) {
        const auto row = static_cast<std::size_t>(best);
        if (out.keeper[row] >= 0) continue;
        out.keeper[row] = best;
        for (std::size_t i = starts[row]; i < starts[row + 1]; ++i) {
            const std::size_t other = ends(pairs[i]).second;
            if (out.keeper[other] >= 0) continue;
            out.keeper[other] = best;
            out.pair[other] = static_cast<std::int64_t>(pairs[i]);
        }
    }
    return out;
}

}  // namespace neardup
