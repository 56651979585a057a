#include "text/utf8.hpp"

#include <algorithm>
#include <cstring>

#include "cpu.hpp"
#include "text/unicode.hpp"
#include "text/utf8_block.hpp"

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

bool is_well_formed(const unsigned char* p, const unsigned char* end) {
    return on_best_cpu([p, end]() KERNEL {
        const unsigned char* at = p;
        while (end - at >= 64) {
            unsigned char together = 0;
            for (int j = 0; j < 64; ++j) together |= at[j];
            const std::size_t size = together < 0x80 ? 64 : whole_characters(at);
            if (together >= 0x80 && !well_formed(at, size)) return false;
            at += size;
        }
        unsigned char rest[64] = {};
        std::copy(at, end, rest);
        return well_formed(rest, 64);  // a zero behind a character that is cut off is no part of it
    });
}

struct Utf8Size {
    std::size_t bytes;
    bool well_formed;
};

// As transcode() would write them, but only counted: a counter of few bits for each block, so that vectors hold many.
template <class Unit>
Utf8Size utf8_size(const Text& text) {
    return on_best_cpu([units = static_cast<const Unit*>(text.data), n = text.size]() KERNEL {
        constexpr std::size_t kTogether = 64;
        std::size_t bytes = n;
        Unit wrong = 0;
        for (std::size_t i = 0; i < n; i += kTogether) {
            const std::size_t end = std::min(n, i + kTogether);
            Unit more = 0;
            for (std::size_t j = i; j < end; ++j) {
                const Unit c = units[j];
                more = static_cast<Unit>(more + (c >= 0x80));
                if constexpr (sizeof(Unit) > 1) {
                    more = static_cast<Unit>(more + (c >= 0x800));
                    wrong |= static_cast<Unit>((c & ~Unit{0x7FF}) == 0xD800);
                }
                if constexpr (sizeof(Unit) > 2) {
                    more += (c >= 0x10000) & (c <= 0x10FFFF);  // beyond that U+FFFD is written
                    wrong |= c > 0x10FFFF;
                }
            }
            bytes += more;
        }
        return Utf8Size{bytes, wrong == 0};
    });
}

Utf8Size size_of(const Text& text) {
    switch (text.encoding) {
        case Encoding::utf8: break;
        case Encoding::latin1: return utf8_size<std::uint8_t>(text);
        case Encoding::ucs2: return utf8_size<std::uint16_t>(text);
        case Encoding::ucs4: return utf8_size<std::uint32_t>(text);
    }
    const auto* p = static_cast<const unsigned char*>(text.data);
    return {text.size, is_well_formed(p, p + text.size)};
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
    for (const Text& text : texts) {
        const Utf8Size size = size_of(text);
        found.sizes.push_back(static_cast<std::int64_t>(size.bytes));
        found.well_formed = found.well_formed && size.well_formed;
    }
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

std::vector<std::uint8_t> same_texts(std::span<const Text> texts, std::span<const std::int64_t> left,
                                     std::span<const std::int64_t> right) {
    std::vector<std::uint8_t> same(left.size());
    for (std::size_t i = 0; i < left.size(); ++i) {
        const Text one = texts[static_cast<std::size_t>(left[i])];
        const Text other = texts[static_cast<std::size_t>(right[i])];
        if (one.encoding != other.encoding) {
            const Text both[] = {one, other};
            const Utf8 bytes = utf8_of(both);
            const auto middle = bytes.data.begin() + bytes.ends[0];
            same[i] = std::equal(bytes.data.begin(), middle, middle, bytes.data.end());
            continue;
        }
        const std::size_t width = one.encoding == Encoding::ucs2 ? 2 : one.encoding == Encoding::ucs4 ? 4 : 1;
        same[i] = one.size == other.size &&
                  (one.size == 0 || std::memcmp(one.data, other.data, one.size * width) == 0);
    }
    return same;
}

}  // namespace neardup
