#include "search/probes.hpp"

#include <algorithm>
#include <stdexcept>

namespace neardup {

namespace {

// More probes than this per query and table would be slower than reading every code.
constexpr std::size_t most_flip_sets = std::size_t{1} << 20;

void add_flip_sets(std::vector<FlipSet>& out, unsigned bits, unsigned left, unsigned from,
                   std::uint32_t mask) {
    if (left == 0) {
        if (out.size() >= most_flip_sets)
            throw std::invalid_argument("a table with so many flips makes too many probes");
        out.push_back({mask, static_cast<std::uint8_t>(std::popcount(mask))});
        return;
    }
    for (unsigned j = from; j + left <= bits; ++j)
        add_flip_sets(out, bits, left - 1, j + 1, mask | std::uint32_t{1} << j);
}

// ball[r][l]: the 6-bit numbers within distance r of l, as bits of a word.
using Balls = std::array<std::array<std::uint64_t, 64>, Shape::extra + 1>;
Balls make_balls() {
    Balls balls{};
    for (unsigned r = 0; r <= Shape::extra; ++r)
        for (unsigned l = 0; l < 64; ++l)
            for (unsigned m = 0; m < 64; ++m)
                if (static_cast<unsigned>(std::popcount(l ^ m)) <= r) balls[r][l] |= std::uint64_t{1} << m;
    return balls;
}
const Balls balls = make_balls();

}  // namespace

Shape::Shape(unsigned bits, const Code& key, unsigned flips, unsigned header_bits, bool lists_flips) {
    const unsigned key_bits = bits_in(key), used = std::min({header_bits, key_bits, 32u});
    layout_ = Layout(bits, key, used);
    flips_ = flips;
    has_presence_ = lists_flips && flips_ > 0 && key_bits >= used + extra;
    claim_ = {layout_.leading(has_presence_ ? used + extra : used), lists_flips ? flips : used};
    for (unsigned size = 0; lists_flips && size <= std::min(flips, used); ++size)
        add_flip_sets(flip_sets_, used, size, 0, 0);
}

void Batch::take(const std::uint64_t* queries, std::size_t rows, unsigned words) {
    count = rows;
    done.fill(0);
    found.clear();
    codes[1].fill(0);
    permuted[1].fill(0);
    for (std::size_t i = 0; i < rows; ++i)
        for (unsigned w = 0; w < words; ++w) codes[w][i] = queries[i * words + w];
}

void Batch::enter(const Layout& layout) {
    layout.permute(codes, count, permuted);
    const auto& top = permuted[layout.words() - 1];
    const std::uint32_t mask = layout.low_mask();
    for (std::size_t i = 0; i < count; ++i) {
        header[i] = static_cast<std::uint32_t>(layout.header(top[i]));
        low[i] = static_cast<std::uint32_t>(permuted[0][i]) & mask;
    }
}

void list_probes(const Shape& shape, const Pages<std::uint64_t>& presence, Batch& batch, std::size_t from,
                 std::size_t to, const std::uint8_t* closed) {
    const auto sets = shape.flip_sets().subspan(from, to - from);
    std::array<std::uint16_t, batch_rows> open;
    std::size_t queries = 0;
    for (std::size_t i = 0; i < batch.count; ++i) {
        open[queries] = static_cast<std::uint16_t>(i);
        queries += (batch.done[i] | (closed == nullptr ? 0 : closed[i])) == 0;
    }
    if (batch.probes.size() < queries * sets.size() + 1) batch.probes.resize(queries * sets.size() + 1);
    Probe* out = batch.probes.data();
    if (!shape.has_presence()) {
        for (std::size_t i = 0; i < queries; ++i)
            for (const FlipSet& set : sets) *out++ = {batch.header[open[i]] ^ set.mask, open[i], set.flips};
        batch.asked = static_cast<std::size_t>(out - batch.probes.data());
        return;
    }
    constexpr std::size_t ahead = 2;
    const std::uint64_t* words = presence.data();
    const Layout& layout = shape.layout();
    const auto& top = batch.permuted[layout.words() - 1];
    for (std::size_t i = 0; i < queries + ahead; ++i) {
        if (i < queries) {
            const std::uint32_t header = batch.header[open[i]];
            // Eight words share a line: masks below 8 bring nothing new.
            for (const FlipSet& set : sets)
                if (set.mask == 0 || set.mask >= 8) __builtin_prefetch(words + (header ^ set.mask));
        }
        if (i < ahead) continue;
        const std::uint16_t query = open[i - ahead];
        const std::uint32_t header = batch.header[query];
        const auto next = layout.header(top[query], Shape::extra) & 63;
        for (const FlipSet& set : sets) {
            const std::uint64_t ball = balls[std::min(shape.flips() - set.flips, Shape::extra)][next];
            *out = {header ^ set.mask, query, set.flips};
            out += (words[header ^ set.mask] & ball) != 0;
        }
    }
    batch.asked = static_cast<std::size_t>(out - batch.probes.data());
}

std::vector<std::size_t> rounds(std::size_t probes, Mode mode) {
    constexpr std::size_t most = 256;
    std::vector<std::size_t> cuts{0};
    if (mode == Mode::first)
        for (const std::size_t cut : {std::size_t{1}, probes / 8, probes / 3})
            if (cut > cuts.back() && cut < probes) cuts.push_back(cut);
    while (probes - cuts.back() > most) cuts.push_back(cuts.back() + most);
    cuts.push_back(probes);
    return cuts;
}

}  // namespace neardup
