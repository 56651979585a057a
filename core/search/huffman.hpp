#pragma once
// A canonical Huffman code with bounded lengths, for the few symbols of compressed.hpp.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

// No code word is longer, so one look at kHuffmanLimit bits decodes a symbol. On sorted uniform codes the bound costs
// about .01 bit a code against an unbounded code.
inline constexpr unsigned kHuffmanLimit = 12;

// The lengths, at most kHuffmanLimit, that code symbols with these counts in the fewest bits (package-merge). Symbols
// that do not occur have length 0; a symbol alone has length 1. At most 2^kHuffmanLimit symbols.
std::vector<std::uint8_t> huffman_lengths(std::span<const std::uint64_t> counts);

// True when the lengths are those of a code that huffman_lengths could give: Kraft's equality, one symbol, or none.
bool is_huffman(std::span<const std::uint8_t> lengths);

// The code word of each symbol, in the low bits.
std::vector<std::uint16_t> huffman_words(std::span<const std::uint8_t> lengths);

struct HuffmanEntry {
    std::uint8_t symbol = 0, length = 0;  // length 0: no code word begins like this
};

// What a string of bits begins with, by its first kHuffmanLimit bits. Needs is_huffman.
std::array<HuffmanEntry, 1 << kHuffmanLimit> huffman_table(std::span<const std::uint8_t> lengths);

}  // namespace neardup
