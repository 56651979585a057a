#include "text/letter_bits.hpp"

#include <algorithm>
#include <cstring>

#include "simd.hpp"

namespace neardup {

namespace {

// What 64 bytes are: a bit for each capital letter, each byte that is no ASCII letter, and each that may end a sentence.
// Capital letters become small.
struct Kinds {
    std::uint64_t capitals, others, stops;
};
template <Cpu level>
KERNEL inline Kinds lower_block(char* bytes) {
    unsigned char in[64], out[64], capitals[64], others[64], stops[64];
    std::memcpy(in, bytes, 64);
    for (int i = 0; i < 64; ++i) {
        const unsigned char c = in[i];
        const auto capital = static_cast<unsigned char>(static_cast<unsigned char>(c - 'A') < 26);
        const auto letter = static_cast<unsigned char>(static_cast<unsigned char>((c | 0x20) - 'a') < 26);
        // 0 for one of four; GCC would make a table of four comparisons, which has no vectors.
        const auto apart =
            std::min(std::min<unsigned char>(c ^ '.', c ^ '!'), std::min<unsigned char>(c ^ '?', c ^ '\n'));
        out[i] = static_cast<unsigned char>(c | (static_cast<unsigned char>(-capital) & 0x20));
        capitals[i] = capital;
        others[i] = static_cast<unsigned char>(1 ^ letter);
        stops[i] = static_cast<unsigned char>((apart == 0) | c >> 7);
    }
    std::memcpy(bytes, out, 64);
    return {pack_flags<level>(capitals), pack_flags<level>(others), pack_flags<level>(stops)};
}

}  // namespace

void lower_ascii(NormalText& text, LetterBits& bits) {
    for (auto* some : {&bits.capitals, &bits.others, &bits.stops}) some->resize(text.blocks());
    on_best_level([&]<Cpu level>() KERNEL {
        char* bytes = text.data();
        for (std::size_t block = 0; block < text.blocks(); ++block) {
            const Kinds kinds = lower_block<level>(bytes + 64 * block);
            const std::uint64_t inside = text.in_token(block);
            bits.capitals[block] = kinds.capitals & inside;
            bits.others[block] = kinds.others & inside;
            bits.stops[block] = kinds.stops & ~inside;
        }
    });
}

}  // namespace neardup
