#include "search/table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simd.hpp"

namespace neardup {

Table::Table(Shape shape, std::size_t codes)
    : shape_(std::move(shape)),
      groups_((std::size_t{1} << layout().header_bits()) / 4 + 1),
      low_(codes),
      high_(codes * layout().high_bytes()),
      presence_(shape_.has_presence() ? std::size_t{1} << layout().header_bits() : 0) {}

std::size_t Table::bytes() const {
    return groups_.bytes() + wide_.size() * 4 + low_.bytes() + high_.bytes() + presence_.bytes();
}

Table::Part::Part(Table& table, unsigned part_bits, std::size_t part, std::uint32_t start)
    : table_(table), next_(start) {
    const unsigned rest = table.layout().header_bits() - part_bits;
    group_ = static_cast<std::uint32_t>((part << rest) / 4);
    last_group_ = static_cast<std::uint32_t>((((part + 1) << rest) + 3) / 4);
    bounds_[0] = start;
}

void Table::Part::close_group() {
    while (bucket_ < 4) bounds_[++bucket_] = next_;
    const std::uint32_t base = bounds_[0];
    if (bounds_[4] - base > 254) {
        wide_groups_.push_back(group_);
        wide_.insert(wide_.end(), bounds_.begin(), bounds_.end());
        table_.groups_[group_] = std::uint64_t{255} << 56;
    } else {
        std::uint64_t word = base;
        for (unsigned j = 0; j < 4; ++j) word |= std::uint64_t{bounds_[j + 1] - base} << (32 + 8 * j);
        table_.groups_[group_] = word;
    }
    ++group_;
    bucket_ = 0;
    bounds_[0] = next_;
}

void Table::Part::add(const Code& permuted) {
    const Layout& layout = table_.layout();
    const std::uint64_t top = permuted[layout.words() - 1];
    const auto header = static_cast<std::uint32_t>(layout.header(top));
    while (group_ < header / 4) close_group();
    while (bucket_ < header % 4) bounds_[++bucket_] = next_;
    table_.low_[next_] = static_cast<std::uint32_t>(permuted[0]) & layout.low_mask();
    const std::size_t high = layout.high_bytes();
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(permuted.data()) + 4;
    std::uint8_t* to = table_.high_.data() + next_ * high;
    switch (high) {  // a copy of known length is one instruction
        case 0: break;
        case 1: *to = *bytes; break;
        case 2: std::memcpy(to, bytes, 2); break;
        default: std::copy_n(bytes, high, to);
    }
    if (table_.shape_.has_presence())
        table_.presence_[header] |= std::uint64_t{1} << (layout.header(top, Shape::extra) & 63);
    ++next_;
}

void Table::Part::finish() {
    while (group_ < last_group_) close_group();
}

void Table::join(std::span<Part> parts) {
    for (const Part& part : parts) {
        for (std::size_t i = 0; i < part.wide_groups_.size(); ++i)
            groups_[part.wide_groups_[i]] = std::uint64_t{255} << 56 | (wide_.size() + 5 * i);
        wide_.insert(wide_.end(), part.wide_.begin(), part.wide_.end());
    }
}

// Two prefetch distances: a probe's group is asked for first, its bucket once the group has come, and the bucket is
// read when it has come too.
void Table::scan(Batch& batch, unsigned radius) const {
    constexpr std::size_t to_bucket = 32, to_read = 24, ring = 64;
    const std::size_t count = batch.asked;
    const Probe* probes = batch.probes.data();
    const std::uint32_t *query_low = batch.low.data(), *low = low_.data(), *wide = wide_.data();
    const std::uint64_t* groups = groups_.data();
    const std::uint8_t* high = high_.data();
    const std::size_t high_bytes = layout().high_bytes();
    auto& suspects = batch.suspects;
    suspects.clear();
    on_best_level([=, &suspects]<Cpu level>() KERNEL {
        std::pair<std::uint32_t, std::uint32_t> read[ring];
        for (std::size_t i = 0; i < count + to_bucket + to_read; ++i) {
            if (i < count) __builtin_prefetch(groups + probes[i].header / 4);
            const std::size_t j = i - to_bucket;
            if (i >= to_bucket && j < count) {
                const auto range = bounds(groups, wide, probes[j].header);
                read[j % ring] = range;
                const std::uint32_t *p = low + range.first, *end = low + range.second;
                __builtin_prefetch(p);
                __builtin_prefetch(end - 1);
                if (end - p > 32) [[unlikely]]
                    for (p += lanes; p < end && p < low + range.first + 16 * lanes; p += lanes)
                        __builtin_prefetch(p);
            }
            if (i < to_bucket + to_read) continue;
            const std::size_t k = i - to_bucket - to_read;
            const auto [start, end] = read[k % ring];
            const std::uint32_t query = query_low[probes[k].query];
            const std::uint32_t reach = radius - probes[k].flips;  // no probe flips more than the radius
            for (std::uint32_t p = start; p < end; p += lanes) {
                std::uint32_t near =
                    near_lanes<level>(low + p, std::min<std::size_t>(end - p, lanes), query, reach);
                for (; near != 0; near &= near - 1) {
                    const std::uint32_t x = p + static_cast<std::uint32_t>(std::countr_zero(near));
                    __builtin_prefetch(high + x * high_bytes);
                    suspects.push_back({x, static_cast<std::uint32_t>(k)});
                }
            }
        }
    });
}

std::uint32_t Table::find(const Code& permuted) const {
    const auto header = static_cast<std::uint32_t>(layout().header(permuted[layout().words() - 1]));
    const std::uint32_t low = static_cast<std::uint32_t>(permuted[0]) & layout().low_mask();
    const auto [start, end] = bucket(header);
    for (std::uint32_t x = start; x < end; ++x)
        if (low_[x] == low && entry(x, header) == permuted) return x;
    return end;
}

}  // namespace neardup
