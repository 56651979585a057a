#pragma once
// Lines of JSON: a check before a faster, less strict parser reads many of them at once, and a reader of the most
// common lines.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "buffer.hpp"

namespace neardup {

struct LinesSeen {
    std::size_t lines = 0;  // line ends
    bool plain = false;     // all parsers read them in the same way, as far as is checked here
};

// Lines are plain if each, line ends included, holds one object that begins and ends it, nests at most `deepest` deep,
// and has outside of strings no number of more than `digits` digits on end and no NaN or Infinity. Whether it is
// valid JSON is not checked.
LinesSeen look_at_lines(std::span<const unsigned char> lines, std::size_t deepest, std::size_t digits);

// Documents, each an id and a text, as spans of `bytes`.
struct TextLines {
    Buffer<unsigned char> bytes;
    std::vector<std::int64_t> id_begins, id_ends, text_begins, text_ends;
};

// Lines that each hold `{"id": "...", "text": "..."}`, the two in either order, and nothing else: strings of well-formed
// UTF-8 and of escapes for well-formed text. Returns none if a line is anything else; a full parser then finds out
// what the line is or what is wrong with it.
std::optional<TextLines> read_text_lines(std::span<const unsigned char> lines);

}  // namespace neardup
