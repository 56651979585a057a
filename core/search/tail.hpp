#pragma once
// The part of a live index that changes: tables whose buckets are one cache line each, filled in place.
//
// A bucket is a line of low bits and a line of code numbers; the few codes that a full bucket cannot take are in a
// list of their own. Equal codes are found when they are added and share one entry.
//
// Few queries find anything in a tail, and trying all flips of each would cost as much as a small segment. So a map says
// for every value of the first bits of the key whether a code within a table's flips of it is stored: each code marks all
// values near it when it is added, and a query reads one bit.
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "search/tables.hpp"

namespace neardup {

class Tail {
  public:
    // For up to `capacity` rows, numbered from 0.
    Tail(const Design& design, std::size_t capacity);

    std::size_t size() const { return next_.size(); }
    std::size_t room() const { return capacity_ - size(); }
    std::size_t bytes() const;

    // At most room() codes.
    void add(std::span<const std::uint64_t> codes, std::span<const bool> empty);
    void search(Batch& batch, const Request& request, std::int64_t base, const Tombstones* dead) const;
    void append(std::vector<std::uint64_t>& codes, std::vector<std::uint32_t>& rows, std::int64_t base,
                std::uint32_t shift, const Tombstones& dead) const;

  private:
    static constexpr std::uint32_t none = ~0u;
    struct Overflow {
        std::vector<std::uint32_t> low, code;
    };
    struct Buckets {
        Shape shape;
        Pages<std::uint32_t> low, code;  // 16 to a bucket
        Pages<std::uint8_t> count;       // 17: it has overflowed
        Pages<std::uint64_t> presence;
        Pages<std::uint64_t> marks;  // bits, by the first `marked` bits of the key; none if flips are many
        unsigned marked = 0;
        std::vector<std::uint32_t> nearby;  // what the marks of one code differ in
        std::unordered_map<std::uint32_t, Overflow> overflow;

        std::uint32_t find(std::uint32_t header, std::uint32_t low_bits, const Code& wanted,
                           const std::vector<Code>& codes) const;
        // Which values of the key's first bits a code is near to; and which queries are near to none that is here. Both
        // take the code's most significant word.
        void mark(std::uint64_t top);
        void close(const Batch& batch, std::array<std::uint8_t, batch_rows>& closed) const;
        void insert(std::uint32_t header, std::uint32_t low_bits, std::uint32_t number);
    };
    void scan(const Buckets& buckets, Batch& batch) const;
    // The rows of a code, ascending.
    std::span<const std::uint32_t> rows_of(std::uint32_t code, std::vector<std::uint32_t>& room) const;

    Design design_;
    std::size_t capacity_;
    std::vector<Buckets> tables_;
    std::vector<Claim> claims_;
    std::vector<Code> codes_;                  // distinct ones, in order of arrival
    std::vector<std::uint32_t> first_, last_;  // rows of each code
    std::vector<std::uint32_t> next_;          // per row: the next one with the same code
};

}  // namespace neardup
