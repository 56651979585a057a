#pragma once
// A look at lines of JSON before a parser that is less strict than ours gets them.
#include <span>

namespace neardup {

// Whether every line, each with its line end, holds one object that begins and ends it, nests at most `deepest` deep,
// and has outside of strings no number of more than `digits` digits on end and no NaN or Infinity. Says nothing else of
// whether it is JSON; false is always a safe answer.
bool plain_lines(std::span<const unsigned char> lines, std::size_t deepest, std::size_t digits);

}  // namespace neardup
