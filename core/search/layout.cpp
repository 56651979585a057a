#include "search/layout.hpp"

#include <stdexcept>

namespace neardup {

Layout::Layout(unsigned bits, const Code& key, unsigned header_bits)
    : bits_(bits), header_bits_(header_bits) {
    if (bits != 32 && bits != 64 && bits != 128) throw std::invalid_argument("codes have 32, 64 or 128 bits");
    const auto in_key = [&](unsigned j) { return (key[j / 64] >> (j % 64) & 1) != 0; };
    for (unsigned j = 0; j < bits; ++j)
        if (!in_key(j)) source_.push_back(static_cast<std::uint8_t>(j));
    const std::size_t outside = source_.size();
    for (unsigned j = 0; j < bits; ++j)
        if (in_key(j)) source_.push_back(static_cast<std::uint8_t>(j));
    if (bits_in(key) != bits - outside) throw std::invalid_argument("a key names bits the codes do not have");
    if (header_bits > bits - outside || header_bits > 32)
        throw std::invalid_argument("a header has at most 32 bits, all of its key");
    runs_ = runs(source_);
    std::vector<std::uint8_t> inverse(bits);
    for (unsigned j = 0; j < bits; ++j) inverse[source_[j]] = static_cast<std::uint8_t>(j);
    back_ = runs(inverse);
}

std::vector<Layout::Run> Layout::runs(const std::vector<std::uint8_t>& source) {
    std::vector<Run> out;
    for (std::size_t to = 0; to < source.size();) {
        const unsigned from = source[to];
        std::size_t length = 1;
        while (to + length < source.size() && source[to + length] == from + length &&
               (to + length) % 64 != 0 && (from + length) % 64 != 0)
            ++length;
        out.push_back({static_cast<std::uint8_t>(from / 64), static_cast<std::uint8_t>(from % 64),
                       static_cast<std::uint8_t>(to / 64), static_cast<std::uint8_t>(to % 64),
                       length == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << length) - 1});
        to += length;
    }
    return out;
}

Code Layout::leading(unsigned count) const {
    Code mask{};
    for (unsigned i = 0; i < count; ++i) {
        const unsigned j = source_[bits_ - 1 - i];
        mask[j / 64] |= std::uint64_t{1} << (j % 64);
    }
    return mask;
}

// Run by run over the whole column: plain loops that every CPU level vectorises, where a bit-gather instruction would
// exist on some machines only.
void Layout::permute(const Columns& codes, std::size_t count, Columns& out) const {
    on_best_cpu([&, count]() KERNEL {
        for (unsigned w = 0; w < words(); ++w)
            for (std::size_t i = 0; i < count; ++i) out[w][i] = 0;
        for (const Run& run : runs_) {
            const std::uint64_t* in = codes[run.from_word].data();
            std::uint64_t* to = out[run.to_word].data();
            const Run r = run;
            for (std::size_t i = 0; i < count; ++i) to[i] |= ((in[i] >> r.from_shift) & r.mask) << r.to_shift;
        }
    });
}

}  // namespace neardup
