// Building the tables of a set of codes: radix partition by header, then each part in cache.
#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "parallel.hpp"
#include "tables.hpp"

namespace neardup {

namespace {

// A permuted code on its way into a table; `row` counts in the first table only.
template <unsigned W>
struct Entry {
    std::array<std::uint64_t, W> code;
    std::uint32_t row;

    Code full() const {
        if constexpr (W == 1)
            return {code[0], 0};
        else
            return code;
    }
    // Most significant word first.
    bool operator<(const Entry& other) const {
        for (unsigned w = W; w-- > 0;)
            if (code[w] != other.code[w]) return code[w] < other.code[w];
        return row < other.row;
    }
};

// Parts small enough to sort in cache, whole groups of four buckets each.
unsigned part_bits_for(unsigned header_bits, std::size_t codes) {
    const auto wanted = static_cast<unsigned>(std::bit_width(codes >> 13));
    return std::min({wanted, 12u, header_bits > 2 ? header_bits - 2 : 0u});
}

// Entries of all codes, permuted, part by part, in order of row within a part.
template <unsigned W>
struct Parts {
    Pages<Entry<W>> entries;
    std::vector<std::size_t> starts;
};

template <unsigned W>
Parts<W> partition(const Layout& layout, unsigned part_bits, std::span<const std::uint64_t> codes,
                   std::span<const std::uint32_t> rows, unsigned threads) {
    const std::size_t count = codes.size() / W, parts = std::size_t{1} << part_bits;
    const unsigned slices = std::max(1u, threads);
    const auto shift = layout.header_bits() - part_bits;
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
    Parts<W> out{Pages<Entry<W>>(count), std::vector<std::size_t>(parts + 1)};
    std::size_t at = 0;
    for (std::size_t part = 0; part < parts; ++part) {
        out.starts[part] = at;
        for (auto& slice : next) at += std::exchange(slice[part], at);
    }
    out.starts[parts] = at;
    in_parallel(slices, threads, 1, [&](std::size_t slice, std::size_t) {
        walk(slice, [&](std::size_t row, std::size_t part, const Columns& permuted, std::size_t i) {
            Entry<W>& entry = out.entries[next[slice][part]++];
            for (unsigned w = 0; w < W; ++w) entry.code[w] = permuted[w][i];
            entry.row = rows.empty() ? static_cast<std::uint32_t>(row) : rows[row];
        });
    });
    return out;
}

// Orders the entries of one part by header, keeping the order of those with the same.
template <unsigned W>
void order_by_header(const Layout& layout, unsigned part_bits, std::span<Entry<W>> entries,
                     std::vector<Entry<W>>& scratch, std::vector<std::uint32_t>& next) {
    const std::size_t buckets = std::size_t{1} << (layout.header_bits() - part_bits);
    const auto bucket = [&](const Entry<W>& e) { return layout.header(e.code[W - 1]) & (buckets - 1); };
    next.assign(buckets + 1, 0);
    for (const auto& e : entries) ++next[bucket(e) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    scratch.assign(entries.begin(), entries.end());
    for (const auto& e : scratch) entries[next[bucket(e)]++] = e;
}

template <unsigned W>
void sort_buckets(const Layout& layout, std::span<Entry<W>> entries) {
    for (std::size_t i = 0; i < entries.size();) {
        const auto header = layout.header(entries[i].code[W - 1]);
        std::size_t end = i + 1;
        while (end < entries.size() && layout.header(entries[end].code[W - 1]) == header) ++end;
        if (end - i > 1)
            std::sort(entries.begin() + static_cast<std::ptrdiff_t>(i),
                      entries.begin() + static_cast<std::ptrdiff_t>(end));
        i = end;
    }
}

struct Groups {
    std::vector<std::uint32_t> codes, sizes, members;
};

// The first table finds equal codes, which meet in a bucket, and so fixes the order of codes and rows.
template <unsigned W>
Pages<std::uint64_t> build_home(Table& table, Rows& rows, const Shape& shape,
                                std::span<const std::uint64_t> codes, std::span<const std::uint32_t> numbers,
                                unsigned threads) {
    const Layout& layout = shape.layout();
    const unsigned part_bits = part_bits_for(layout.header_bits(), codes.size() / W);
    auto [entries, starts] = partition<W>(layout, part_bits, codes, numbers, threads);
    const std::size_t parts = starts.size() - 1;
    const auto part_of = [&](std::size_t p) {
        return std::span<Entry<W>>(entries.data() + starts[p], starts[p + 1] - starts[p]);
    };
    std::vector<std::size_t> first(parts + 1);
    in_parallel(parts, threads, 4, [&](std::size_t begin, std::size_t end) {
        std::vector<Entry<W>> scratch;
        std::vector<std::uint32_t> next;
        for (std::size_t p = begin; p < end; ++p) {
            const auto part = part_of(p);
            order_by_header<W>(layout, part_bits, part, scratch, next);
            sort_buckets<W>(layout, part);
            std::size_t unique = 0;
            for (std::size_t i = 0; i < part.size(); ++i)
                unique += i == 0 || part[i].code != part[i - 1].code;
            first[p + 1] = unique;
        }
    });
    std::partial_sum(first.begin(), first.end(), first.begin());
    const std::size_t unique = first[parts];
    table = Table(shape, unique);
    rows = Rows(unique);
    Pages<std::uint64_t> out(unique * W);
    std::vector<Table::Part> writers;
    for (std::size_t p = 0; p < parts; ++p)
        writers.emplace_back(table, part_bits, p, static_cast<std::uint32_t>(first[p]));
    std::vector<Groups> groups(parts);
    in_parallel(parts, threads, 4, [&](std::size_t begin, std::size_t end) {
        for (std::size_t p = begin; p < end; ++p) {
            const auto part = part_of(p);
            std::size_t code = first[p];
            for (std::size_t i = 0; i < part.size(); ++code) {
                std::size_t last = i + 1;
                while (last < part.size() && part[last].code == part[i].code) ++last;
                const auto at = static_cast<std::uint32_t>(code);
                writers[p].add(part[i].full());
                rows.set(at, part[i].row);
                if (last - i > 1) {
                    groups[p].codes.push_back(at);
                    groups[p].sizes.push_back(static_cast<std::uint32_t>(last - i));
                    for (std::size_t j = i; j < last; ++j) groups[p].members.push_back(part[j].row);
                }
                const Code restored = layout.restore(part[i].full());
                for (unsigned w = 0; w < W; ++w) out[code * W + w] = restored[w];
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
Table build_table(const Shape& shape, std::span<const std::uint64_t> codes, unsigned threads) {
    const Layout& layout = shape.layout();
    const unsigned part_bits = part_bits_for(layout.header_bits(), codes.size() / W);
    auto [entries, starts] = partition<W>(layout, part_bits, codes, {}, threads);
    const std::size_t parts = starts.size() - 1;
    Table table(shape, codes.size() / W);
    std::vector<Table::Part> writers;
    for (std::size_t p = 0; p < parts; ++p)
        writers.emplace_back(table, part_bits, p, static_cast<std::uint32_t>(starts[p]));
    in_parallel(parts, threads, 4, [&](std::size_t begin, std::size_t end) {
        std::vector<Entry<W>> scratch;
        std::vector<std::uint32_t> next;
        for (std::size_t p = begin; p < end; ++p) {
            const std::span<Entry<W>> part(entries.data() + starts[p], starts[p + 1] - starts[p]);
            order_by_header<W>(layout, part_bits, part, scratch, next);
            for (const auto& entry : part) writers[p].add(entry.full());
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
        return Shape(design.bits, key.mask, std::min(key.flips, design.radius), wanted);
    };
    tables.resize(design.keys.size());
    const auto unique =
        build_home<W>(tables[0], rows, shape(design.keys[0], codes.size() / W), codes, numbers, threads);
    for (std::size_t z = 1; z < tables.size(); ++z)
        tables[z] = build_table<W>(shape(design.keys[z], rows.codes()), unique.span(), threads);
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
