#include "text/vocabulary.hpp"

#include <algorithm>

#include "text/shingle.hpp"

namespace neardup {

Vocabulary vocabulary(std::span<const Text> texts, const Normalizer& how, Hash hash, std::uint64_t seed) {
    Vocabulary found;
    std::unordered_map<std::uint64_t, char> seen;
    NormalText normal;
    for (const Text& text : texts) {
        normal.assign(text, how);
        const std::string_view bytes = normal.bytes();
        for_each_token(normal, [&](std::size_t begin, std::size_t end) {
            const std::string_view word = bytes.substr(begin, end - begin);
            const std::uint64_t key = hash_bytes(hash, word, seed);
            if (!seen.try_emplace(key).second) return;
            found.hashes.push_back(key);
            found.words.emplace_back(word);
        });
    }
    return found;
}

void Tally::add(std::uint64_t key, std::uint64_t first, std::uint64_t second) {
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = home(key);
    while (slots_[i].count != 0 && slots_[i].key != key) i = (i + 1) & mask;
    if (slots_[i].count == 0) {
        slots_[i] = {key, 0, first, second};
        ++size_;
    }
    ++slots_[i].count;
    if (size_ * 2 > slots_.size()) grow();
}

void Tally::add_document(std::span<const std::uint64_t> features) {
    const std::lock_guard lock(guard_);
    constexpr std::size_t kAhead = 16;  // the table is far larger than the cache
    const auto prefetch = [this](std::uint64_t key) { __builtin_prefetch(&slots_[home(key)], 1); };
    for (const std::uint64_t key : features.first(std::min(features.size(), kAhead))) prefetch(key);
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (i + kAhead < features.size()) prefetch(features[i + kAhead]);
        add(features[i]);
    }
    ++documents_;
}

void Tally::grow() {
    std::vector<Entry> old(slots_.size() * 2);
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Entry& entry : old) {
        if (entry.count == 0) continue;
        std::size_t i = home(entry.key);
        while (slots_[i].count != 0) i = (i + 1) & mask;
        slots_[i] = entry;
    }
}

std::vector<Tally::Entry> Tally::entries(std::uint64_t least) const {
    std::vector<Entry> all;
    for (const Entry& entry : slots_)
        if (entry.count >= std::max<std::uint64_t>(least, 1)) all.push_back(entry);
    std::sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
    return all;
}

void tally_documents(std::span<const Text> texts, const Recipe& recipe, unsigned threads, Tally& tally) {
    for_each_document(texts, recipe, threads, [&](Extractor& extractor, std::size_t row) {
        tally.add_document(extractor.row(texts[row], false).hashes);
    });
}

void tally_pairs(std::span<const Text> texts, const Recipe& recipe, Tally& words, Tally& pairs) {
    Recipe single = recipe;
    single.width = 1;
    Extractor extractor(single);
    const std::uint64_t base = shingle_base(recipe.seed);
    for (const Text& text : texts) {
        const auto sequence = extractor.sequence(text);
        for (std::size_t i = 0; i < sequence.size(); ++i) {
            words.add(sequence[i]);
            if (i + 1 < sequence.size())
                pairs.add(pair_hash(sequence[i], sequence[i + 1], base), sequence[i], sequence[i + 1]);
        }
    }
}

}  // namespace neardup
