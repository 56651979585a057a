#pragma once
// Tables as in the papers (Manku, Jain and Das Sarma 2007, section 3.1): for each key a copy of all codes with
// the key's bits moved to the top, in ascending order. A query is permuted the same way, the run that shares its top
// bits is found by binary or interpolation search, and the run is read to its end.
//
// This is the baseline that the direct-address tables of tables.hpp are measured against, and it is kept plain on
// purpose: one query at a time, one table after another, no prefetching, equal codes stored as often as they occur.
// Only its memory pages are the same, so that a difference in speed comes from the method.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pages.hpp"
#include "parallel.hpp"
#include "search/segments.hpp"
#include "search/tables.hpp"

namespace neardup {

// All codes, permuted so that their key comes first, ascending; equal ones by row.
struct SortedCopy {
    SortedCopy(unsigned bits, const Code& key, std::span<const std::uint64_t> codes,
               std::span<const std::uint32_t> numbers);

    Layout layout;
    unsigned key_bits;
    Pages<std::uint64_t> codes;
    Pages<std::uint32_t> rows;
};

template <class Word>
KERNEL inline Word to_word(const Code& code) {
    if constexpr (sizeof(Word) == 8)
        return code[0];
    else
        return static_cast<Word>(code[1]) << 64 | code[0];
}
template <class Word>
KERNEL inline Code to_code(Word word) {
    if constexpr (sizeof(Word) == 8)
        return {word, 0};
    else
        return {static_cast<std::uint64_t>(word), static_cast<std::uint64_t>(word >> 64)};
}
KERNEL inline Code code_at(std::span<const std::uint64_t> codes, unsigned words, std::size_t i) {
    return words == 1 ? Code{codes[i], 0} : Code{codes[2 * i], codes[2 * i + 1]};
}

struct Match {
    std::int64_t row, size;
    std::uint8_t distance;
};

// Reads a copy from place `from` as long as codes are at most `high`, and adds those within the radius for which
// `wanted(difference)` holds. Without `expand`, equal codes make one match.
template <class Word, class Wanted>
KERNEL inline void read_run(const SortedCopy& copy, std::size_t from, Word high, Word query, unsigned radius,
                            bool expand, std::vector<Match>& matches, Wanted wanted) {
    const CodeColumn<Word> codes{copy.codes.span()};
    std::size_t last = codes.size();  // place of the last match
    for (std::size_t i = from; i < codes.size(); ++i) {
        const Word code = codes[i];
        if (code > high) break;
        const Word difference = code ^ query;
        const unsigned distance = ones(difference);
        if (distance > radius || !wanted(difference)) continue;
        if (!expand && last + 1 == i && codes[last] == code)
            ++matches.back().size;
        else
            matches.push_back({copy.rows[i], 1, static_cast<std::uint8_t>(distance)});
        last = i;
    }
}

// Calls ask(query, matches, room) for one query after another and joins the matches by query, then row. In mode first
// the matches of a query come from the one run that finished it, and the lowest of their rows counts. Each chunk of
// queries has its own Room, for buffers that are used again from query to query.
struct NoRoom {};
template <class Room, class Ask>
Hits one_by_one(std::size_t queries, const Request& request, Ask ask) {
    constexpr std::size_t chunk = 256;  // queries a thread takes at a time
    const auto add = [](Hits& hits, std::size_t query, const Match& match) {
        hits.query.push_back(static_cast<std::int64_t>(query));
        hits.row.push_back(match.row);
        hits.size.push_back(match.size);
        hits.distance.push_back(match.distance);
    };
    std::vector<Hits> parts((queries + chunk - 1) / chunk);
    in_parallel(queries, request.threads, chunk, [&](std::size_t begin, std::size_t end) {
        Hits& part = parts[begin / chunk];
        std::vector<Match> matches;
        Room room;
        on_best_cpu([&]() KERNEL {
            for (std::size_t q = begin; q < end; ++q) {
                matches.clear();
                ask(q, matches, room);
                if (matches.empty()) continue;
                std::sort(matches.begin(), matches.end(),
                          [](const Match& a, const Match& b) { return a.row < b.row; });
                if (request.mode == Mode::first) matches.resize(1);
                for (const Match& match : matches) add(part, q, match);
            }
        });
    });
    Hits all;
    const auto join = [&](auto column) {
        std::size_t total = 0;
        for (const Hits& part : parts) total += (part.*column).size();
        (all.*column).reserve(total);
        for (const Hits& part : parts)
            (all.*column).insert((all.*column).end(), (part.*column).begin(), (part.*column).end());
    };
    join(&Hits::query), join(&Hits::row), join(&Hits::size), join(&Hits::distance);
    return all;
}

class SortedTables {
  public:
    // Keys must have no flips. Rows are numbered by `numbers`, or 0, 1, 2, ... when that is empty.
    SortedTables(const Design& design, std::span<const std::uint64_t> codes,
                 std::span<const std::uint32_t> numbers, Seek seek, unsigned threads);
    SortedTables(SortedTables&&) = default;

    const Design& design() const { return design_; }
    std::size_t rows() const { return tables_.front().rows.size(); }
    std::size_t codes() const;  // distinct ones; O(rows)
    std::size_t bytes() const;
    std::size_t row_bytes() const;
    std::vector<unsigned> key_bits() const;

    Hits search(std::span<const std::uint64_t> queries, const Request& request) const;
    // How many stored codes the lookups of these queries, one in each table, read before they reach their run.
    std::uint64_t probes(std::span<const std::uint64_t> queries, unsigned threads) const;

  private:
    template <class Word>
    Hits search_as(std::span<const std::uint64_t> queries, const Request& request) const;
    template <class Word>
    std::uint64_t probes_as(std::span<const std::uint64_t> queries, unsigned threads) const;

    Design design_;
    Seek seek_;
    std::vector<SortedCopy> tables_;
};

}  // namespace neardup
