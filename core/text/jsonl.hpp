#pragma once
// Lines of JSON: a look at them before they are parsed in bulk by a parser that is less strict than ours, and the
// commonest of all read without one.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "buffer.hpp"

namespace neardup {

struct LinesSeen {
    std::size_t lines = 0;  // line ends
    bool plain = false;     // no two parsers read them in two ways, as far as is looked at here
};

// Lines are plain if each, line ends included, holds one object that begins and ends it, nests at most `deepest` deep,
// and has outside of strings no number of more than `digits` digits on end and no NaN or Infinity. Nothing else is said
// of whether it is JSON.
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
