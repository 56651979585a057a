#include "collapse.hpp"

#include "partition.hpp"

namespace neardup {

namespace {

constexpr std::size_t partition_rows = 16384;
constexpr std::size_t largest_copy = 131072;  // larger partitions are sorted where they lie

// Writes, for every entry whose code came before, the row where it came first. Entries of one bucket, by rows.
template <int halves>
KERNEL inline void label_small(std::span<const Entry<halves>> bucket, std::uint32_t* first) {
    for (std::size_t i = 1; i < bucket.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (bucket[i].half == bucket[j].half) {
                first[bucket[i].row] = bucket[j].row;
                break;
            }
}

template <int halves>
void label_sorted(std::span<Entry<halves>> entries, std::uint32_t* first) {
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
        return a.half != b.half ? a.half < b.half : a.row < b.row;
    });
    for (std::size_t i = 1, start = 0; i < entries.size(); ++i) {
        if (entries[i].half != entries[start].half)
            start = i;
        else
            first[entries[i].row] = entries[start].row;
    }
}

// Cuts large buckets short: most often they are one code many times, which one pass settles.
template <int halves>
void label_large(std::span<Entry<halves>> entries, std::uint32_t* first) {
    const auto code = entries.front().half;
    const std::uint32_t row = entries.front().row;
    std::size_t others = 0;
    for (std::size_t i = 1; i < entries.size(); ++i) {
        if (entries[i].half == code)
            first[entries[i].row] = row;
        else
            entries[others++] = entries[i];
    }
    if (others > 1) label_sorted(entries.first(others), first);
}

template <int halves>
std::vector<std::uint32_t> first_rows(Codes codes, std::span<const std::uint8_t> skip, unsigned threads) {
    const std::size_t rows = codes.size() / Partitions<halves>::words;
    std::vector<std::uint32_t> first(rows);
    for (std::size_t i = 0; i < rows; ++i) first[i] = static_cast<std::uint32_t>(i);
    const Mask everything{~std::uint64_t{0}, ~std::uint64_t{0}};
    const int bits = partition_bits(rows, partition_rows);
    const RowSet set{codes, skip};
    Partitions<halves> parts({&set, 1}, bits, threads);
    parts.scatter(everything);
    const std::size_t chunk = std::max<std::size_t>(1, parts.size() / (16 * std::size_t{threads}));
    in_parallel(parts.size(), threads, chunk, [&](std::size_t begin, std::size_t end) {
        Buckets<halves> buckets;
        for (std::size_t p = begin; p < end; ++p) {
            const auto part = parts[p];
            if (part.size() < 2) continue;
            if (part.size() > largest_copy) {
                label_large(part, first.data());
                continue;
            }
            const int more = static_cast<int>(std::bit_width(part.size()));
            buckets.fill(part, everything, bits, more);
            for (std::size_t k = 0; k < std::size_t{1} << more; ++k) {
                const std::uint32_t from = buckets.ends[k], to = buckets.ends[k + 1];
                if (to - from < 2) continue;
                const std::span bucket(&buckets.entries[from], to - from);
                if (to - from <= 8)
                    label_small<halves>(bucket, first.data());
                else
                    label_large(bucket, first.data());
            }
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
    // Sizes, then places, of the groups, kept at the row where each begins: a counting sort of rows by first row.
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
