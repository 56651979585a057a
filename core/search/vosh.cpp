#include "search/vosh.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace neardup {

namespace {

bool comes_later(const RankSet& a, const RankSet& b) {
    if (a.cost != b.cost) return a.cost > b.cost;
    if (a.size != b.size) return a.size > b.size;
    return a.ranks > b.ranks;  // unused places are zero in both
}

}  // namespace

Children children(const RankSet& set, unsigned width) {
    Children out{false, false, set, set};
    const unsigned last = set.size - 1u;
    if (set.ranks[last] + 1u < width) {
        out.has_left = true;
        ++out.left.ranks[last];
    }
    for (unsigned j = last; j-- > 0;) {
        const int gap = set.ranks[j + 1] - set.ranks[j];
        if (gap == 2) {
            out.has_right = true;
            ++out.right.ranks[j];
        }
        if (gap >= 2) break;
    }
    return out;
}

void rank_bits(std::span<const float> costs, std::span<std::uint8_t> ranking, std::span<float> ranked) {
    std::array<float, 256> sizes;
    for (std::size_t f = 0; f < costs.size(); ++f) {
        const float size = std::fabs(costs[f]);
        sizes[f] = std::isnan(size) ? std::numeric_limits<float>::infinity() : size;
        ranking[f] = static_cast<std::uint8_t>(f);
    }
    std::sort(
        ranking.begin(), ranking.begin() + static_cast<std::ptrdiff_t>(costs.size()),
        [&](std::uint8_t a, std::uint8_t b) { return sizes[a] != sizes[b] ? sizes[a] < sizes[b] : a < b; });
    for (std::size_t r = 0; r < costs.size(); ++r) ranked[r] = sizes[ranking[r]];
}

void FlipOrder::push(RankSet set) {
    // Added up from the lowest rank, always in that order: no child can come out cheaper than its parent by rounding.
    set.cost = 0;
    for (const std::uint8_t rank : set.span()) set.cost += costs_[rank];
    heap_.push_back(set);
    std::push_heap(heap_.begin(), heap_.end(), comes_later);
}

void FlipOrder::start(std::span<const float> costs, unsigned radius) {
    costs_ = costs;
    heap_.clear();
    for (unsigned size = 1; size <= std::min<std::size_t>(radius, costs.size()); ++size) {
        RankSet root;
        root.size = static_cast<std::uint8_t>(size);
        for (unsigned j = 0; j < size; ++j) root.ranks[j] = static_cast<std::uint8_t>(j);
        push(root);
    }
}

bool FlipOrder::next(RankSet& set) {
    if (heap_.empty()) return false;
    std::pop_heap(heap_.begin(), heap_.end(), comes_later);
    set = heap_.back();
    heap_.pop_back();
    const Children next = children(set, static_cast<unsigned>(costs_.size()));
    if (next.has_left) push(next.left);
    if (next.has_right) push(next.right);
    return true;
}

std::vector<Step> flip_template(std::span<const float> costs, unsigned radius, std::size_t sets) {
    FlipOrder order;
    order.start(costs, radius);
    std::map<std::pair<std::uint8_t, decltype(RankSet::ranks)>, std::uint32_t> number{{{0, {}}, 0}};
    std::vector<Step> steps;
    for (RankSet set; steps.size() < sets && order.next(set);) {
        // A set without its last rank costs no more and is smaller, so it came before.
        RankSet parent = set;
        parent.ranks[--parent.size] = 0;
        steps.push_back({number.at({parent.size, parent.ranks}), set.ranks[parent.size], set.size});
        number[{set.size, set.ranks}] = static_cast<std::uint32_t>(steps.size());
    }
    return steps;
}

}  // namespace neardup
