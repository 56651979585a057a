#pragma once
// What differs between two texts that are similar, counted.
#include <cstdint>
#include <span>
#include <vector>

#include "compare/facts.hpp"

namespace neardup {

// The counts of one pair, in this order; each stops at 65,535.
enum Change : std::size_t {
    // Bits: the left text has a title, the right one has, names can be recognised in both, negations can; the
    // comparison was brief.
    kKnown,
    kTitleLeft,
    kTitleRight,  // words of one title alone
    kNumbersLeft,
    kNumbersRight,  // numbers of one text alone
    kNamesLeft,
    kNamesRight,
    kNegations,  // places where a passage was replaced and the negations in it changed
    kLanguage,   // words of one text alone that are in another language than those of the other alone
    kWordsLeft,
    kWordsRight,  // words of one text alone, each as often as it is missing
    kSentencesLeft,
    kSentencesRight,
    kReplaced,  // sentences of one text alone; those at the same place are replaced
    kMoved,     // sentences of both texts in another order
    kLostLeft,
    kLostRight,  // words of the longest passage of one text that the other has not
    kChanges
};

// The facts of some texts, and comparisons of pairs of them: for each pair a row of kChanges counts.
class TextFacts {
  public:
    TextFacts(std::span<const Text> texts, std::uint64_t seed, unsigned threads);
    std::size_t size() const { return facts_.size(); }

    std::vector<std::uint16_t> changes(std::span<const std::int64_t> left,
                                       std::span<const std::int64_t> right, unsigned threads) const;
    // Only titles, languages (25 words or more) and lost passages (100 words or more) are compared, which takes a tenth of
    // the time.
    std::vector<std::uint16_t> titles_and_languages(std::span<const std::int64_t> left,
                                                    std::span<const std::int64_t> right,
                                                    unsigned threads) const;

  private:
    std::vector<Facts> facts_;
};

}  // namespace neardup
