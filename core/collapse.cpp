#include "collapse.hpp"

#include <numeric>

#include "partition.hpp"

namespace neardup {

namespace {

constexpr std::size_t partition_rows = 16384;
constexpr std::size_t largest_table = 131072;  // larger partitions are sorted where they lie
constexpr int longest_probe = 64;              // so are those whose hashes crowd

// Writes, for every entry whose code came before, the row where it came first. Entries come in the order of
// rows.
template <int halves>
void label_sorted(std::span<Entry<halves>> part, std::uint32_t* first) {
    std::sort(part.begin(), part.end(), [](const auto& a, const auto& b) {
        return a.half != b.half ? a.half < b.half : a.row < b.row;
    });
    for (std::size_t i = 1, start = 0; i < part.size(); ++i) {
        if (part[i].half != part[start].half)
            start = i;
        else
            first[part[i].row] = part[start].row;
    }
}

// The same with an open table of the codes seen, which must have 2^bits slots, more than there are entries;
// false when too many hashes fall together. The hash's first `skip_bits` bits are the same for the whole
// partition.
template <int halves>
KERNEL inline bool label_hashed(std::span<const Entry<halves>> part, int skip_bits, int bits,
                                std::uint32_t* slots, std::uint32_t* first) {
    constexpr std::uint32_t none = ~std::uint32_t{0};
    const std::uint64_t last = (std::uint64_t{1} << bits) - 1;
    std::fill_n(slots, last + 1, none);
    const Mask everything{~std::uint64_t{0}, ~std::uint64_t{0}};
    for (std::uint32_t i = 0; i < part.size(); ++i) {
        std::uint64_t slot = key_hash(part[i], everything) << skip_bits >> (64 - bits);
        for (int probe = 0;; slot = (slot + 1) & last) {
            const std::uint32_t seen = slots[slot];
            if (seen == none) {
                slots[slot] = i;
                break;
            }
            if (part[seen].low() == part[i].low() && part[seen].high() == part[i].high()) {
                first[part[i].row] = part[seen].row;
                break;
            }
            if (++probe == longest_probe) return false;
        }
    }
    return true;
}

template <int halves>
std::vector<std::uint32_t> first_rows(Codes codes, std::span<const std::uint8_t> skip, unsigned threads) {
    const std::size_t rows = codes.size() / Partitions<halves>::words;
    std::vector<std::uint32_t> first(rows);
    std::iota(first.begin(), first.end(), std::uint32_t{0});
    const int bits = partition_bits(rows, partition_rows);
    const RowSet set{codes, skip};
    Partitions<halves> parts({&set, 1}, bits, threads);
    parts.scatter({~std::uint64_t{0}, ~std::uint64_t{0}});
    const std::size_t chunk = std::max<std::size_t>(1, parts.size() / (16 * std::size_t{threads}));
    in_parallel(parts.size(), threads, chunk, [&](std::size_t begin, std::size_t end) {
        std::vector<std::uint32_t> slots;
        for (std::size_t p = begin; p < end; ++p) {
            const auto part = parts[p];
            if (part.size() < 2) continue;
            const int more = static_cast<int>(std::bit_width(part.size())) + 1;  // at most half full
            bool done = false;
            if (part.size() <= largest_table) {
                if (slots.size() >> more == 0) slots.resize(std::size_t{1} << more);
                done = on_best_cpu([=, to = slots.data(), labels = first.data()] KERNEL {
                    return label_hashed<halves>(part, bits, more, to, labels);
                });
            }
            if (!done) label_sorted(part, first.data());
        }
    });
    return first;
}

}  // namespace

EqualCodes collapse(Codes codes, std::span<const std::uint8_t> skip, int bits, unsigned threads) {
    std::vector<std::uint32_t> first = bits == 32   ? first_rows<1>(codes, skip, threads)
                                       : bits == 64 ? first_rows<2>(codes, skip, threads)
                                                    : first_rows<4>(codes, skip, threads);
    const std::size_t rows = first.size();
    EqualCodes out;
    out.repeats.resize(rows);
    std::size_t repeats = 0;
    for (std::size_t i = 0; i < rows; ++i) repeats += out.repeats[i] = first[i] != i;
    out.offsets.push_back(0);
    if (repeats == 0) return out;
    // Sizes, then places, of the groups, kept at the row where each begins: a counting sort of rows by
    // first row.
    std::vector<std::uint32_t> place(rows);
    for (std::size_t i = 0; i < rows; ++i)
        if (out.repeats[i]) ++place[first[i]];
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        if (place[i] == 0) continue;
        const std::uint32_t size = place[i] + 1;
        place[i] = next;
        next += size;
        out.offsets.push_back(next);
    }
    out.members.resize(next);
    // A first row comes before its repeats, so it marks the start itself and the place moves on from there.
    for (std::size_t g = 0; g + 1 < out.offsets.size(); ++g)
        out.members[static_cast<std::size_t>(out.offsets[g])] = -1;
    for (std::size_t i = 0; i < rows; ++i) {
        if (!out.repeats[i]) continue;
        const std::uint32_t head = first[i];
        auto& start = out.members[place[head]];
        if (start == -1) start = head;
        out.members[++place[head]] = static_cast<std::int64_t>(i);
    }
    return out;
}

}  // namespace neardup
