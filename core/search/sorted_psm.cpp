#include "search/sorted_psm.hpp"

#include <stdexcept>

#include "search/vosh.hpp"

namespace neardup {

namespace {

Code top_bits(unsigned bits, unsigned count) {
    if (bits != 32 && bits != 64 && bits != 128) throw std::invalid_argument("codes have 32, 64 or 128 bits");
    if (count < 1 || count > 32) throw std::invalid_argument("a header has 1 to 32 bits");
    Code mask{};
    for (unsigned j = bits - count; j < bits; ++j) mask[j / 64] |= std::uint64_t{1} << (j % 64);
    return mask;
}

}  // namespace

SortedPsm::SortedPsm(unsigned bits, unsigned radius, std::span<const std::uint64_t> codes,
                     std::span<const std::uint32_t> numbers, unsigned header_bits)
    : radius_(radius),
      header_bits_(header_bits),
      copy_(bits, top_bits(bits, header_bits), codes, numbers),
      starts_((std::size_t{1} << header_bits) + 1) {
    if (radius > most_flips) throw std::invalid_argument("the radius is at most 16 here");
    const unsigned words = copy_.layout.words(), shift = (bits == 32 ? 32 : 64) - header_bits;
    std::size_t header = 0;
    for (std::size_t i = 0; i < rows(); ++i)
        for (; header <= copy_.codes[i * words + words - 1] >> shift; ++header)
            starts_[header] = static_cast<std::uint32_t>(i);
    for (; header < starts_.size(); ++header) starts_[header] = static_cast<std::uint32_t>(rows());
}

template <class Word>
Hits SortedPsm::search_as(std::span<const std::uint64_t> queries, std::span<const float> costs,
                          std::size_t flips, const Request& request) const {
    const unsigned words = copy_.layout.words(), bits = copy_.layout.bits(), header = header_bits_;
    const auto search_one = [&](std::size_t q, auto& matches, FlipOrder& order) KERNEL {
        const Word query = to_word<Word>(code_at(queries, words, q));
        const auto ask = [&](std::uint32_t flipped) KERNEL {
            const Word probe = query ^ static_cast<Word>(flipped) << (bits - header);
            const Prefix<Word> run(probe, bits, header);
            const auto place = static_cast<std::size_t>(run.low >> (bits - header));
            if (starts_[place] == starts_[place + 1]) return;  // no code has this header
            read_run(copy_, starts_[place], run.high, query, radius_, request.expand, matches,
                     [](Word) KERNEL { return true; });
        };
        ask(0);
        const auto settled = [&] { return request.mode == Mode::first && !matches.empty(); };
        if (flips == 0 || settled()) return;
        std::array<std::uint8_t, 32> ranking;
        std::array<float, 32> ranked;
        rank_bits(costs.subspan(q * bits + (bits - header), header), ranking, ranked);
        order.start({ranked.data(), header}, radius_);
        RankSet set;
        for (std::size_t i = 0; i < flips && !settled() && order.next(set); ++i) {
            std::uint32_t flipped = 0;
            for (const std::uint8_t rank : set.span()) flipped |= 1u << ranking[rank];
            ask(flipped);
        }
    };
    return one_by_one<FlipOrder>(queries.size() / words, request, search_one);
}

Hits SortedPsm::search(std::span<const std::uint64_t> queries, std::span<const float> costs,
                       std::size_t flips, const Request& request) const {
    return copy_.layout.words() == 1 ? search_as<Code64>(queries, costs, flips, request)
                                     : search_as<Code128>(queries, costs, flips, request);
}

}  // namespace neardup
