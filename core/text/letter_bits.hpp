#pragma once
// What the bytes of a text are, found 64 at a time: which are capital letters, which no letters, which may end a sentence.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "text/normalize.hpp"

namespace neardup {

// A bit for each byte. Bytes in tokens: capital ASCII letters, and those that are no ASCII letters. Bytes between tokens:
// those that may end a sentence.
struct LetterBits {
    std::vector<std::uint64_t> capitals, others, stops;
};

// Makes the capital ASCII letters of a text small; `bits` says what it was.
void lower_ascii(NormalText& text, LetterBits& bits);

// Finds set bits from front to back.
class NextBit {
  public:
    explicit NextBit(const std::vector<std::uint64_t>& bits) : bits_(bits) { find(0); }

    // The first one from a place on, which is never before an earlier one; SIZE_MAX if there is none.
    std::size_t from(std::size_t place) {
        if (at_ < place) find(place);
        return at_;
    }

  private:
    void find(std::size_t place) {
        std::size_t block = place / 64;
        std::uint64_t bits = block < bits_.size() ? bits_[block] >> place % 64 << place % 64 : 0;
        while (bits == 0)
            if (++block >= bits_.size())
                return void(at_ = SIZE_MAX);
            else
                bits = bits_[block];
        at_ = block * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    }
    const std::vector<std::uint64_t>& bits_;
    std::size_t at_ = 0;
};

}  // namespace neardup
