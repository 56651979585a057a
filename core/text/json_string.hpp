#pragma once
// What is between the quotes of a JSON string, as UTF-8.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd.hpp"
#include "text/unicode.hpp"
#include "text/utf8_block.hpp"

namespace neardup {

// How far ahead a copy may write beyond what it has read.
constexpr std::ptrdiff_t kStringStep = 64;

// Four hexadecimal digits, or -1.
inline std::int32_t code_unit(const unsigned char* at, const unsigned char* end) {
    if (end - at < 4) return -1;
    std::int32_t unit = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned char c = at[i], low = c | 0x20;
        if (c >= '0' && c <= '9')
            unit = unit << 4 | (c - '0');
        else if (low >= 'a' && low <= 'f')
            unit = unit << 4 | (low - 'a' + 10);
        else
            return -1;
    }
    return unit;
}

// The code point of an escape \uXXXX, or of two of them that are a pair; `at` is behind the first \u. Returns whether it
// is one; `at` is then behind it.
inline bool read_code_point(const unsigned char*& at, const unsigned char* end, unsigned char*& out) {
    const std::int32_t unit = code_unit(at, end);
    if (unit < 0 || (unit >= 0xDC00 && unit < 0xE000)) return false;
    at += 4;
    auto c = static_cast<char32_t>(unit);
    if (unit >= 0xD800 && unit < 0xDC00) {
        if (end - at < 6 || at[0] != '\\' || at[1] != 'u') return false;
        const std::int32_t low = code_unit(at + 2, end);
        if (low < 0xDC00 || low >= 0xE000) return false;
        at += 6;
        c = 0x10000 + ((c - 0xD800) << 10) + (static_cast<char32_t>(low) - 0xDC00);
    }
    char letters[4];
    const unsigned size = encode_utf8(c, letters);
    std::memcpy(out, letters, size);
    out += size;
    return true;
}

inline bool read_escape(const unsigned char*& at, const unsigned char* end, unsigned char*& out) {
    if (end - at < 2) return false;
    const unsigned char c = at[1];
    at += 2;
    switch (c) {
        case 'n': *out++ = '\n'; return true;
        case '"':
        case '\\':
        case '/': *out++ = c; return true;
        case 't': *out++ = '\t'; return true;
        case 'r': *out++ = '\r'; return true;
        case 'b': *out++ = '\b'; return true;
        case 'f': *out++ = '\f'; return true;
        case 'u': return read_code_point(at, end, out);
        default: return false;
    }
}

inline bool read_letters(const unsigned char*& at, const unsigned char* end, unsigned char*& out) {
    do {
        const Decoded found =
            decode_utf8(reinterpret_cast<const char*>(at), reinterpret_cast<const char*>(end));
        if (found.replaced) return false;
        for (unsigned i = 0; i < found.bytes; ++i) *out++ = *at++;
    } while (at != end && *at >= 0x80);
    return true;
}

// Copies a string to `out` up to its closing quote, at which `at` then is, or to the end; returns whether it is
// well-formed so far. `out` needs room for as many bytes as are read and kStringStep more.
template <Cpu level>
KERNEL inline bool read_string(const unsigned char*& from, const unsigned char* end, unsigned char*& to) {
    const unsigned char* at = from;
    unsigned char* out = to;
    bool sound = true;
    while (true) {
        if (end - at >= kStringStep) {
            const std::uint64_t stops = string_stops<level>(at);
            std::memcpy(out, at, kStringStep);
            auto plain = static_cast<std::size_t>(std::countr_zero(stops));
            const std::uint64_t beyond = beyond_ascii<level>(at);
            if ((beyond & (stops - 1) & ~stops) != 0) {
                if (stops == 0) plain = whole_characters(at);
                sound = well_formed(at, plain);
                if (!sound) break;
            }
            at += plain;
            out += plain;
            if (stops == 0) continue;
        } else {
            while (at != end && *at >= 0x20 && *at < 0x80 && *at != '"' && *at != '\\') *out++ = *at++;
            if (at == end) break;
        }
        const unsigned char c = *at;
        if (c == '"') break;
        if (c < 0x20 || !(c == '\\' ? read_escape(at, end, out) : read_letters(at, end, out))) {
            sound = false;
            break;
        }
    }
    from = at;
    to = out;
    return sound;
}

}  // namespace neardup
