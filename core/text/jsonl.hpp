#pragma once
// The commonest lines of JSON, read without a parser.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "buffer.hpp"

namespace neardup {

// Documents, each an id and a text, as spans of `bytes`.
struct TextLines {
    Buffer<unsigned char> bytes;
    std::vector<std::int64_t> id_begins, id_ends, text_begins, text_ends;
};

// Lines that each hold `{"id": "...", "text": "..."}`, the two in either order, and nothing else: strings of well-formed
// UTF-8 and of escapes for well-formed text. Returns none if a line is anything else; a full parser then finds out
// what the line is or what is wrong with it.
std::optional<TextLines> read_text_lines(std::span<const unsigned char> lines);

// Where each line ends, behind its line end; the last one may have none.
std::vector<std::int64_t> line_ends(std::span<const unsigned char> block);

}  // namespace neardup
