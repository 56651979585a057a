#pragma once
// The lines or paragraphs of texts, each with a digest of its tokens: what is counted to find repeated ones.
#include <cstdint>
#include <span>
#include <vector>

#include "passages/repeated.hpp"
#include "text/normalize.hpp"

namespace neardup {

enum class Part { line, paragraph };

// Those of text i are [offsets[i], offsets[i + 1]). A line ends behind \n, \r\n or \r; a paragraph is a run of lines
// that are not blank, and ends behind the blank ones that follow it. Places are in code units of the text as stored.
struct Parts {
    std::vector<std::uint64_t> digests;  // [parts, 2]
    std::vector<std::int64_t> begins, ends, tokens, offsets;
};

// Parts of fewer than `least` tokens are left out.
Parts parts_of(std::span<const Text> texts, const Normalizer& how, Part part, std::size_t least,
               std::uint64_t seed, unsigned threads);

// Digests [parts, 2] with their parts' numbers: which occur at least so often.
Repeated group_parts(std::span<const std::uint64_t> digests, std::span<const std::int64_t> numbers,
                     std::size_t least, unsigned threads);

}  // namespace neardup
