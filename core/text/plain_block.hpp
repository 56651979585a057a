#pragma once
// Up to 64 bytes of UTF-8 at a time whose characters NFKC leaves as they are and of which each keeps its length when its
// case is folded. Most text is nothing else.
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "simd.hpp"
#include "text/unicode.hpp"

namespace neardup {

// What a code point of two bytes becomes.
struct TwoBytes {
    char bytes[2];
    bool plain;  // NFKC leaves it, and it has two bytes afterwards too
    Class klass;
};
using TwoByteTable = std::array<TwoBytes, 0x800>;

const TwoByteTable& two_byte_table(bool casefold);

// A normalised stretch. One bit for each byte: does it belong to a token, does it begin one that a bit before may belong
// to as well, and does such a token end with it.
struct PlainBlock {
    std::uint64_t word, begins, ends;
    std::size_t size;  // bytes, 0 if the first character is not plain or the second may join with it
};

struct AsciiMarks {
    std::uint64_t word, punctuation, beyond;
};

// 64 bytes in lower case if `lower` is 0x20; those beyond ASCII are copied. Branch-free arithmetic on bytes: GCC turns it
// into vectors.
template <Cpu level>
KERNEL inline AsciiMarks ascii_block(const char* in, char* out, unsigned char lower) {
    unsigned char word[64], punctuation[64], beyond[64];
    for (int i = 0; i < 64; ++i) {
        const auto c = static_cast<unsigned char>(in[i]);
        const auto upper = static_cast<unsigned char>(static_cast<unsigned char>(c - 'A') < 26);
        const auto letter = static_cast<unsigned char>(static_cast<unsigned char>((c | 0x20) - 'a') < 26);
        const auto digit = static_cast<unsigned char>(static_cast<unsigned char>(c - '0') < 10);
        const auto underscore = static_cast<unsigned char>(c == '_');
        const auto visible = static_cast<unsigned char>(static_cast<unsigned char>(c - 0x21) < 0x5E);
        out[i] = static_cast<char>(c | (static_cast<unsigned char>(-upper) & lower));
        word[i] = letter | digit | underscore;
        punctuation[i] = visible & static_cast<unsigned char>(1 ^ (letter | digit | underscore));
        beyond[i] = static_cast<unsigned char>(c >> 7);
    }
    return {pack_flags<level>(word), pack_flags<level>(punctuation), pack_flags<level>(beyond)};
}

// The lowest `count` bits.
KERNEL inline std::uint64_t low_bits(std::size_t count) {
    return count == 0 ? 0 : ~std::uint64_t{0} >> (64 - count);
}

// Where the character ends that begins at byte i, or 0 if it is not plain; changes its bytes and the bits of the block.
// There are `width` bytes.
KERNEL inline std::size_t plain_character(const char* in, std::size_t i, std::size_t width, char* out,
                                          const TwoByteTable& two_bytes, bool punctuation,
                                          PlainBlock& block) {
    const auto byte = [in](std::size_t at) { return static_cast<unsigned char>(in[at]); };
    const auto follows = [&](std::size_t at) { return (byte(at) & 0xC0) == 0x80; };
    const unsigned lead = byte(i);
    std::size_t length;
    Class klass;
    if (lead >= 0xC2 && lead < 0xE0) {
        length = 2;
        if (i + length > width || !follows(i + 1)) return 0;
        const TwoBytes& found = two_bytes[(lead & 0x1F) << 6 | (byte(i + 1) & 0x3F)];
        if (!found.plain) return 0;
        std::memcpy(out + i, found.bytes, 2);
        klass = found.klass;
    } else if (lead >= 0xE0 && lead < 0xF0) {
        length = 3;
        if (i + length > width || !follows(i + 1) || !follows(i + 2)) return 0;
        const char32_t c = (lead & 0x0F) << 12 | (byte(i + 1) & 0x3Fu) << 6 | (byte(i + 2) & 0x3Fu);
        if (c < 0x800 || (c >= 0xD800 && c < 0xE000)) return 0;
        const Properties what = properties(c);
        klass = what.klass();
        if (what.unsafe() || what.folds() || klass == Class::ignored) return 0;
    } else {
        return 0;
    }
    const bool alone = klass == Class::single || (klass == Class::punctuation && punctuation);
    const std::uint64_t bits = low_bits(length) << i;
    block.word |= alone || klass == Class::word ? bits : 0;
    block.begins |= std::uint64_t{alone} << i;
    block.ends |= std::uint64_t{alone} << (i + length - 1);
    return i + length;
}

// Normalises the plain characters at the front of `width` bytes, at most 64, of which 64 may be read and written. The last
// one is left if what follows the bytes may join with it; `joins` says whether that is possible.
template <Cpu level>
KERNEL inline PlainBlock plain_block(const char* in, std::size_t width, bool joins, char* out,
                                     unsigned char lower, const TwoByteTable& two_bytes, bool punctuation) {
    const AsciiMarks marks = ascii_block<level>(in, out, lower);
    const std::uint64_t singles = punctuation ? marks.punctuation : 0;
    PlainBlock block{marks.word | singles, singles, singles, width};
    std::size_t last = width;  // where the character before the end begins, if it is beyond ASCII
    std::uint64_t rest = marks.beyond & low_bits(width);
    while (rest != 0) {
        const auto i = static_cast<std::size_t>(std::countr_zero(rest));
        const std::size_t end = plain_character(in, i, width, out, two_bytes, punctuation, block);
        if (end == 0) {
            block.size = i;
            joins = true;
            break;
        }
        last = i;
        rest &= ~low_bits(end);
    }
    if (joins && block.size > 0) {
        const bool ascii = static_cast<signed char>(in[block.size - 1]) >= 0;
        block.size = ascii ? block.size - 1 : last;
    }
    const std::uint64_t inside = low_bits(block.size);
    block.word &= inside;
    block.begins &= inside;
    block.ends &= inside;
    return block;
}

}  // namespace neardup
