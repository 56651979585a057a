#pragma once
// Pairs to labels: which rows hang together, the label being the smallest row of each lot.
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace neardup {

// Rows start alone. A root is always the smallest row below it, so labels do not depend on the order of the
// pairs.
class UnionFind {
  public:
    explicit UnionFind(std::size_t rows) : parent_(rows) {
        std::iota(parent_.begin(), parent_.end(), std::uint32_t{0});
    }

    void unite(std::uint32_t a, std::uint32_t b) {
        a = root(a);
        b = root(b);
        if (a < b)
            parent_[b] = a;
        else
            parent_[a] = b;
    }

    std::uint32_t root(std::uint32_t row) {
        while (parent_[row] != row) row = parent_[row] = parent_[parent_[row]];
        return row;
    }

    std::vector<std::int64_t> labels();

  private:
    std::vector<std::uint32_t> parent_;
};

// Labels of `rows` rows tied by pairs (left[i], right[i]), all of them below `rows`.
std::vector<std::int64_t> labels_of_pairs(std::size_t rows, std::span<const std::int64_t> left,
                                          std::span<const std::int64_t> right);

}  // namespace neardup
