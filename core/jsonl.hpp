#pragma once
// A look at lines of JSON before they are parsed in bulk: is there anything that two parsers may read in two ways?
#include <cstddef>
#include <span>

namespace neardup {

struct LinesSeen {
    std::size_t lines = 0;  // line ends
    bool plain = true;      // no blank line, and no NaN or Infinity outside of a string
};

LinesSeen look_at_lines(std::span<const char> block);

}  // namespace neardup
