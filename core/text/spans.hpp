#pragma once
// Where the tokens of a text are in it. Normalising changes lengths, so a token's bytes in the normalised text are
// traced back to the stretch of the source they were made of.
#include <cstdint>
#include <span>
#include <vector>

#include "text/hash.hpp"
#include "text/normalize.hpp"

namespace neardup {

// The tokens of many texts in one column; those of text i are [offsets[i], offsets[i + 1]).
struct TokenStream {
    std::vector<std::uint64_t> hashes;
    std::vector<std::int64_t> offsets;
    // In code units of the text as it is stored: characters of a Python string, bytes of UTF-8. A letter with its
    // combining marks, or a character that normalising turns into several, is never split: where two tokens were
    // made of one character, their stretches overlap in it. Empty unless requested.
    std::vector<std::int64_t> begins, ends;
};

TokenStream token_stream(std::span<const Text> texts, const Normalizer& how, std::uint64_t seed, bool places,
                         unsigned threads);

// One stretch of a normalised text, in bytes.
struct Stretch {
    std::size_t begin, end;
};

// Source stretches of the tokens of one text; `normal_size` is the length NormalText came to.
void trace_tokens(const Text& text, const Normalizer& how, std::span<const Stretch> tokens,
                  std::size_t normal_size, std::int64_t* begins, std::int64_t* ends);

}  // namespace neardup
