#pragma once
// Documents out of lines of JSON in one pass: ids and texts as columns, everything else skipped but checked.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "buffer.hpp"

namespace neardup {

// The fields that make a document, and the largest line and text to take.
struct DocumentFields {
    std::string text;
    std::optional<std::string> id;  // none: documents have no ids of their own
    std::size_t longest_line = 0, longest_text = 0;
};

// Document i is line `lines[i]` of the block, the first line being 0. Its text is at `begins[i]` of the block, in
// `raws[i]` bytes as they are written there; without escapes, these are the text. `texts` and `ids` hold all of them
// one behind the other.
struct JsonDocuments {
    Buffer<unsigned char> texts, ids;
    std::vector<std::int64_t> text_ends, id_ends, lines, begins, raws;
    // Lines that are not so simple, and where they lie: a full parser has to say what they are, or what is wrong.
    std::vector<std::int64_t> odd_lines, odd_begins, odd_ends;
    std::size_t count = 0;  // of lines
};

// A line is simple if every parser of JSON reads it the same way: one object of well-formed UTF-8, with the text, a
// string, and the id, a string that is not empty or a small whole number, once each and under names without escapes. Its
// other values may be anything but very long numbers and very deep nesting. Lines of blanks hold nothing.
JsonDocuments read_documents(std::span<const unsigned char> block, const DocumentFields& fields);

}  // namespace neardup
