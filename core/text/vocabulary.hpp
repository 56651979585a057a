#pragma once
// What a corpus is made of: its distinct words, and in how many documents each feature occurs.
#include <cstdint>
#include <mutex>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/features.hpp"

namespace neardup {

struct Vocabulary {
    std::vector<std::uint64_t> hashes;
    std::vector<std::string> words;  // of the same length
};

// The distinct words of some texts, in the order of their first occurrence.
Vocabulary vocabulary(std::span<const Text> texts, const Normalizer& how, Hash hash, std::uint64_t seed);

// Counts 64-bit keys; each may carry the two words it was made of.
class Tally {
  public:
    struct Entry {
        std::uint64_t key = 0, count = 0, first = 0, second = 0;
    };
    Tally() : slots_(1024) {}

    void add(std::uint64_t key, std::uint64_t first = 0, std::uint64_t second = 0);
    // Counts the distinct features of one document. Any thread may call it: counts do not depend on who came first.
    void add_document(std::span<const std::uint64_t> features);
    // Entries counted at least `least` times, in the order of their keys.
    std::vector<Entry> entries(std::uint64_t least) const;
    std::size_t size() const { return size_; }
    // While other threads count, too.
    std::size_t documents() const {
        const std::lock_guard lock(guard_);
        return documents_;
    }

  private:
    std::size_t home(std::uint64_t key) const {
        return (key * 0x9E3779B97F4A7C15u) >> 20 & (slots_.size() - 1);
    }
    void grow();

    std::vector<Entry> slots_;  // count 0: free
    std::size_t size_ = 0, documents_ = 0;
    mutable std::mutex guard_;
};

// Counts every distinct feature of each document once.
void tally_documents(std::span<const Text> texts, const Recipe& recipe, unsigned threads, Tally& tally);
// Counts words, and pairs of neighbouring words.
void tally_pairs(std::span<const Text> texts, const Recipe& recipe, Tally& words, Tally& pairs);

}  // namespace neardup
