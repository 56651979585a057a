#pragma once
// What differs between two texts that are similar, counted.
#include <cstdint>
#include <span>
#include <vector>

#include "compare/facts.hpp"

namespace neardup {

// The counts of one pair, in this order; each stops at 65,535.
enum Change : std::size_t {
    kKnown,  // bits: the left text has a title, the right one has, names can be told in both, negations can
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
    kReplaced,  // sentences of one text alone; those that stand at the same place are replaced
    kMoved,     // sentences of both texts in another order
    kLostLeft,
    kLostRight,  // words of the longest passage of one text that the other has not
    kChanges
};

// For each pair a row of kChanges counts.
std::vector<std::uint16_t> changes_of(std::span<const Text> texts, std::span<const std::int64_t> left,
                                      std::span<const std::int64_t> right, std::uint64_t seed,
                                      unsigned threads);

}  // namespace neardup
