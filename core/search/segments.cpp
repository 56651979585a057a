#include "search/segments.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "parallel.hpp"
#include "text/hash.hpp"

namespace neardup {

namespace {

constexpr std::size_t kQueries = 256;  // queries a thread takes at a time

template <class Code>
SortedCodes sort_as(CodeColumn<Code> codes, std::span<const std::int64_t> rows) {
    constexpr std::size_t words = sizeof(Code) / 8, digits = sizeof(Code);
    const std::size_t n = codes.size();
    std::vector<std::array<std::uint64_t, 256>> counts(digits);
    for (std::size_t i = 0; i < n; ++i) {
        const Code code = codes[i];
        for (std::size_t d = 0; d < digits; ++d) ++counts[d][static_cast<unsigned char>(code >> (8 * d))];
    }
    SortedCodes from{{codes.words.begin(), codes.words.end()}, {rows.begin(), rows.end()}};
    SortedCodes to{std::vector<std::uint64_t>(codes.words.size()), std::vector<std::int64_t>(n)};
    // Stable counting passes from the lowest digit to the highest; a digit that all codes share needs none.
    for (std::size_t d = 0; d < digits; ++d) {
        if (std::ranges::find(counts[d], n) != counts[d].end()) continue;
        std::array<std::uint64_t, 256> next;
        std::exclusive_scan(counts[d].begin(), counts[d].end(), next.begin(), std::uint64_t{0});
        const CodeColumn<Code> column{from.codes};
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t place = next[static_cast<unsigned char>(column[i] >> (8 * d))]++;
            for (std::size_t w = 0; w < words; ++w) to.codes[place * words + w] = from.codes[i * words + w];
            to.rows[place] = from.rows[i];
        }
        std::swap(from, to);
    }
    const CodeColumn<Code> sorted{from.codes};
    for (std::size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && sorted[end] == sorted[begin];) ++end;
        const auto group = std::span(from.rows).subspan(begin, end - begin);
        if (!std::ranges::is_sorted(group)) std::ranges::sort(group);
    }
    return from;
}

template <class Code>
Positions bounds_as(CodeColumn<Code> codes, CodeColumn<Code> values, bool after, Seek seek,
                    unsigned threads) {
    Positions result{std::vector<std::int64_t>(values.size()), 0};
    std::atomic<std::uint64_t> probes{0};
    in_parallel(values.size(), threads, 4096, [&](std::size_t begin, std::size_t end) {
        std::uint64_t looked = 0;
        for (std::size_t i = begin; i < end; ++i)
            result.positions[i] = static_cast<std::int64_t>(bound(codes, values[i], after, seek, looked));
        probes += looked;
    });
    result.probes = probes;
    return result;
}

template <class Code>
PrefixHits search_as(std::span<const std::uint64_t> codes, CodeColumn<Code> queries,
                     std::span<const std::int64_t> from, std::span<const std::int64_t> to, unsigned bits,
                     unsigned prefix, unsigned radius, unsigned threads) {
    constexpr std::size_t words = sizeof(Code) / 8;
    // Each chunk of queries has its own answer; they are joined in order, so threads do not show.
    std::vector<PrefixHits> parts((queries.size() + kQueries - 1) / kQueries);
    in_parallel(queries.size(), threads, kQueries, [&](std::size_t begin, std::size_t end) {
        PrefixHits& hits = parts[begin / kQueries];
        on_best_cpu([&]() KERNEL {
            std::uint64_t probes = 0;
            for (std::size_t q = begin; q < end; ++q) {
                const Code query = queries[q];
                const Prefix<Code> range(query, bits, prefix);
                const auto origin = static_cast<std::size_t>(from[q]);
                const CodeColumn<Code> part{
                    codes.subspan(words * origin, words * (static_cast<std::size_t>(to[q]) - origin))};
                for (std::size_t i = binary_bound(part, range.low, false, probes); i < part.size(); ++i) {
                    const Code code = part[i];
                    if (code > range.high) break;
                    const unsigned distance = ones(static_cast<Code>(code ^ query));
                    if (distance > radius) continue;
                    hits.query.push_back(static_cast<std::int64_t>(q));
                    hits.position.push_back(static_cast<std::int64_t>(origin + i));
                    hits.distance.push_back(static_cast<std::uint8_t>(distance));
                }
            }
        });
    });
    return joined(parts);
}

template <class Code>
bool ascending_as(CodeColumn<Code> codes) {
    for (std::size_t i = 1; i < codes.size(); ++i)
        if (codes[i] < codes[i - 1]) return false;
    return true;
}

}  // namespace

PrefixHits joined(std::span<const PrefixHits> parts) {
    PrefixHits all;
    for (const PrefixHits& hits : parts) {
        all.query.insert(all.query.end(), hits.query.begin(), hits.query.end());
        all.position.insert(all.position.end(), hits.position.begin(), hits.position.end());
        all.distance.insert(all.distance.end(), hits.distance.begin(), hits.distance.end());
    }
    return all;
}

std::vector<std::uint64_t> block_checksums(std::string_view bytes, std::size_t block, std::uint64_t seed,
                                           std::span<const std::int64_t> which, unsigned threads) {
    std::vector<std::uint64_t> sums(which.size());
    in_parallel(which.size(), threads, std::max<std::size_t>(1, (1 << 18) / block),
                [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) {
                        const auto index = static_cast<std::size_t>(which[i]);
                        sums[i] = xxh3(bytes.substr(index * block, block), seed + index);
                    }
                });
    return sums;
}

SortedCodes sort_codes(std::span<const std::uint64_t> codes, unsigned words,
                       std::span<const std::int64_t> rows) {
    return words == 1 ? sort_as(CodeColumn<Code64>{codes}, rows) : sort_as(CodeColumn<Code128>{codes}, rows);
}

bool is_ascending(std::span<const std::uint64_t> codes, unsigned words) {
    return words == 1 ? ascending_as(CodeColumn<Code64>{codes}) : ascending_as(CodeColumn<Code128>{codes});
}

Positions bounds(std::span<const std::uint64_t> codes, unsigned words, std::span<const std::uint64_t> values,
                 bool after, Seek seek, unsigned threads) {
    return words == 1 ? bounds_as<Code64>({codes}, {values}, after, seek, threads)
                      : bounds_as<Code128>({codes}, {values}, after, seek, threads);
}

PrefixHits search_prefix(std::span<const std::uint64_t> codes, unsigned words,
                         std::span<const std::uint64_t> queries, std::span<const std::int64_t> from,
                         std::span<const std::int64_t> to, unsigned bits, unsigned prefix, unsigned radius,
                         unsigned threads) {
    return words == 1 ? search_as<Code64>(codes, {queries}, from, to, bits, prefix, radius, threads)
                      : search_as<Code128>(codes, {queries}, from, to, bits, prefix, radius, threads);
}

}  // namespace neardup
