#pragma once
// Normalised text to tokens, and what is made of a token stream before shingling.
#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "buffer.hpp"
#include "text/hash.hpp"
#include "text/normalize.hpp"

namespace neardup {

// Where tokens begin, and which bytes are the first behind one, block after block. The two alternate; the last block ends
// every token.
class TokenBits {
  public:
    struct Bits {
        std::uint64_t starts, ends;
    };
    KERNEL Bits of(const NormalText& text, std::size_t block) {
        const std::uint64_t inside = text.in_token(block), fresh = text.begins(block);
        const std::uint64_t before = inside << 1 | carry_;
        carry_ = inside >> 63;
        return {inside & (~before | fresh), before & (~inside | fresh)};
    }

  private:
    std::uint64_t carry_ = 0;  // does the byte before this block belong to a token?
};

// Calls sink(begin, end) with the byte positions of each token, in order.
template <class Sink>
KERNEL inline void for_each_token(const NormalText& text, Sink sink) {
    std::size_t begun = 0;
    bool open = false;
    TokenBits bits;
    for (std::size_t block = 0; block < text.blocks(); ++block) {
        // The k-th start belongs to the k-th end.
        auto [starts, ends] = bits.of(text, block);
        const std::size_t base = block * 64;
        if (open) {
            if (ends == 0) continue;
            sink(begun, base + static_cast<std::size_t>(std::countr_zero(ends)));
            ends &= ends - 1;
            open = false;
        }
        for (; starts != 0; starts &= starts - 1, ends &= ends - 1) {
            const std::size_t start = base + static_cast<std::size_t>(std::countr_zero(starts));
            if (ends == 0) {
                begun = start;
                open = true;
                break;
            }
            sink(start, base + static_cast<std::size_t>(std::countr_zero(ends)));
        }
    }
    if (open) sink(begun, text.bytes().size());
}

// The hash of each token, in order; replaces `out`.
void hash_tokens(const NormalText& text, Hash kind, std::uint64_t seed, Buffer<std::uint64_t>& out);

struct Digest128 {
    std::uint64_t low, high;
};

// A 128-bit digest of a sequence of tokens, as if they were joined by single separators. Two lanes take the same
// eight bytes at a time, each folded into its own state.
class TokenDigest {
  public:
    explicit TokenDigest(std::uint64_t seed) : a_(draw(seed, 101)), b_(draw(seed, 102)) {}

    // Reads whole words: NormalText leaves room behind its last byte.
    KERNEL void add(const char* p, std::size_t n) {
        const std::uint64_t length = n;
        for (; n > 8; p += 8, n -= 8) step(read64(p));
        step(read64(p) & (~std::uint64_t{0} >> (64 - 8 * n)));
        step(length);
    }
    Digest128 value() const { return {mix(a_), mix(b_)}; }

  private:
    KERNEL void step(std::uint64_t chunk) {
        a_ = fold(a_ ^ chunk, 0xA0761D6478BD642Fu) ^ std::rotl(a_, 29);
        b_ = fold(b_ + chunk, 0xE7037ED1A0B428DBu) ^ std::rotl(b_, 23);
    }
    std::uint64_t a_, b_;
};

}  // namespace neardup
