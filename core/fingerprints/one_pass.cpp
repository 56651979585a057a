#include "fingerprints/one_pass.hpp"

#include "fingerprints/minhash.hpp"

namespace neardup {

namespace {

// for_each_document, with the reading filled in: body(extractor, row) returns whether the document had features.
template <class Body>
void read_documents(std::span<const Text> texts, const Recipe& recipe, unsigned threads, Reading& reading,
                    Body body) {
    std::atomic<std::size_t> replaced{0};
    const bool digests = !reading.digests.empty();
    for_each_document(texts, recipe, threads, [&](Extractor& extractor, std::size_t row) {
        if (digests) extractor.remember_tokens();
        reading.empty[row] = !body(extractor, row);
        if (digests && !reading.empty[row]) {
            reading.digests[2 * row] = extractor.token_digest().low;
            reading.digests[2 * row + 1] = extractor.token_digest().high;
        }
        reading.tokens[row] = static_cast<std::int64_t>(extractor.tokens());
        if (extractor.replaced() != 0) replaced += extractor.replaced();
    });
    reading.replaced = replaced;
}

}  // namespace

void read_words(std::span<const Text> texts, const Recipe& recipe, unsigned threads, Tally* tally,
                Reading& reading) {
    read_documents(texts, recipe, threads, reading, [&](Extractor& extractor, std::size_t row) {
        if (tally == nullptr) return !extractor.set(texts[row]).empty();
        const auto features = extractor.row(texts[row], false).hashes;
        tally->add_document(features);
        return !features.empty();
    });
}

SimhashColumns simhash_texts(std::span<const Text> texts, const Recipe& recipe, const SimhashOptions& options,
                             Margins keep, std::size_t rank_count, unsigned threads, Reading& reading) {
    SimhashColumns out(texts.size(), options, keep, rank_count);
    read_documents(texts, recipe, threads, reading, [&](Extractor& extractor, std::size_t row) {
        const Row features = extractor.row(texts[row], false);
        on_best_cpu([&]() KERNEL { out.set(row, features.hashes, features.weights); });
        return !features.hashes.empty();
    });
    return out;
}

std::vector<std::uint32_t> minhash_texts(std::span<const Text> texts, const Recipe& recipe,
                                         std::size_t values, std::uint64_t seed, bool independent,
                                         unsigned threads, Reading& reading) {
    std::vector<std::uint32_t> out(texts.size() * values);
    const Permutations permutations(independent ? values : 0, seed);
    const std::uint64_t key = minhash_key(seed);
    read_documents(texts, recipe, threads, reading, [&](Extractor& extractor, std::size_t row) {
        const auto features = extractor.set(texts[row]);
        const std::span<std::uint32_t> sketch(out.data() + row * values, values);
        if (features.empty()) return false;
        if (independent) {
            std::vector<std::uint64_t> minima(values);
            on_best_cpu([&]() KERNEL {
                independent_init(minima);
                independent_update(minima, permutations, features);
                independent_finish(minima, sketch);
            });
        } else {
            std::vector<std::uint32_t> bins(values);
            on_best_cpu([&]() KERNEL {
                one_permutation_init(bins);
                one_permutation_update(bins, key, features);
                one_permutation_finish(bins, key, sketch);
            });
        }
        return true;
    });
    return out;
}

std::vector<std::uint64_t> digest_texts(std::span<const Text> texts, const Recipe& recipe, unsigned threads,
                                        Reading& reading) {
    std::vector<std::uint64_t> out(texts.size() * 2);
    read_documents(texts, recipe, threads, reading, [&](Extractor& extractor, std::size_t row) {
        const Digest128 digest = extractor.digest(texts[row]);
        if (extractor.tokens() == 0) return false;
        out[2 * row] = digest.low;
        out[2 * row + 1] = digest.high;
        return true;
    });
    return out;
}

}  // namespace neardup
