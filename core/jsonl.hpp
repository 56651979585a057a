#pragma once
// A look at lines of JSON before they are parsed in bulk by a parser that is less strict than ours.
#include <cstddef>
#include <span>

namespace neardup {

struct LinesSeen {
    std::size_t lines = 0;  // line ends
    bool plain = false;     // no two parsers read them in two ways, as far as is looked at here
};

// Lines are plain if each, line ends included, holds one object that begins and ends it, nests at most `deepest` deep,
// and has outside of strings no number of more than `digits` digits on end and no NaN or Infinity. Nothing else is said
// of whether it is JSON.
LinesSeen look_at_lines(std::span<const unsigned char> lines, std::size_t deepest, std::size_t digits);

}  // namespace neardup
