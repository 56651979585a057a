#pragma once
// Text to features: one document at a time in a worker's own buffers, or a batch of them on several threads.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "parallel.hpp"
#include "text/lookup.hpp"
#include "text/normalize.hpp"
#include "text/text.hpp"
#include "text/tokens.hpp"

namespace neardup {

enum class Unit : int { words = 0, characters = 1, sentences = 2 };
enum class Space : int { collapse = 0, keep = 1, drop = 2 };
enum class Select : int { all = 0, modulo = 1, smallest = 2, winnow = 3 };
enum class Count : int { constant = 0, linear = 1, logarithm = 2 };

// Of an ordered feature: its lower bits are a symbol's hash, those above its place in the text.
constexpr unsigned kSymbolBits = 40;

// How features are made. Shared tables are never changed once a recipe holds them.
struct Recipe {
    Normalizer normalizer;
    Unit unit = Unit::words;
    unsigned width = 1;  // of a shingle, in tokens, characters or sentences
    Space space = Space::collapse;
    Hash hash = Hash::xxh3;
    std::uint64_t seed = 0;

    std::shared_ptr<const Lookup<std::uint64_t>> words;    // a word's hash to its stem's; 0: a stop word
    std::shared_ptr<const Lookup<std::uint64_t>> phrases;  // pairs of words that make one token

    Select select = Select::all;
    std::uint64_t select_by = 1;     // modulus, how many, or window
    std::uint64_t select_floor = 0;  // modulo: the least number of features to keep

    Count count = Count::constant;
    std::shared_ptr<const Lookup<float>> idf;
    float unseen_idf = 1;
    bool unit_length = false;
    std::shared_ptr<const Lookup<std::uint64_t>>
        common;  // features to leave out, with their document frequency
    std::uint64_t common_floor = 1;
    bool ordered =
        false;  // every feature with its place, in the order of the text; nothing is counted or left out
};

struct Row {
    std::span<const std::uint64_t> hashes;
    std::span<const float> weights;
};

// One worker's buffers. Results are views into them, good until the next document.
class Extractor {
  public:
    explicit Extractor(const Recipe& recipe);

    // Every feature in the order of the text, repeats and all; winnowing is done, other selection is not.
    std::span<const std::uint64_t> sequence(const Text& text);
    // As row() but without weights and possibly with repeats, for callers that need only the set.
    std::span<const std::uint64_t> set(const Text& text);
    // Distinct features in the order of their hashes, without weights.
    std::span<const std::uint64_t> sorted_set(const Text& text);
    // Distinct features with their weights; in the order of their hashes if `sorted`. Those of an ordered recipe have
    // the order of the text, which is that of their numbers too; at most 2^24 of them.
    Row row(const Text& text, bool sorted);

    // Of the words of a text, before stop words and stems.
    Digest128 digest(const Text& text);
    // Of the tokens of the last document, as they were before stop words, stems and phrases: two hashes of their hashes.
    // Only after remember_tokens(), for it costs a pass over them.
    Digest128 token_digest() const { return token_digest_; }
    void remember_tokens() { remember_ = true; }

    // The tokens of a text, byte for byte, before stop words, stems and phrases; a byte that no text has ends each.
    void token_bytes(const Text& text, std::string& out);

    // Of the last document: how many tokens, how many ill-formed sequences.
    std::size_t tokens() const { return tokens_.size(); }
    std::size_t replaced() const { return replaced_; }

  private:
    struct Counted {
        std::uint64_t hash;
        std::uint32_t count;
    };
    void read_sentences();
    void read_characters();
    void replace_words();
    void join_phrases();
    void digest_tokens();
    void roll();
    void count_and_select();
    Row in_order();
    void count();
    void select();
    void drop_common();
    void weigh();

    const Recipe& recipe_;
    NormalText normal_;
    Buffer<std::uint64_t> tokens_, shingles_, hashes_, scratch_;
    Buffer<Counted> counted_, counted_scratch_;
    Buffer<float> weights_;
    std::vector<std::uint32_t> slots_;  // places in counted_, plus one
    std::vector<std::uint32_t> starts_;
    std::uint64_t base_, base_power_;
    std::size_t replaced_ = 0;
    bool remember_ = false;
    Digest128 token_digest_{};
};

struct Ragged {
    std::vector<std::uint64_t> hashes;
    std::vector<float> weights;
    std::vector<std::int64_t> offsets;
    std::size_t replaced = 0;
};

// The sorted sets of many documents, written one after another into `out`, which has room for `room[i]` features of
// document i (as many as it has tokens is always enough); returns where each begins, and the end of the last.
// std::length_error if one has more.
std::vector<std::int64_t> extract_sets(std::span<const Text> texts, const Recipe& recipe,
                                       std::span<const std::int64_t> room, std::span<std::uint64_t> out,
                                       unsigned threads);

// Whether the text of each row in `left` has exactly the tokens of that in `right`, which no hash can prove.
std::vector<std::uint8_t> same_tokens(std::span<const Text> left, std::span<const Text> right,
                                      const Recipe& recipe, unsigned threads);

// The rows of many documents.
Ragged extract(std::span<const Text> texts, const Recipe& recipe, unsigned threads);

// Runs body(extractor, row) for every document, on several threads; each has an extractor of its own.
template <class Body>
void for_each_document(std::span<const Text> texts, const Recipe& recipe, unsigned threads, Body body) {
    const std::size_t n = texts.size(), workers = std::max(threads, 1u);
    const std::size_t step = std::clamp<std::size_t>(n / (workers * 16), 1, 256);
    in_parallel_with(
        n, threads, step, [&] { return Extractor(recipe); },
        [&](Extractor& extractor, std::size_t begin, std::size_t end) {
            for (std::size_t row = begin; row < end; ++row) body(extractor, row);
        });
}

}  // namespace neardup
