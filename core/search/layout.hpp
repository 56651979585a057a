#pragma once
// The place of each bit of a code in one table. A table permutes a code so that its key comes first:
//
//     most significant                                        least significant
//     | header: t key bits | rest of the key | bits outside the key |
//                          |<------------- stored ----------------->|
//
// The header is the address of a bucket, so a bucket stores only the bits after it.
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpu.hpp"

namespace neardup {

static_assert(std::endian::native == std::endian::little, "stored codes are little-endian words");

// A code of 32, 64 or 128 bits; bit j is bit j % 64 of word j / 64, and words a width does not use are zero.
constexpr std::size_t max_words = 2;
using Code = std::array<std::uint64_t, max_words>;

KERNEL inline Code operator^(const Code& a, const Code& b) { return {a[0] ^ b[0], a[1] ^ b[1]}; }
KERNEL inline unsigned bits_in(const Code& code) {
    return static_cast<unsigned>(std::popcount(code[0]) + std::popcount(code[1]));
}
KERNEL inline unsigned bits_in(const Code& code, const Code& mask) {
    return bits_in(Code{code[0] & mask[0], code[1] & mask[1]});
}

// Queries that walk a table together, so that their memory accesses overlap. One column per word.
constexpr std::size_t batch_rows = 1024;
using Columns = std::array<std::array<std::uint64_t, batch_rows>, max_words>;

class Layout {
  public:
    Layout() = default;
    // The header takes the highest `header_bits` bits of the key.
    Layout(unsigned bits, const Code& key, unsigned header_bits);

    unsigned bits() const { return bits_; }
    unsigned words() const { return bits_ > 64 ? 2 : 1; }
    unsigned header_bits() const { return header_bits_; }
    unsigned rest_bits() const { return bits_ - header_bits_; }
    // Bytes of a stored code beyond its low four.
    unsigned high_bytes() const { return rest_bits() > 32 ? (rest_bits() - 32 + 7) / 8 : 0; }
    std::uint32_t low_mask() const { return rest_bits() >= 32 ? ~0u : (1u << rest_bits()) - 1; }
    // The code's bits that make the first `count` bits of the key.
    Code leading(unsigned count) const;

    // The permuted forms of codes in columns.
    void permute(const Columns& codes, std::size_t count, Columns& out) const;
    KERNEL Code permute(const Code& code) const { return apply(runs_, code); }
    KERNEL Code restore(const Code& permuted) const { return apply(back_, permuted); }

    // Of a permuted code's most significant word; `extra` more key bits after the header.
    KERNEL std::uint64_t header(std::uint64_t top, unsigned extra = 0) const {
        const unsigned shift = top_bits() - header_bits_ - extra;
        return shift == 64 ? 0 : top >> shift;
    }
    // Puts a header back in front of the bits a bucket stores.
    KERNEL Code with_header(Code permuted, std::uint64_t header) const {
        const unsigned shift = top_bits() - header_bits_;
        if (shift == 64) return permuted;
        auto& top = permuted[words() - 1];
        top = (top & ((std::uint64_t{1} << shift) - 1)) | header << shift;
        return permuted;
    }

  private:
    // A run of neighbouring bits that are also neighbours after the permutation, within one word on both sides.
    struct Run {
        std::uint8_t from_word, from_shift, to_word, to_shift;
        std::uint64_t mask;
    };
    static std::vector<Run> runs(const std::vector<std::uint8_t>& source);
    KERNEL static Code apply(const std::vector<Run>& runs, const Code& code) {
        Code out{};
        for (const Run& run : runs)
            out[run.to_word] |= ((code[run.from_word] >> run.from_shift) & run.mask) << run.to_shift;
        return out;
    }
    KERNEL unsigned top_bits() const { return bits_ > 32 ? 64 : 32; }

    unsigned bits_ = 64, header_bits_ = 0;
    std::vector<std::uint8_t> source_;  // permuted bit -> code bit
    std::vector<Run> runs_, back_;
};

}  // namespace neardup
