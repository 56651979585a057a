// Building the tables of a set of codes: radix partition by header, then each part in cache.
#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "parallel.hpp"
#include "search/tables.hpp"

namespace neardup {

namespace {

// A permuted code on its way into the first table.
template <unsigned W>
struct Entry {
    std::array<std::uint64_t, W> code;
    std::uint32_t row;

    // Most significant word first.
    bool operator<(const Entry& other) const {
        for (unsigned w = W; w-- > 0;)
            if (code[w] != other.code[w]) return code[w] < other.code[w];
        return row < other.row;
    }
};

template <unsigned W>
Code widened(const std::uint64_t* words) {
    if constexpr (W == 1)
        return {words[0], 0};
    else
        return {words[0], words[1]};
}

// Parts small enough to order in cache, whole groups of four buckets each.
unsigned part_bits_for(unsigned header_bits, std::size_t codes) {
    const auto wanted = static_cast<unsigned>(std::bit_width(codes >> 13));
    return std::min({wanted, 12u, header_bits > 2 ? header_bits - 2 : 0u});
}

// Permuted codes, part by part; in order of row within a part. Kept from table to table: fresh memory is slow.
struct Parted {
    Pages<std::uint64_t> codes;
    Pages<std::uint32_t> rows;  // for the first table
    std::vector<std::size_t> starts;
};

template <unsigned W>
void partition(Parted& out, const Layout& layout, unsigned part_bits, std::span<const std::uint64_t> codes,
               bool with_rows, std::span<const std::uint32_t> numbers, unsigned threads) {
    const std::size_t count = codes.size() / W, parts = std::size_t{1} << part_bits;
    const unsigned slices = std::max(1u, threads), shift = layout.header_bits() - part_bits;
    // Each slice of rows is permuted twice, to count and to place: cheaper than keeping the permuted codes.
    const auto walk = [&](std::size_t slice, auto visit) {
        const auto columns = std::make_unique<Columns>(), permuted = std::make_unique<Columns>();
        const std::size_t begin = count * slice / slices, end = count * (slice + 1) / slices;
        for (std::size_t first = begin; first < end; first += batch_rows) {
            const std::size_t n = std::min(batch_rows, end - first);
            for (std::size_t i = 0; i < n; ++i)
                for (unsigned w = 0; w < W; ++w) (*columns)[w][i] = codes[(first + i) * W + w];
            layout.permute(*columns, n, *permuted);
            for (std::size_t i = 0; i < n; ++i)
                visit(first + i, layout.header((*permuted)[W - 1][i]) >> shift, *permuted, i);
        }
    };
    std::vector<std::vector<std::size_t>> next(slices, std::vector<std::size_t>(parts));
    in_parallel(slices, threads, 1, [&](std::size_t slice, std::size_t) {
        walk(slice, [&](std::size_t, std::size_t part, const Columns&, std::size_t) { ++next[slice][part]; });
    });
    if (out.codes.size() < count * W) out.codes = Pages<std::uint64_t>(count * W);
    if (with_rows && out.rows.size() < count) out.rows = Pages<std::uint32_t>(count);
    out.starts.assign(parts + 1, 0);
    std::size_t at = 0;
    for (std::size_t part = 0; part < parts; ++part) {
        out.starts[part] = at;
        for (auto& slice : next) at += std::exchange(slice[part], at);
    }
    out.starts[parts] = at;
    in_parallel(slices, threads, 1, [&](std::size_t slice, std::size_t) {
        walk(slice, [&](std::size_t row, std::size_t part, const Columns& permuted, std::size_t i) {
            const std::size_t to = next[slice][part]++;
            for (unsigned w = 0; w < W; ++w) out.codes[to * W + w] = permuted[w][i];
            if (with_rows) out.rows[to] = numbers.empty() ? static_cast<std::uint32_t>(row) : numbers[row];
        });
    });
}

// Takes part p's codes to `place(position, code's number in Parted)` in order of header, keeping the order of those with
// the same.
template <unsigned W, class Place>
void order_by_header(const Parted& parted, const Layout& layout, unsigned part_bits, std::size_t p,
                     std::vector<std::uint32_t>& next, Place place) {
    const std::size_t buckets = std::size_t{1} << (layout.header_bits() - part_bits);
    const auto bucket = [&](std::size_t i) {
        return layout.header(parted.codes[i * W + W - 1]) & (buckets - 1);
    };
    next.assign(buckets + 1, 0);
    for (std::size_t i = parted.starts[p]; i < parted.starts[p + 1]; ++i) ++next[bucket(i) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::size_t i = parted.starts[p]; i < parted.starts[p + 1]; ++i) place(next[bucket(i)]++, i);
}

struct Groups {
    std::vector<std::uint32_t> codes, sizes, members;
};

// The first table finds equal codes, because they are in the same bucket. It fixes the order of codes and rows. Returns
// the distinct codes in that order.
template <unsigned W>
Pages<std::uint64_t> build_home(Table& table, Rows& rows, Parted& parted, const Shape& shape,
                                std::span<const std::uint64_t> codes, std::span<const std::uint32_t> numbers,
                                unsigned threads) {
    const Layout& layout = shape.layout();
    const unsigned part_bits = part_bits_for(layout.header_bits(), codes.size() / W);
    partition<W>(parted, layout, part_bits, codes, true, numbers, threads);
    const std::size_t parts = parted.starts.size() - 1;
    std::vector<std::size_t> first(parts + 1);
    in_parallel(parts, threads, 4, [&](std::size_t begin, std::size_t end) {
        std::vector<Entry<W>> entries;
        std::vector<std::uint32_t> next;
        for (std::size_t p = begin; p < end; ++p) {
            const std::size_t start = parted.starts[p], size = parted.starts[p + 1] - start;
            entries.resize(size);
            order_by_header<W>(parted, layout, part_bits, p, next, [&](std::size_t to, std::size_t i) {
                for (unsigned w = 0; w < W; ++w) entries[to].code[w] = parted.codes[i * W + w];
                entries[to].row = parted.rows[i];
            });
            // `next` now holds where each bucket ends.
            for (std::size_t b = 0, at = 0; at < size; at = next[b++])
                if (next[b] - at > 1)
                    std::sort(entries.begin() + static_cast<std::ptrdiff_t>(at), entries.begin() + next[b]);
            for (std::size_t i = 0; i < size; ++i) {
                for (unsigned w = 0; w < W; ++w) parted.codes[(start + i) * W + w] = entries[i].code[w];
                parted.rows[start + i] = entries[i].row;
                first[p + 1] += i == 0 || entries[i].code != entries[i - 1].code;
            }
        }
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    const std::size_t distinct = first[parts];
    table = Table(shape, distinct);
    rows = Rows(distinct);
    Pages<std::uint64_t> out(distinct * W);
    std::vector<Table::Part> writers;
    for (std::size_t p = 0; p < parts; ++p)
        writers.emplace_back(table, part_bits, p, static_cast<std::uint32_t>(first[p]));
    std::vector<Groups> groups(parts);
    in_parallel(parts, threads, 4, [&](std::size_t begin, std::size_t end) {
        const auto equal = [&](std::size_t i, std::size_t j) {
            return std::equal(&parted.codes[i * W], &parted.codes[i * W] + W, &parted.codes[j * W]);
        };
        for (std::size_t p = begin; p < end; ++p) {
            std::size_t code = first[p];
            for (std::size_t i = parted.starts[p]; i < parted.starts[p + 1]; ++code) {
                std::size_t last = i + 1;
                while (last < parted.starts[p + 1] && equal(last, i)) ++last;
                const auto at = static_cast<std::uint32_t>(code);
                const Code permuted = widened<W>(&parted.codes[i * W]), restored = layout.restore(permuted);
                writers[p].add(permuted);
                rows.set(at, parted.rows[i]);
                for (unsigned w = 0; w < W; ++w) out[code * W + w] = restored[w];
                if (last - i > 1) {
                    groups[p].codes.push_back(at);
                    groups[p].sizes.push_back(static_cast<std::uint32_t>(last - i));
                    groups[p].members.insert(groups[p].members.end(), &parted.rows[i], &parted.rows[last]);
                }
                i = last;
            }
            writers[p].finish();
        }
    });
    table.join(writers);
    for (const Groups& group : groups) rows.join(group.codes, group.sizes, group.members);
    return out;
}

template <unsigned W>
Table build_table(Parted& parted, const Shape& shape, std::span<const std::uint64_t> codes,
                  unsigned threads) {
    const Layout& layout = shape.layout();
    const unsigned part_bits = part_bits_for(layout.header_bits(), codes.size() / W);
    partition<W>(parted, layout, part_bits, codes, false, {}, threads);
    const std::size_t parts = parted.starts.size() - 1;
    Table table(shape, codes.size() / W);
    std::vector<Table::Part> writers;
    for (std::size_t p = 0; p < parts; ++p)
        writers.emplace_back(table, part_bits, p, static_cast<std::uint32_t>(parted.starts[p]));
    in_parallel(parts, threads, 4, [&](std::size_t begin, std::size_t end) {
        std::vector<std::uint64_t> ordered;
        std::vector<std::uint32_t> next;
        for (std::size_t p = begin; p < end; ++p) {
            ordered.resize((parted.starts[p + 1] - parted.starts[p]) * W);
            order_by_header<W>(parted, layout, part_bits, p, next, [&](std::size_t to, std::size_t i) {
                for (unsigned w = 0; w < W; ++w) ordered[to * W + w] = parted.codes[i * W + w];
            });
            for (std::size_t i = 0; i < ordered.size(); i += W) writers[p].add(widened<W>(&ordered[i]));
            writers[p].finish();
        }
    });
    table.join(writers);
    return table;
}

template <unsigned W>
void build(const Design& design, std::span<const std::uint64_t> codes, std::span<const std::uint32_t> numbers,
           unsigned threads, std::vector<Table>& tables, Rows& rows) {
    const auto shape = [&](const Key& key, std::size_t count) {
        const unsigned wanted =
            design.header_bits != 0 ? design.header_bits : header_bits_for(design.bits, count, key.flips > 0);
        return Shape(design.bits, key.mask, std::min(key.flips, design.radius), wanted, key.lists_flips);
    };
    tables.resize(design.keys.size());
    Parted parted;
    const auto distinct = build_home<W>(tables[0], rows, parted, shape(design.keys[0], codes.size() / W),
                                        codes, numbers, threads);
    for (std::size_t z = 1; z < tables.size(); ++z)
        tables[z] = build_table<W>(parted, shape(design.keys[z], rows.codes()), distinct.span(), threads);
}

}  // namespace

Tables::Tables(const Design& design, std::span<const std::uint64_t> codes,
               std::span<const std::uint32_t> rows, unsigned threads)
    : design_(design), row_count_(codes.size() / design.words()) {
    design_.check();
    // Positions are 32-bit numbers, and the last one means "not yet known".
    if (row_count_ >= 0xFFFFFFFFu)
        throw std::invalid_argument("one set of tables holds fewer than 2^32 - 1 codes");
    if (!rows.empty() && rows.size() != row_count_) throw std::invalid_argument("one row number per code");
    if (design.words() == 1)
        build<1>(design_, codes, rows, threads, tables_, rows_);
    else
        build<2>(design_, codes, rows, threads, tables_, rows_);
    for (const Table& table : tables_) claims_.push_back(table.shape().claim());
}

}  // namespace neardup
