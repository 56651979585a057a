#include "search/header_psm.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "parallel.hpp"

namespace neardup {

namespace {

constexpr std::size_t kQueries = 256;  // queries a thread takes at a time
constexpr std::size_t kAhead = 16;     // queries whose memory is asked for before it is used

template <class Code>
std::vector<std::uint32_t> starts_of(CodeColumn<Code> codes, unsigned shift, unsigned header_bits) {
    std::vector<std::uint32_t> starts((std::size_t{1} << header_bits) + 1);
    std::size_t next = 0;  // headers below it have their start
    Code before = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const Code code = codes[i];
        if (code < before) throw std::invalid_argument("codes must ascend");
        before = code;
        const auto header = static_cast<std::size_t>(code >> shift);
        if (header >= starts.size() - 1) throw std::invalid_argument("a code has bits beyond its width");
        while (next <= header) starts[next++] = static_cast<std::uint32_t>(i);
    }
    while (next < starts.size()) starts[next++] = static_cast<std::uint32_t>(codes.size());
    return starts;
}

template <class Code>
PrefixHits search_as(CodeColumn<Code> codes, std::span<const std::uint32_t> starts, unsigned shift,
                     CodeColumn<Code> queries, std::span<const std::uint32_t> flips, std::size_t probes,
                     unsigned radius, unsigned threads) {
    struct Found {
        std::uint32_t place;
        std::uint8_t distance;
    };
    std::vector<PrefixHits> parts((queries.size() + kQueries - 1) / kQueries);
    in_parallel(queries.size(), threads, kQueries, [&](std::size_t begin, std::size_t end) {
        PrefixHits& hits = parts[begin / kQueries];
        on_best_cpu([&]() KERNEL {
            std::vector<Found> found;
            const auto header = [&](std::size_t q)
                                    KERNEL { return static_cast<std::uint32_t>(queries[q] >> shift); };
            const auto flip = [&](std::size_t q, std::size_t p)
                                  KERNEL { return p == 0 ? 0u : flips[q * probes + p - 1]; };
            // Two misses a probe, one for the start and one for the codes: both are asked for some queries ahead.
            const auto ask_start = [&](std::size_t q) KERNEL {
                if (q < end)
                    for (std::size_t p = 0; p <= probes; ++p)
                        __builtin_prefetch(&starts[header(q) ^ flip(q, p)]);
            };
            const auto ask_codes = [&](std::size_t q) KERNEL {
                if (q >= end) return;
                for (std::size_t p = 0; p <= probes; ++p) {
                    const std::uint32_t start = starts[header(q) ^ flip(q, p)];
                    __builtin_prefetch(codes.words.data() + start * (sizeof(Code) / 8));
                }
            };
            for (std::size_t q = begin; q < begin + kAhead; ++q) ask_start(q);
            for (std::size_t q = begin; q < begin + kAhead / 2; ++q) ask_codes(q);
            for (std::size_t q = begin; q < end; ++q) {
                ask_start(q + kAhead);
                ask_codes(q + kAhead / 2);
                const Code query = queries[q];
                found.clear();
                for (std::size_t p = 0; p <= probes; ++p) {
                    const std::uint32_t mask = flip(q, p);
                    if (p > 0 && mask == 0) continue;
                    const std::uint32_t bucket = header(q) ^ mask;
                    for (std::uint32_t i = starts[bucket]; i < starts[bucket + 1]; ++i) {
                        const unsigned distance = ones(static_cast<Code>(codes[i] ^ query));
                        if (distance <= radius) found.push_back({i, static_cast<std::uint8_t>(distance)});
                    }
                }
                std::ranges::sort(found, {}, &Found::place);
                for (const Found& hit : found) {
                    hits.query.push_back(static_cast<std::int64_t>(q));
                    hits.position.push_back(hit.place);
                    hits.distance.push_back(hit.distance);
                }
            }
        });
    });
    return joined(parts);
}

}  // namespace

HeaderTable::HeaderTable(std::span<const std::uint64_t> codes, unsigned bits, unsigned header_bits)
    : codes_(codes), bits_(bits), header_bits_(header_bits) {
    starts_ = bits <= 64 ? starts_of<Code64>({codes}, bits - header_bits, header_bits)
                         : starts_of<Code128>({codes}, bits - header_bits, header_bits);
}

PrefixHits HeaderTable::search(std::span<const std::uint64_t> queries, std::span<const std::uint32_t> flips,
                               std::size_t probes, unsigned radius, unsigned threads) const {
    const unsigned shift = bits_ - header_bits_;
    return bits_ <= 64
               ? search_as<Code64>({codes_}, starts_, shift, {queries}, flips, probes, radius, threads)
               : search_as<Code128>({codes_}, starts_, shift, {queries}, flips, probes, radius, threads);
}

std::vector<std::uint32_t> heap_flips(std::span<const float> costs, unsigned bits, unsigned header_bits,
                                      unsigned radius, std::size_t sets, double limit, unsigned threads) {
    const std::size_t queries = costs.size() / bits;
    std::vector<std::uint32_t> masks(queries * sets, 0);
    in_parallel(queries, threads, kQueries, [&](std::size_t begin, std::size_t end) {
        FlipOrder order;
        std::array<unsigned, 32> ranking;
        std::array<float, 32> sizes, ranked;
        for (std::size_t q = begin; q < end; ++q) {
            for (unsigned f = 0; f < header_bits; ++f) {
                const float size = std::fabs(costs[q * bits + bits - header_bits + f]);
                sizes[f] = std::isnan(size) ? std::numeric_limits<float>::infinity() : size;
            }
            const auto ranks = std::span(ranking).first(header_bits);
            std::iota(ranks.begin(), ranks.end(), 0u);
            std::ranges::stable_sort(ranks, {}, [&](unsigned f) { return sizes[f]; });
            for (unsigned r = 0; r < header_bits; ++r) ranked[r] = sizes[ranking[r]];
            order.start(std::span(ranked).first(header_bits), radius);
            RankSet set;
            for (std::size_t i = 0; i < sets && order.next(set) && set.cost <= limit; ++i)
                for (const std::uint8_t rank : set.span()) masks[q * sets + i] |= 1u << ranking[rank];
        }
    });
    return masks;
}

std::vector<std::uint32_t> template_flips(std::span<const float> costs, unsigned bits, unsigned header_bits,
                                          std::span<const Step> steps, unsigned threads) {
    const std::size_t queries = costs.size() / bits, sets = steps.size();
    std::vector<std::uint32_t> masks(queries * sets);
    in_parallel(queries, threads, kQueries, [&](std::size_t begin, std::size_t end) {
        std::array<std::uint32_t, 32> keys;
        for (std::size_t q = begin; q < end; ++q) {
            // The lowest bits of a cost give way to the number of its bit, which orders the pair and is read back.
            for (unsigned f = 0; f < header_bits; ++f)
                keys[f] =
                    (std::bit_cast<std::uint32_t>(costs[q * bits + bits - header_bits + f]) & 0x7FFFFFE0u) |
                    f;
            std::sort(keys.begin(), keys.begin() + header_bits);
            for (std::size_t i = 0; i < sets; ++i) {
                const std::uint32_t parent = steps[i].parent == 0 ? 0 : masks[q * sets + steps[i].parent - 1];
                masks[q * sets + i] = parent | 1u << (keys[steps[i].rank] & 31);
            }
        }
    });
    return masks;
}

}  // namespace neardup
