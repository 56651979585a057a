#pragma once
// Whether bytes are UTF-8, 64 at a time.
#include <cstddef>

#include "cpu.hpp"

namespace neardup {

// The bytes of whole characters at the front of 64 that begin with one, if they are well-formed.
inline std::size_t whole_characters(const unsigned char* at) {
    if (at[63] >= 0xC0) return 63;
    if (at[62] >= 0xE0) return 62;
    return at[61] >= 0xF0 ? 61 : 64;
}

// Whether the first `size` of 64 bytes are whole, well-formed characters of UTF-8. Every byte looks at those before it: as
// plain arithmetic, which GCC turns into vectors.
KERNEL inline bool well_formed(const unsigned char* at, std::size_t size) {
    unsigned char bytes[64 + 3] = {};  // none before the first, blanks behind the last
    for (std::size_t i = 0; i < 64; ++i)
        bytes[i + 3] = at[i] & static_cast<unsigned char>(-static_cast<unsigned char>(i < size));
    unsigned char wrong = 0;
    for (std::size_t i = 0; i < 64; ++i) {
        const unsigned char third = bytes[i], second = bytes[i + 1], before = bytes[i + 2],
                            here = bytes[i + 3];
        const bool expected = (before >= 0xC0) | (second >= 0xE0) | (third >= 0xF0);
        const bool follows = (here & 0xC0) == 0x80;
        const bool never = (here == 0xC0) | (here == 0xC1) | (here >= 0xF5);
        // Overlong forms, surrogates and what is beyond U+10FFFF.
        const bool low = ((before == 0xE0) & (here < 0xA0)) | ((before == 0xF0) & (here < 0x90));
        const bool high = ((before == 0xED) & (here >= 0xA0)) | ((before == 0xF4) & (here >= 0x90));
        wrong |= static_cast<unsigned char>((expected != follows) | never | low | high);
    }
    return wrong == 0;
}

}  // namespace neardup
