#pragma once
// Texts of any encoding as UTF-8.
#include <cstdint>
#include <span>
#include <vector>

#include "text/text.hpp"

namespace neardup {

// The bytes of a text that is not stored as UTF-8, in a buffer that only grows; returns how many. Surrogates become
// U+FFFD and are added to `replaced`.
std::size_t transcode(const Text& text, std::vector<char>& bytes, std::size_t& replaced);

// How many bytes each text has as UTF-8, and whether all of them are well-formed.
struct Utf8Sizes {
    std::vector<std::int64_t> sizes;
    bool well_formed = true;
};
Utf8Sizes utf8_sizes(std::span<const Text> texts);

// The texts one after another, and where each ends. What is stored as UTF-8 is copied as it is.
struct Utf8 {
    std::vector<std::uint8_t> data;
    std::vector<std::int64_t> ends;
};
Utf8 utf8_of(std::span<const Text> texts);

// Whether the two texts of each pair of places have the same bytes as UTF-8.
std::vector<std::uint8_t> same_texts(std::span<const Text> texts, std::span<const std::int64_t> left,
                                     std::span<const std::int64_t> right);

}  // namespace neardup
