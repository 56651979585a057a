#include "clusters/unionfind.hpp"

namespace neardup {

std::vector<std::int64_t> UnionFind::labels() {
    std::vector<std::int64_t> out(parent_.size());
    // A parent is never above its child, so by the time a row is reached its parent's label is known.
    for (std::size_t row = 0; row < out.size(); ++row)
        out[row] = parent_[row] == row ? static_cast<std::int64_t>(row) : out[parent_[row]];
    return out;
}

std::vector<std::int64_t> labels_of_pairs(std::size_t rows, std::span<const std::int64_t> left,
                                          std::span<const std::int64_t> right) {
    UnionFind lots(rows);
    for (std::size_t i = 0; i < left.size(); ++i)
        lots.unite(static_cast<std::uint32_t>(left[i]), static_cast<std::uint32_t>(right[i]));
    return lots.labels();
}

}  // namespace neardup
