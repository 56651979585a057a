#pragma once
// Where a JSON value ends, without decoding it.
#include <cstddef>
#include <cstdint>
#include <span>

namespace neardup {

// A place within a value: how many brackets are open there, and whether it is in a string.
struct JsonPlace {
    std::size_t at;
    std::uint64_t depth;
    bool in_string;
};

// Advances from a place within a value to behind its end: then no bracket is open, and no string. Otherwise to the end of
// the bytes, or before a backslash whose character is still to come. Which bracket closes which is not looked at.
JsonPlace pass_json_value(std::span<const unsigned char> bytes, JsonPlace place);

// The most brackets outside of strings that are open at once.
std::int64_t json_depth(std::span<const unsigned char> bytes);

}  // namespace neardup
