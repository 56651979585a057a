#pragma once
// One table that never changes: buckets of codes by header, each code without the bits its bucket implies.
//
//     groups   8 bytes for four buckets: where the first starts, and where each ends, relative to that
//     low      the 32 low bits of each stored code, which are all a probe reads
//     high     its other bytes, read for suspects only
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "pages.hpp"
#include "search/probes.hpp"

namespace neardup {

class Table {
  public:
    Table() = default;
    Table(Shape shape, std::size_t codes);

    const Shape& shape() const { return shape_; }
    const Layout& layout() const { return shape_.layout(); }
    const Pages<std::uint64_t>& presence() const { return presence_; }
    std::size_t bytes() const;

    // Buckets are filled in parts: part p of 2^part_bits holds the headers that start with p. Parts may be written by
    // different threads; `codes` are permuted, in order of header, and the first of them is entry `start`.
    class Part {
      public:
        Part(Table& table, unsigned part_bits, std::size_t part, std::uint32_t start);
        void add(const Code& permuted);
        void finish();

      private:
        friend class Table;
        void close_group();

        Table& table_;
        std::uint32_t next_, group_, last_group_;
        std::array<std::uint32_t, 5> bounds_{};
        unsigned bucket_ = 0;
        std::vector<std::uint32_t> wide_, wide_groups_;
    };
    // Groups too large for 8 bytes are gathered from the parts, in order, once all are finished.
    void join(std::span<Part> parts);

    // Reads the buckets of the batch's probes; suspects are entries whose low bits are within reach.
    void scan(Batch& batch, unsigned radius) const;
    // The difference between a suspect and its query, permuted.
    KERNEL Code difference(const Batch& batch, const Suspect& suspect) const {
        const Probe& probe = batch.probes[suspect.probe];
        return entry(suspect.position, probe.header) ^ batch.permuted_code(probe.query);
    }
    // The entry of a permuted code that is known to be here.
    std::uint32_t find(const Code& permuted) const;
    // Reads whole words, which may be the next entry's too: the header takes their place.
    KERNEL Code entry(std::uint32_t position, std::uint32_t header) const {
        const std::uint8_t* high = high_.data() + std::size_t{position} * layout().high_bytes();
        std::uint32_t middle;
        std::memcpy(&middle, high, 4);
        Code code{low_[position] | std::uint64_t{middle} << 32, 0};
        if (layout().words() == 2) std::memcpy(&code[1], high + 4, 8);
        return layout().with_header(code, header);
    }

    std::pair<std::uint32_t, std::uint32_t> bucket(std::uint32_t header) const {
        return bounds(groups_.data(), wide_.data(), header);
    }
    void prefetch_bucket(std::uint32_t header) const { __builtin_prefetch(groups_.data() + header / 4); }
    void prefetch_entry(std::uint32_t position) const {
        __builtin_prefetch(low_.data() + position);
        __builtin_prefetch(high_.data() + std::size_t{position} * layout().high_bytes());
    }

  private:
    KERNEL static std::pair<std::uint32_t, std::uint32_t> bounds(const std::uint64_t* groups,
                                                                 const std::uint32_t* wide,
                                                                 std::uint32_t header) {
        const std::uint64_t group = groups[header / 4];
        const auto base = static_cast<std::uint32_t>(group);
        const unsigned bucket = header % 4;
        if (group >> 56 == 255) [[unlikely]]
            return {wide[base + bucket], wide[base + bucket + 1]};
        const auto ends = static_cast<std::uint32_t>(group >> 32);
        return {base + ((ends << 8) >> (8 * bucket) & 255), base + (ends >> (8 * bucket) & 255)};
    }

    Shape shape_;
    Pages<std::uint64_t> groups_;
    std::vector<std::uint32_t> wide_;  // five bounds for each group with more than 254 codes
    Pages<std::uint32_t> low_;
    Pages<std::uint8_t> high_;
    Pages<std::uint64_t> presence_;
};

}  // namespace neardup
