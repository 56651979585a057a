#pragma once
// Which words of one document occur in another, as passages. Documents are columns of token hashes.
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

// Documents as runs of one column of tokens; document i is [offsets[i], offsets[i + 1]).
struct TokenRows {
    std::span<const std::uint64_t> tokens;
    std::span<const std::int64_t> offsets;

    std::span<const std::uint64_t> operator[](std::size_t row) const {
        return tokens.subspan(static_cast<std::size_t>(offsets[row]),
                              static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
    }
};

// Pairs of documents in columns: the passages of parts[i] that occur in wholes[i].
struct Passages {
    std::vector<std::int64_t> words, longest;  // by pair: words in passages, and those of the longest
    // If requested: the passages of pair i are [offsets[i], offsets[i + 1]), ascending in the part.
    std::vector<std::int64_t> offsets, in_part, in_whole, lengths;
};

// A passage is a run of `width` tokens or more of the part that occurs in the whole and cannot be extended there.
// If two overlap, the longer one (or the earlier of equal ones) gets the shared tokens, so the longest is always
// complete. If it occurs several times in the whole, the first place counts. Time grows with the tokens of both.
// The automaton of a whole is built once for successive pairs with the same one, in about 140 bytes a token.
Passages shared_passages(TokenRows documents, std::span<const std::int64_t> parts,
                         std::span<const std::int64_t> wholes, std::size_t width, bool spelled,
                         unsigned threads);

}  // namespace neardup
