#include "join/collapse.hpp"

#include "join/partition.hpp"

namespace neardup {

namespace {

constexpr std::size_t partition_rows = 16384;
constexpr std::size_t largest_table = 131072;  // larger partitions are sorted in place
constexpr int longest_probe = 64;              // so are those whose hashes crowd

// A repeat is an entry whose code came before; its first half is overwritten with the row where it came
// first.
template <int halves>
Entry<halves> repeat_of(std::uint32_t first, std::uint32_t row) {
    Entry<halves> repeat{};
    repeat.half[0] = first;
    repeat.row = row;
    return repeat;
}

// Moves the repeats to the front of the partition and says how many there are.
template <int halves>
std::size_t repeats_sorted(std::span<Entry<halves>> part) {
    const auto before = [](const auto& a, const auto& b) {
        if (a.low() != b.low()) return a.low() < b.low();
        return a.high() != b.high() ? a.high() < b.high() : a.row < b.row;
    };
    // That many entries usually have the same code and are already sorted.
    if (!std::is_sorted(part.begin(), part.end(), before)) std::sort(part.begin(), part.end(), before);
    std::size_t count = 0;
    Entry<halves> first = part[0];
    for (std::size_t i = 1; i < part.size(); ++i) {
        if (part[i].half != first.half)
            first = part[i];
        else
            part[count++] = repeat_of<halves>(first.row, part[i].row);
    }
    return count;
}

// Finds the repeats with an open table of the codes seen, of 2^bits slots; false when too many hashes fall
// together. The first `skip_bits` bits of the hash are the same for the whole partition.
template <int halves>
KERNEL inline bool repeats_hashed(std::span<const Entry<halves>> part, int skip_bits, int bits,
                                  std::uint32_t* slots, std::vector<Entry<halves>>& repeats) {
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
                repeats.push_back(repeat_of<halves>(part[seen].row, part[i].row));
                break;
            }
            if (++probe == longest_probe) return false;
        }
    }
    return true;
}

// Groups from repeats: a counting sort by first row. Repeats of one group come in the order of rows.
template <int halves>
void gather(Partitions<halves>& parts, std::span<const std::size_t> counts, EqualCodes& out) {
    std::vector<std::uint32_t> place(
        out.repeats.size());  // size, then place, of the group that begins at a row
    const auto each_repeat = [&](auto body) {
        for (std::size_t p = 0; p < parts.size(); ++p)
            for (const auto& repeat : parts[p].first(counts[p])) body(repeat.half[0], repeat.row);
    };
    each_repeat([&](std::uint32_t first, std::uint32_t) { ++place[first]; });
    for (std::size_t row = 0; row < place.size(); ++row) {
        if (place[row] == 0) continue;
        const std::uint32_t size = place[row] + 1;
        place[row] = static_cast<std::uint32_t>(out.members.size()) + 1;
        out.members.push_back(static_cast<std::int64_t>(row));
        out.members.resize(out.members.size() + size - 1);
        out.offsets.push_back(static_cast<std::int64_t>(out.members.size()));
    }
    each_repeat([&](std::uint32_t first, std::uint32_t row) { out.members[place[first]++] = row; });
}

template <int halves>
EqualCodes collapse_halves(Codes codes, std::span<const std::uint8_t> skip, unsigned threads) {
    const std::size_t rows = codes.size() / Partitions<halves>::words;
    EqualCodes out;
    out.repeats.resize(rows);
    out.offsets.push_back(0);
    const int bits = partition_bits(rows, partition_rows);
    const RowSet set{codes, skip};
    Partitions<halves> parts({&set, 1}, bits, threads);
    parts.scatter({~std::uint64_t{0}, ~std::uint64_t{0}});
    std::vector<std::size_t> counts(parts.size());
    const std::size_t chunk = std::max<std::size_t>(1, parts.size() / (16 * std::size_t{threads}));
    in_parallel(parts.size(), threads, chunk, [&](std::size_t begin, std::size_t end) {
        std::vector<std::uint32_t> slots;
        std::vector<Entry<halves>> repeats;
        for (std::size_t p = begin; p < end; ++p) {
            const auto part = parts[p];
            if (part.size() < 2) continue;
            const int more = static_cast<int>(std::bit_width(part.size())) + 1;  // at most half full
            bool done = false;
            if (part.size() <= largest_table) {
                if (slots.size() >> more == 0) slots.resize(std::size_t{1} << more);
                repeats.clear();
                done = on_best_cpu([=, to = slots.data(), &repeats]() KERNEL {
                    return repeats_hashed<halves>(part, bits, more, to, repeats);
                });
            }
            if (done) std::copy(repeats.begin(), repeats.end(), part.begin());
            counts[p] = done ? repeats.size() : repeats_sorted(part);
            for (const auto& repeat : part.first(counts[p])) out.repeats[repeat.row] = 1;
        }
    });
    if (std::any_of(counts.begin(), counts.end(), [](std::size_t count) { return count > 0; }))
        gather(parts, counts, out);
    return out;
}

}  // namespace

EqualCodes collapse(Codes codes, std::span<const std::uint8_t> skip, int bits, unsigned threads) {
    if (bits == 32) return collapse_halves<1>(codes, skip, threads);
    if (bits == 64) return collapse_halves<2>(codes, skip, threads);
    return collapse_halves<4>(codes, skip, threads);
}

}  // namespace neardup
