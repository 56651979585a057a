#pragma once
// One text as its owner stores it. Arrow columns and ASCII strings are UTF-8 already; other Python strings hold one
// code point in 1, 2 or 4 bytes and are turned into UTF-8 one document at a time, in the worker's own buffer.
#include <cstddef>
#include <cstdint>

namespace neardup {

enum class Encoding : std::uint8_t { utf8, latin1, ucs2, ucs4 };

struct Text {
    const void* data;
    std::size_t size;  // in code units
    Encoding encoding;
};

}  // namespace neardup
