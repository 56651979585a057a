#pragma once
// What a person checks before calling two texts the same: the title, numbers, names, negations, the language, and the
// sentences. One pass over a text collects them, so that comparing two texts needs to look only at their differences.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "buffer.hpp"
#include "text/letter_bits.hpp"
#include "text/normalize.hpp"

namespace neardup {

// What is known of one token beside its hash.
enum Mark : std::uint8_t { kName = 1, kNegation = 2, kNumeric = 4 };

// The number of the language of a word: 0 nothing, then one number for each language written in Latin letters whose
// function words are listed, then the scripts. kLatin is a word in Latin letters that no list has.
constexpr std::uint8_t kLatin = 32, kScripts = 64;

struct Sentence {
    std::uint64_t hash;
    std::uint32_t begin, end;  // tokens
};

struct SentencePlace {
    std::uint64_t hash;
    std::uint32_t place;
};

struct Number {
    std::uint64_t hash;
    std::uint32_t token;
};

struct Facts {
    std::vector<std::uint64_t> tokens;  // hashes of case-folded words, in order
    std::vector<std::uint8_t> marks, tongues;
    std::array<std::uint32_t, kScripts> tongue_counts{};  // words of each language or script
    std::vector<Sentence> sentences;
    std::vector<SentencePlace> by_hash;               // sentences, ordered by hash and then by place
    std::vector<Number> numbers;                      // in order
    std::vector<std::uint64_t> number_set, name_set;  // ascending, each once
    std::vector<std::uint64_t> title;                 // its words without numbers, ascending, each once
    std::vector<std::uint64_t> lines;                 // the first lines without numbers, ascending
    std::uint64_t title_line = 0;
    bool titled = false;
    bool capitals = false;   // there are capital letters, so names can be recognised
    bool negatable = false;  // negations of the language or script are listed
};

// Words that mean something to the comparison, by their hash: negations, units, months and function words.
class KnownWords {
  public:
    explicit KnownWords(std::uint64_t seed);
    struct Entry {
        bool negation = false, unit = false, month = false, field = false;
        std::uint8_t tongue = kLatin;
    };
    const Entry* find(std::uint64_t hash) const { return maybe(hash) ? in_slots(hash) : nullptr; }
    // The entries of many words; that of an unknown word says nothing. `places` is overwritten.
    void find_all(std::span<const std::uint64_t> hashes, Buffer<std::uint32_t>& places,
                  std::vector<const Entry*>& found) const;
    std::uint64_t seed() const { return seed_; }

  private:
    static constexpr std::size_t kSlots = 2048;
    // Most words are not known; a small table of bits says so of nearly all of them.
    bool maybe(std::uint64_t hash) const { return (maybe_[hash >> 54] >> (hash >> 48 & 63) & 1) != 0; }
    const Entry* in_slots(std::uint64_t hash) const {
        for (std::size_t i = hash & (kSlots - 1); slots_[i].used; i = (i + 1) & (kSlots - 1))
            if (slots_[i].hash == hash) return &slots_[i].entry;
        return nullptr;
    }
    struct Slot {
        std::uint64_t hash = 0;
        bool used = false;
        Entry entry;
    };
    Entry& entry(std::uint64_t hash);

    std::uint64_t seed_;
    std::vector<Slot> slots_ = std::vector<Slot>(kSlots);
    std::array<std::uint64_t, 1024> maybe_{};  // by the highest 16 bits of a hash
};

// What is kept from document to document, so that it is allocated once.
struct FactsBuffers {
    NormalText text;
    LetterBits letters;
    Buffer<std::uint64_t> hashes;       // of its tokens
    std::vector<std::uint32_t> places;  // of its tokens
    Buffer<std::uint32_t> perhaps;      // places of tokens that may be known words
    std::vector<const KnownWords::Entry*> known;
    std::vector<Sentence> sentences;
    std::vector<Number> numbers;
    std::vector<std::uint64_t> names;
    std::string folded;
};

// Replaces `facts`.
void collect_facts(const Text& source, const KnownWords& known, FactsBuffers& buffers, Facts& facts);

}  // namespace neardup
