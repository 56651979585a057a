#include "search/hamming.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>

#include "parallel.hpp"
#include "simd.hpp"

namespace neardup {

std::vector<std::uint8_t> distances(Codes left, Codes right, std::size_t words) {
    std::vector<std::uint8_t> out(left.size() / words);
    on_best_cpu([a = left.data(), b = right.data(), words, to = out.data(), rows = out.size()]() KERNEL {
        for (std::size_t i = 0; i < rows; ++i)
            to[i] = static_cast<std::uint8_t>(distance(a + i * words, b + i * words, words));
    });
    return out;
}

std::vector<std::uint8_t> distances_at(Codes left, Codes right, std::size_t words,
                                       std::span<const std::int64_t> left_rows,
                                       std::span<const std::int64_t> right_rows) {
    std::vector<std::uint8_t> out(left_rows.size());
    on_best_cpu([=, to = out.data()]() KERNEL {
        for (std::size_t i = 0; i < left_rows.size(); ++i) {
            const auto a = static_cast<std::size_t>(left_rows[i]),
                       b = static_cast<std::size_t>(right_rows[i]);
            to[i] = static_cast<std::uint8_t>(distance(&left[a * words], &right[b * words], words));
        }
    });
    return out;
}

namespace {

// Stored codes of a block, one array for each word so that lanes load evenly; 32-bit codes are narrowed to
// double the lanes. 32 KB for one word of 64 bits: it fits the first-level cache while many queries
// are compared with it.
template <class Word, std::size_t words>
struct Block {
    static constexpr std::size_t capacity = 4096;
    static constexpr std::size_t stride = 64;  // rows checked together; capacity is a multiple of it
    std::array<std::array<Word, capacity>, words> word;

    void load(const std::uint64_t* codes, std::size_t rows) {
        for (std::size_t w = 0; w < words; ++w) {
            for (std::size_t i = 0; i < rows; ++i) word[w][i] = static_cast<Word>(codes[i * words + w]);
            // Lanes past the end repeat the last code: defined, and never reported.
            const std::size_t padded = (rows + stride - 1) / stride * stride;
            for (std::size_t i = rows; i < padded; ++i) word[w][i] = word[w][rows - 1];
        }
    }
};

template <class Word, std::size_t words>
KERNEL inline Word distance_at(const Block<Word, words>& block, std::size_t i,
                               const std::array<Word, words>& query) {
    auto differing = static_cast<Word>(std::popcount(static_cast<Word>(block.word[0][i] ^ query[0])));
    if constexpr (words == 2)
        differing += static_cast<Word>(std::popcount(static_cast<Word>(block.word[1][i] ^ query[1])));
    return differing;
}

template <class Word, std::size_t words>
std::array<Word, words> load_query(const std::uint64_t* code) {
    std::array<Word, words> query;
    for (std::size_t w = 0; w < words; ++w) query[w] = static_cast<Word>(code[w]);
    return query;
}

struct Hit {
    std::int64_t row;
    std::uint8_t distance;
};

// Hits are rare, so the loop only finds the least distance of a stride; branch-free, which GCC turns into
// lanes.
template <class Word, std::size_t words>
KERNEL inline void scan_block(const Block<Word, words>& block, std::size_t rows, std::int64_t first_row,
                              const std::array<Word, words>& query, Word radius, bool first,
                              std::vector<Hit>& hits) {
    constexpr std::size_t stride = Block<Word, words>::stride;
    for (std::size_t at = 0; at < rows; at += stride) {
        std::array<const Word*, words> columns;
        for (std::size_t w = 0; w < words; ++w) columns[w] = &block.word[w][at];
        if (least_distance<stride>(columns, query) > radius) continue;
        for (std::size_t i = at; i < std::min(at + stride, rows); ++i) {
            const Word differing = distance_at(block, i, query);
            if (differing > radius) continue;
            hits.push_back({first_row + static_cast<std::int64_t>(i), static_cast<std::uint8_t>(differing)});
            if (first) return;
        }
    }
}

// Queries are split into chunks, one task each; if they are few, stored rows are split too, so that a single query
// can use every thread. Hits are joined in the order of queries and rows, whichever thread found them.
template <class Word, std::size_t words>
HitColumns scan_words(Codes stored, Codes queries, int radius, bool first, unsigned threads) {
    using Rows = Block<Word, words>;
    const std::size_t rows = stored.size() / words, asked = queries.size() / words;
    constexpr std::size_t chunk = 64;
    const std::size_t chunks = (asked + chunk - 1) / chunk;
    const std::size_t blocks = (rows + Rows::capacity - 1) / Rows::capacity;
    const std::size_t cuts = std::clamp<std::size_t>(chunks >= 4 * std::size_t{threads} ? 1 : threads, 1,
                                                     std::max<std::size_t>(blocks, 1));
    std::vector<std::vector<Hit>> found(asked * cuts);
    in_parallel(chunks * cuts, threads, 1, [&](std::size_t begin, std::size_t) {
        const std::size_t cut = begin % cuts;
        const std::size_t from = begin / cuts * chunk, to = std::min(asked, from + chunk);
        const auto held = std::make_unique<Rows>();
        for (std::size_t b = blocks * cut / cuts; b < blocks * (cut + 1) / cuts; ++b) {
            const std::size_t start = b * Rows::capacity, size = std::min(Rows::capacity, rows - start);
            held->load(&stored[start * words], size);
            for (std::size_t q = from; q < to; ++q) {
                auto& hits = found[q * cuts + cut];
                if (first && !hits.empty()) continue;
                const auto query = load_query<Word, words>(&queries[q * words]);
                on_best_cpu([&, size, start]() KERNEL {
                    scan_block(*held, size, static_cast<std::int64_t>(start), query,
                               static_cast<Word>(radius), first, hits);
                });
            }
        }
    });
    std::size_t total = 0;
    for (const auto& hits : found) total += hits.size();
    HitColumns out;
    out.query.reserve(total);
    out.row.reserve(total);
    out.distance.reserve(total);
    for (std::size_t q = 0; q < asked; ++q) {
        const std::size_t before = out.query.size();
        for (std::size_t cut = 0; cut < cuts; ++cut) {
            if (first && out.query.size() > before) break;
            for (const Hit& hit : found[q * cuts + cut]) {
                out.query.push_back(static_cast<std::int64_t>(q));
                out.row.push_back(hit.row);
                out.distance.push_back(hit.distance);
            }
        }
    }
    return out;
}

template <class Word, std::size_t words>
std::vector<std::int64_t> count_words(Codes left, Codes right, int bits, unsigned threads) {
    using Rows = Block<Word, words>;
    const std::size_t rows = right.size() / words, asked = left.size() / words;
    std::vector<std::int64_t> counts(static_cast<std::size_t>(bits) + 1);
    std::mutex guard;
    in_parallel(asked, threads, 256, [&](std::size_t from, std::size_t to) {
        std::array<std::int64_t, 129> mine{};
        const auto held = std::make_unique<Rows>();
        std::array<std::uint8_t, Rows::capacity> differing;
        for (std::size_t start = 0; start < rows; start += Rows::capacity) {
            const std::size_t size = std::min(Rows::capacity, rows - start);
            held->load(&right[start * words], size);
            for (std::size_t q = from; q < to; ++q) {
                const auto query = load_query<Word, words>(&left[q * words]);
                on_best_cpu([&, size]() KERNEL {
                    for (std::size_t i = 0; i < size; ++i)
                        differing[i] = static_cast<std::uint8_t>(distance_at(*held, i, query));
                });
                for (std::size_t i = 0; i < size; ++i) ++mine[differing[i]];
            }
        }
        const std::lock_guard lock(guard);
        for (std::size_t d = 0; d < counts.size(); ++d) counts[d] += mine[d];
    });
    return counts;
}

}  // namespace

HitColumns scan(Codes stored, Codes queries, int bits, int radius, bool first, unsigned threads) {
    if (bits == 32) return scan_words<std::uint32_t, 1>(stored, queries, radius, first, threads);
    if (bits == 64) return scan_words<std::uint64_t, 1>(stored, queries, radius, first, threads);
    return scan_words<std::uint64_t, 2>(stored, queries, radius, first, threads);
}

std::vector<std::int64_t> count_distances(Codes left, Codes right, int bits, unsigned threads) {
    if (bits == 32) return count_words<std::uint32_t, 1>(left, right, bits, threads);
    if (bits == 64) return count_words<std::uint64_t, 1>(left, right, bits, threads);
    return count_words<std::uint64_t, 2>(left, right, bits, threads);
}

}  // namespace neardup
