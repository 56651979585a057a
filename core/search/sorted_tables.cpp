#include "search/sorted_tables.hpp"

#include <atomic>
#include <optional>
#include <stdexcept>

namespace neardup {

namespace {

// The position of a query in a table: its permuted form, the last code its run may have, and the run's first place.
template <class Word>
struct Run {
    Word query, high;
    std::size_t from;
};

template <class Word>
KERNEL inline Run<Word> look_up(const SortedCopy& copy, const Code& query, Seek seek, std::uint64_t& probes) {
    const Word permuted = to_word<Word>(copy.layout.permute(query));
    const Prefix<Word> run(permuted, copy.layout.bits(), copy.key_bits);
    return {permuted, run.high, bound(CodeColumn<Word>{copy.codes.span()}, run.low, false, seek, probes)};
}

}  // namespace

SortedCopy::SortedCopy(unsigned bits, const Code& key, std::span<const std::uint64_t> given,
                       std::span<const std::uint32_t> numbers)
    : layout(bits, key, 0), key_bits(bits_in(key)), codes(given.size()), rows(given.size() / layout.words()) {
    const unsigned words = layout.words();
    if (rows.size() > 0xFFFFFFFFu) throw std::invalid_argument("rows have four bytes: at most 4,294,967,295");
    if (!numbers.empty() && numbers.size() != rows.size())
        throw std::invalid_argument("one row number per code");
    std::vector<std::uint64_t> permuted(given.size());
    std::vector<std::int64_t> from(rows.size());
    for (std::size_t i = 0; i < from.size(); ++i) {
        const Code code = layout.permute(code_at(given, words, i));
        for (unsigned w = 0; w < words; ++w) permuted[i * words + w] = code[w];
        from[i] = numbers.empty() ? static_cast<std::int64_t>(i) : numbers[i];
    }
    const SortedCodes sorted = sort_codes(permuted, words, from);
    std::copy(sorted.codes.begin(), sorted.codes.end(), codes.data());
    std::transform(sorted.rows.begin(), sorted.rows.end(), rows.data(),
                   [](std::int64_t row) { return static_cast<std::uint32_t>(row); });
}

SortedTables::SortedTables(const Design& design, std::span<const std::uint64_t> codes,
                           std::span<const std::uint32_t> numbers, Seek seek, unsigned threads)
    : design_(design), seek_(seek) {
    design.check();
    for (const Key& key : design.keys)
        if (key.flips != 0) throw std::invalid_argument("sorted tables are asked without flips");
    std::vector<std::optional<SortedCopy>> copies(design.keys.size());
    in_parallel(copies.size(), threads, 1, [&](std::size_t begin, std::size_t end) {
        for (std::size_t z = begin; z < end; ++z)
            copies[z].emplace(design.bits, design.keys[z].mask, codes, numbers);
    });
    for (auto& copy : copies) tables_.push_back(std::move(*copy));
}

std::size_t SortedTables::codes() const {
    const auto& column = tables_.front().codes;
    const unsigned words = design_.words();
    std::size_t distinct = 0;
    for (std::size_t i = 0; i < rows(); ++i)
        distinct += i == 0 || code_at(column.span(), words, i) != code_at(column.span(), words, i - 1);
    return distinct;
}

std::size_t SortedTables::bytes() const {
    std::size_t total = 0;
    for (const SortedCopy& table : tables_) total += table.codes.bytes();
    return total;
}

std::size_t SortedTables::row_bytes() const {
    std::size_t total = 0;
    for (const SortedCopy& table : tables_) total += table.rows.bytes();
    return total;
}

std::vector<unsigned> SortedTables::key_bits() const {
    std::vector<unsigned> out;
    for (const SortedCopy& table : tables_) out.push_back(table.key_bits);
    return out;
}

template <class Word>
Hits SortedTables::search_as(std::span<const std::uint64_t> queries, const Request& request) const {
    const unsigned words = design_.words(), radius = design_.radius;
    const bool expand = request.expand;
    return one_by_one<NoRoom>(queries.size() / words, request,
                              [&, words, radius, expand](std::size_t q, auto& matches, NoRoom&) KERNEL {
                                  const Code query = code_at(queries, words, q);
                                  std::uint64_t probes = 0;
                                  for (std::size_t z = 0; z < tables_.size(); ++z) {
                                      const SortedCopy& table = tables_[z];
                                      const auto run = look_up<Word>(table, query, seek_, probes);
                                      // A pair belongs to the first table on whose key it agrees, so it is reported once.
                                      const auto is_new = [&](Word difference) KERNEL {
                                          const Code differing = table.layout.restore(to_code(difference));
                                          for (std::size_t earlier = 0; earlier < z; ++earlier)
                                              if (bits_in(differing, design_.keys[earlier].mask) == 0)
                                                  return false;
                                          return true;
                                      };
                                      read_run(table, run.from, run.high, run.query, radius, expand, matches,
                                               is_new);
                                      if (request.mode == Mode::first && !matches.empty()) return;
                                  }
                              });
}

template <class Word>
std::uint64_t SortedTables::probes_as(std::span<const std::uint64_t> queries, unsigned threads) const {
    const unsigned words = design_.words();
    std::atomic<std::uint64_t> total{0};
    in_parallel(queries.size() / words, threads, 1024, [&](std::size_t begin, std::size_t end) {
        std::uint64_t probes = 0;
        for (std::size_t q = begin; q < end; ++q)
            for (const SortedCopy& table : tables_)
                look_up<Word>(table, code_at(queries, words, q), seek_, probes);
        total += probes;
    });
    return total;
}

Hits SortedTables::search(std::span<const std::uint64_t> queries, const Request& request) const {
    return design_.words() == 1 ? search_as<Code64>(queries, request) : search_as<Code128>(queries, request);
}

std::uint64_t SortedTables::probes(std::span<const std::uint64_t> queries, unsigned threads) const {
    return design_.words() == 1 ? probes_as<Code64>(queries, threads) : probes_as<Code128>(queries, threads);
}

}  // namespace neardup
