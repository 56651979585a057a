#include "text/utf8.hpp"

#include <algorithm>

#include "cpu.hpp"
#include "text/unicode.hpp"

namespace neardup {
namespace {

template <class Unit>
std::size_t transcode(const Text& text, std::vector<char>& bytes, std::size_t& replaced) {
    const auto* units = static_cast<const Unit*>(text.data);
    const std::size_t n = text.size;
    bytes.resize(std::max(bytes.size(), n * (sizeof(Unit) == 1 ? 2 : sizeof(Unit) == 2 ? 3 : 4)));
    return on_best_cpu([units, n, out = bytes.data(), &replaced]() KERNEL {
        char* next = out;
        for (std::size_t i = 0; i < n;) {
            // Most of most texts is ASCII, even where one quotation mark is not.
            if (n - i >= 32) {
                Unit together = 0;
                for (std::size_t j = 0; j < 32; ++j) together |= units[i + j];
                if (together < 0x80) {
                    for (std::size_t j = 0; j < 32; ++j) next[j] = static_cast<char>(units[i + j]);
                    next += 32;
                    i += 32;
                    continue;
                }
            }
            for (const std::size_t end = std::min(n, i + 32); i < end; ++i) {
                char32_t c = units[i];
                if ((c >= 0xD800 && c < 0xE000) || c > 0x10FFFF) {
                    c = kReplacement;
                    ++replaced;
                }
                next += encode_utf8(c, next);
            }
        }
        return static_cast<std::size_t>(next - out);
    });
}

bool is_well_formed(const char* p, const char* end) {
    while (p < end) {
        if (end - p >= 32) {
            unsigned char together = 0;
            for (int j = 0; j < 32; ++j) together |= static_cast<unsigned char>(p[j]);
            if (together < 0x80) {
                p += 32;
                continue;
            }
        }
        for (const char* stop = std::min(end, p + 32); p < stop;) {
            const Decoded one = decode_utf8(p, end);
            if (one.replaced) return false;
            p += one.bytes;
        }
    }
    return true;
}

}  // namespace

std::size_t transcode(const Text& text, std::vector<char>& bytes, std::size_t& replaced) {
    switch (text.encoding) {
        case Encoding::utf8: break;
        case Encoding::latin1: return transcode<std::uint8_t>(text, bytes, replaced);
        case Encoding::ucs2: return transcode<std::uint16_t>(text, bytes, replaced);
        case Encoding::ucs4: return transcode<std::uint32_t>(text, bytes, replaced);
    }
    return 0;
}

Utf8Sizes utf8_sizes(std::span<const Text> texts) {
    Utf8Sizes found;
    found.sizes.reserve(texts.size());
    std::vector<char> bytes;
    std::size_t replaced = 0;
    for (const Text& text : texts) {
        if (text.encoding != Encoding::utf8) {
            found.sizes.push_back(static_cast<std::int64_t>(transcode(text, bytes, replaced)));
            continue;
        }
        const auto* p = static_cast<const char*>(text.data);
        found.well_formed = found.well_formed && is_well_formed(p, p + text.size);
        found.sizes.push_back(static_cast<std::int64_t>(text.size));
    }
    found.well_formed = found.well_formed && replaced == 0;
    return found;
}

Utf8 utf8_of(std::span<const Text> texts) {
    Utf8 made;
    made.ends.reserve(texts.size());
    std::vector<char> bytes;
    std::size_t replaced = 0;
    for (const Text& text : texts) {
        const char* p = static_cast<const char*>(text.data);
        std::size_t n = text.size;
        if (text.encoding != Encoding::utf8) {
            n = transcode(text, bytes, replaced);
            p = bytes.data();
        }
        made.data.insert(made.data.end(), p, p + n);
        made.ends.push_back(static_cast<std::int64_t>(made.data.size()));
    }
    return made;
}

}  // namespace neardup
