#pragma once
// Makes fingerprints from text in one pass, without storing the features. Large corpora use this path.
#include "fingerprints/simhash.hpp"
#include "text/features.hpp"
#include "text/vocabulary.hpp"

namespace neardup {

// What every fused call returns about its documents beside the fingerprints.
struct Reading {
    std::vector<std::uint8_t> empty;     // 1: no features, and so no fingerprint
    std::vector<std::int64_t> tokens;    // words, characters or sentences read, stop words not counted
    std::size_t replaced = 0;            // ill-formed sequences read as U+FFFD
    std::vector<std::uint64_t> digests;  // [rows, 2], of all tokens, if requested

    explicit Reading(std::size_t rows, bool digests = false)
        : empty(rows), tokens(rows), digests(digests ? 2 * rows : 0) {}
};

// Only what is read, no fingerprint. With a tally, every distinct feature of each document is counted on the way.
void read_words(std::span<const Text> texts, const Recipe& recipe, unsigned threads, Tally* tally,
                Reading& reading);

SimhashColumns simhash_texts(std::span<const Text> texts, const Recipe& recipe, const SimhashOptions& options,
                             Margins keep, std::size_t rank_count, unsigned threads, Reading& reading);

// [rows, values]
std::vector<std::uint32_t> minhash_texts(std::span<const Text> texts, const Recipe& recipe,
                                         std::size_t values, std::uint64_t seed, bool independent,
                                         unsigned threads, Reading& reading);

// The 128-bit digest of each text's tokens, [rows, 2]; words only.
std::vector<std::uint64_t> digest_texts(std::span<const Text> texts, const Recipe& recipe, unsigned threads,
                                        Reading& reading);

}  // namespace neardup
