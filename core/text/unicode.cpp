#include "text/unicode.hpp"

#include <algorithm>
#include <iterator>

namespace neardup {

#include "text/unicode_tables.inc"

namespace {

template <class Index>
std::uint16_t at(const Index* index, const std::uint16_t* blocks, char32_t c) {
    return blocks[index[c >> 7] * 128u + (c & 127u)];
}

std::span<const std::uint32_t> pooled(std::uint16_t place) { return {kPool + place + 1, kPool[place]}; }

// Hangul syllables are composed by arithmetic (The Unicode Standard, section 3.12).
constexpr char32_t kL = 0x1100, kV = 0x1161, kT = 0x11A7, kS = 0xAC00;
constexpr char32_t kLCount = 19, kVCount = 21, kTCount = 28, kSCount = kLCount * kVCount * kTCount;

void decompose(char32_t c, std::vector<char32_t>& out) {
    if (c - kS < kSCount) {
        const char32_t s = c - kS, t = s % kTCount;
        out.push_back(kL + s / (kVCount * kTCount));
        out.push_back(kV + s % (kVCount * kTCount) / kTCount);
        if (t != 0) out.push_back(kT + t);
        return;
    }
    const auto place = at(kDecompositionIndex, kDecompositionBlock, c);
    if (place == 0) return out.push_back(c);
    for (const auto part : pooled(place)) out.push_back(part);
}

// The composite of two code points, or 0.
char32_t composite(char32_t a, char32_t b) {
    if (a - kL < kLCount && b - kV < kVCount) return kS + ((a - kL) * kVCount + (b - kV)) * kTCount;
    if (a - kS < kSCount && (a - kS) % kTCount == 0 && b - kT - 1 < kTCount - 1) return a + (b - kT);
    const std::uint64_t key = std::uint64_t{a} << 21 | b;
    const auto* found = std::lower_bound(std::begin(kPairs), std::end(kPairs), key);
    return found != std::end(kPairs) && *found == key ? kComposites[found - std::begin(kPairs)] : 0;
}

}  // namespace

std::span<const std::uint32_t> case_folded(char32_t c) { return pooled(at(kFoldIndex, kFoldBlock, c)); }

std::span<const std::uint32_t> without_accents(char32_t c) { return pooled(at(kPlainIndex, kPlainBlock, c)); }

std::string_view unicode_version() { return kUnicodeVersion; }

void compose_nfkc(std::vector<char32_t>& text) {
    std::vector<char32_t> parts;
    for (const auto c : text) decompose(c, parts);
    // Marks between two starters are sorted by their combining classes. A stable sort, not insertion: hostile
    // text may hold a million of them in a row.
    const auto order = [](char32_t c) { return properties(c).combining(); };
    for (std::size_t i = 0; i < parts.size();) {
        std::size_t end = i;
        while (end < parts.size() && order(parts[end]) != 0) ++end;
        if (end - i > 1)
            std::stable_sort(parts.begin() + static_cast<std::ptrdiff_t>(i),
                             parts.begin() + static_cast<std::ptrdiff_t>(end),
                             [&](char32_t a, char32_t b) { return order(a) < order(b); });
        i = end + 1;
    }
    text.clear();
    std::size_t starter = 0;
    bool has_starter = false;
    unsigned between = 0;  // highest combining class since the starter; 0: nothing is between
    for (const auto c : parts) {
        const unsigned rank = order(c);
        if (has_starter && (between == 0 || between < rank)) {
            if (const char32_t joined = composite(text[starter], c)) {
                text[starter] = joined;
                continue;
            }
        }
        if (rank == 0) {
            starter = text.size();
            has_starter = true;
            between = 0;
        } else {
            between = rank;
        }
        text.push_back(c);
    }
}

}  // namespace neardup
