#include "search/huffman.hpp"

#include <algorithm>
#include <numeric>

namespace neardup {

std::vector<std::uint8_t> huffman_lengths(std::span<const std::uint64_t> counts) {
    std::vector<std::uint8_t> lengths(counts.size(), 0);
    std::vector<std::size_t> symbols;
    for (std::size_t s = 0; s < counts.size(); ++s)
        if (counts[s] > 0) symbols.push_back(s);
    if (symbols.size() < 2) {
        for (const std::size_t s : symbols) lengths[s] = 1;
        return lengths;
    }
    std::ranges::stable_sort(symbols, {}, [&](std::size_t s) { return counts[s]; });

    // Package-merge: a packet is a set of coins, one coin of symbol s for each bit of its length. Level by level the
    // cheapest packets are joined in pairs and merged with fresh coins; the 2m - 2 cheapest of the last level pay for
    // an optimal code of m symbols.
    struct Packet {
        double weight;  // exact: sums of counts are far below 2^53 for any real file
        std::vector<std::uint8_t> coins;
    };
    std::vector<Packet> coins(symbols.size()), level;
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        coins[i] = {static_cast<double>(counts[symbols[i]]), std::vector<std::uint8_t>(symbols.size(), 0)};
        coins[i].coins[i] = 1;
    }
    level = coins;
    for (unsigned bit = 1; bit < kHuffmanLimit; ++bit) {
        std::vector<Packet> joined;
        for (std::size_t i = 0; i + 1 < level.size(); i += 2) {
            Packet packet = level[i];
            packet.weight += level[i + 1].weight;
            std::ranges::transform(packet.coins, level[i + 1].coins, packet.coins.begin(), std::plus<>{});
            joined.push_back(std::move(packet));
        }
        std::vector<Packet> merged;
        std::ranges::merge(coins, joined, std::back_inserter(merged), {}, &Packet::weight, &Packet::weight);
        level = std::move(merged);
    }
    for (std::size_t p = 0; p < 2 * symbols.size() - 2; ++p)
        for (std::size_t i = 0; i < symbols.size(); ++i)
            lengths[symbols[i]] = static_cast<std::uint8_t>(lengths[symbols[i]] + level[p].coins[i]);
    return lengths;
}

bool is_huffman(std::span<const std::uint8_t> lengths) {
    std::uint64_t used = 0, kraft = 0;
    for (const std::uint8_t length : lengths) {
        if (length == 0) continue;
        if (length > kHuffmanLimit) return false;
        ++used;
        kraft += std::uint64_t{1} << (kHuffmanLimit - length);
    }
    const std::uint64_t whole = std::uint64_t{1} << kHuffmanLimit;
    return used == 0 || kraft == whole || (used == 1 && 2 * kraft == whole);
}

std::vector<std::uint16_t> huffman_words(std::span<const std::uint8_t> lengths) {
    std::vector<std::uint16_t> words(lengths.size(), 0);
    unsigned next = 0;
    for (unsigned length = 1; length <= kHuffmanLimit; ++length, next <<= 1)
        for (std::size_t s = 0; s < lengths.size(); ++s)
            if (lengths[s] == length) words[s] = static_cast<std::uint16_t>(next++);
    return words;
}

std::array<HuffmanEntry, 1 << kHuffmanLimit> huffman_table(std::span<const std::uint8_t> lengths) {
    std::array<HuffmanEntry, 1 << kHuffmanLimit> table{};
    const std::vector<std::uint16_t> words = huffman_words(lengths);
    for (std::size_t s = 0; s < lengths.size(); ++s) {
        if (lengths[s] == 0) continue;
        const unsigned free = kHuffmanLimit - lengths[s];
        const std::size_t first = std::size_t{words[s]} << free;
        std::fill_n(table.begin() + static_cast<std::ptrdiff_t>(first), std::size_t{1} << free,
                    HuffmanEntry{static_cast<std::uint8_t>(s), lengths[s]});
    }
    return table;
}

}  // namespace neardup
