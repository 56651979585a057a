#include "search/tail.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "simd.hpp"

namespace neardup {

namespace {

constexpr std::size_t most_marks = 64;  // of one code: more would cost more than they spare
constexpr unsigned marks_a_code =
    7;  // the map has 2^7 bits or more for each; a full tail sets a fifth of them

// All numbers of `bits` bits with at most `flips` bits set, or none if there are too many.
std::vector<std::uint32_t> small_differences(unsigned bits, unsigned flips) {
    std::vector<std::uint32_t> found{0};
    for (std::size_t first = 0; flips > 0; --flips) {
        const std::size_t last = found.size();
        for (std::size_t i = first; i < last; ++i)
            for (auto j = static_cast<unsigned>(std::bit_width(found[i])); j < bits; ++j)
                found.push_back(found[i] | std::uint32_t{1} << j);
        if (found.size() > most_marks) return {};
        first = last;
    }
    return found;
}

}  // namespace

Tail::Tail(const Design& design, std::size_t capacity) : design_(design), capacity_(capacity) {
    // Buckets of 4 to 8 when full: at most one in 250 overflows 16.
    const auto wanted = std::max(1u, static_cast<unsigned>(std::bit_width(capacity / 8)));
    for (const Key& key : design.keys) {
        Shape shape(design.bits, key.mask, std::min(key.flips, design.radius), wanted);
        const std::size_t buckets = std::size_t{1} << shape.layout().header_bits();
        claims_.push_back(shape.claim());
        tables_.push_back({std::move(shape),
                           Pages<std::uint32_t>(buckets * lanes),
                           Pages<std::uint32_t>(buckets * lanes),
                           Pages<std::uint8_t>(buckets),
                           {},
                           {},
                           0,
                           {},
                           {}});
        Buckets& made = tables_.back();
        if (!made.shape.has_presence()) continue;
        made.presence = Pages<std::uint64_t>(buckets);
        const unsigned marked = std::min(
            {static_cast<unsigned>(std::bit_width(capacity)) + marks_a_code, bits_in(key.mask), 32u});
        made.nearby = small_differences(marked, made.shape.flips());
        if (made.nearby.empty()) continue;
        made.marked = marked;
        // A pair belongs to the first table that claims it, so no table may claim what its marks would leave out.
        claims_.back() = {made.shape.layout().leading(marked), made.shape.flips()};
        made.marks = Pages<std::uint64_t>(((std::size_t{1} << marked) + 63) / 64);
    }
    codes_.reserve(capacity);
    first_.reserve(capacity);
    last_.reserve(capacity);
    next_.reserve(capacity);
}

std::size_t Tail::bytes() const {
    std::size_t total =
        codes_.capacity() * sizeof(Code) + 4 * (first_.capacity() + last_.capacity() + next_.capacity());
    for (const Buckets& b : tables_) {
        total += b.low.bytes() + b.code.bytes() + b.count.bytes() + b.presence.bytes() + b.marks.bytes();
        for (const auto& [header, list] : b.overflow)
            total += 4 * (list.low.capacity() + list.code.capacity()) + 64;
    }
    return total;
}

std::uint32_t Tail::Buckets::find(std::uint32_t header, std::uint32_t low_bits, const Code& wanted,
                                  const std::vector<Code>& codes) const {
    const std::size_t line = header * lanes, held = std::min<std::size_t>(count[header], lanes);
    for (std::size_t i = 0; i < held; ++i)
        if (low[line + i] == low_bits && codes[code[line + i]] == wanted) return code[line + i];
    if (count[header] > lanes) {
        const Overflow& list = overflow.at(header);
        for (std::size_t i = 0; i < list.low.size(); ++i)
            if (list.low[i] == low_bits && codes[list.code[i]] == wanted) return list.code[i];
    }
    return none;
}

void Tail::Buckets::mark(std::uint64_t top) {
    if (marked == 0) return;
    const Layout& layout = shape.layout();
    const auto own = static_cast<std::uint32_t>(layout.header(top, marked - layout.header_bits()));
    for (const std::uint32_t difference : nearby) {
        const std::uint32_t value = own ^ difference;
        marks[value / 64] |= std::uint64_t{1} << (value % 64);
    }
}

void Tail::Buckets::close(const Batch& batch, std::array<std::uint8_t, batch_rows>& closed) const {
    constexpr std::size_t ahead = 16;
    const Layout& layout = shape.layout();
    const auto& top = batch.permuted[layout.words() - 1];
    std::array<std::uint32_t, batch_rows> values;
    const unsigned more = marked - layout.header_bits();
    for (std::size_t i = 0; i < batch.count; ++i)
        values[i] = static_cast<std::uint32_t>(layout.header(top[i], more));
    const std::uint64_t* words = marks.data();
    for (std::size_t i = 0; i < batch.count; ++i) {
        if (i + ahead < batch.count) __builtin_prefetch(words + values[i + ahead] / 64);
        closed[i] = static_cast<std::uint8_t>(~(words[values[i] / 64] >> (values[i] % 64)) & 1);
    }
}

void Tail::Buckets::insert(std::uint32_t header, std::uint32_t low_bits, std::uint32_t number) {
    if (count[header] < lanes) {
        const std::size_t at = header * lanes + count[header]++;
        low[at] = low_bits;
        code[at] = number;
        return;
    }
    count[header] = lanes + 1;
    Overflow& list = overflow[header];
    list.low.push_back(low_bits);
    list.code.push_back(number);
}

void Tail::add(std::span<const std::uint64_t> codes, std::span<const bool> empty) {
    constexpr std::size_t ahead = 16;
    const unsigned words = design_.words();
    if (codes.size() / words > room()) throw std::invalid_argument("no room");
    const auto batch = std::make_unique<Batch>();
    std::array<std::uint32_t, batch_rows> number;
    for (std::size_t at = 0; at < codes.size() / words; at += batch_rows) {
        batch->take(codes.data() + at * words, std::min(batch_rows, codes.size() / words - at), words);
        for (std::size_t z = 0; z < tables_.size(); ++z) {
            Buckets& table = tables_[z];
            const Layout& layout = table.shape.layout();
            batch->enter(layout);
            const auto& top = batch->permuted[layout.words() - 1];
            for (std::size_t i = 0; i < batch->count + ahead; ++i) {
                if (i < batch->count) {
                    const std::size_t header = batch->header[i];
                    __builtin_prefetch(table.count.data() + header, 1);
                    __builtin_prefetch(table.low.data() + header * lanes, 1);
                    __builtin_prefetch(table.code.data() + header * lanes, 1);
                    if (table.presence.size() != 0) __builtin_prefetch(table.presence.data() + header, 1);
                }
                if (i < ahead) continue;
                const std::size_t j = i - ahead;
                const std::uint32_t header = batch->header[j], low = batch->low[j];
                if (z == 0) {
                    // The first table has every code, so it shows which codes are new.
                    const auto row = static_cast<std::uint32_t>(next_.size());
                    next_.push_back(none);
                    number[j] = none;
                    if (!empty.empty() && empty[at + j]) continue;
                    const std::uint32_t known = table.find(header, low, batch->code(j), codes_);
                    if (known != none) {
                        next_[last_[known]] = row;
                        last_[known] = row;
                        continue;
                    }
                    number[j] = static_cast<std::uint32_t>(codes_.size());
                    codes_.push_back(batch->code(j));
                    first_.push_back(row);
                    last_.push_back(row);
                }
                if (number[j] == none) continue;
                table.insert(header, low, number[j]);
                if (table.presence.size() != 0)
                    table.presence[header] |= std::uint64_t{1} << (layout.header(top[j], Shape::extra) & 63);
                table.mark(top[j]);
            }
        }
    }
}

void Tail::scan(const Buckets& buckets, Batch& batch) const {
    constexpr std::size_t ahead = 32;
    auto& suspects = batch.suspects;
    suspects.clear();
    on_best_level([&]<Cpu level>() KERNEL {
        const std::uint32_t *lows = buckets.low.data(), *numbers = buckets.code.data();
        for (std::size_t i = 0; i < batch.asked + ahead; ++i) {
            if (i < batch.asked) {
                const std::uint32_t header = batch.probes[i].header;
                __builtin_prefetch(lows + std::size_t{header} * lanes);
                __builtin_prefetch(buckets.count.data() + header);
            }
            if (i < ahead) continue;
            const std::size_t k = i - ahead;
            const Probe probe = batch.probes[k];
            const std::uint32_t query = batch.low[probe.query], reach = design_.radius - probe.flips;
            const auto look = [&](const std::uint32_t* low, const std::uint32_t* number,
                                  std::size_t count) KERNEL {
                for (std::size_t p = 0; p < count; p += lanes) {
                    std::uint32_t near = near_lanes<level>(low + p, std::min(count - p, lanes), query, reach);
                    for (; near != 0; near &= near - 1)
                        suspects.push_back({number[p + static_cast<std::size_t>(std::countr_zero(near))],
                                            static_cast<std::uint32_t>(k)});
                }
            };
            const std::size_t line = std::size_t{probe.header} * lanes, count = buckets.count[probe.header];
            look(lows + line, numbers + line, std::min(count, lanes));
            if (count > lanes) [[unlikely]] {
                const Overflow& list = buckets.overflow.at(probe.header);
                look(list.low.data(), list.code.data(), list.low.size());
            }
        }
    });
}

std::span<const std::uint32_t> Tail::rows_of(std::uint32_t code, std::vector<std::uint32_t>& room) const {
    room.clear();
    for (std::uint32_t row = first_[code]; row != none; row = next_[row]) room.push_back(row);
    return room;
}

void Tail::search(Batch& batch, const Request& request, std::int64_t base, const Tombstones* dead) const {
    if (codes_.empty()) return;
    if (dead != nullptr && dead->empty()) dead = nullptr;
    batch.hits.clear();
    std::vector<std::uint32_t> room;
    std::array<std::uint8_t, batch_rows> closed;
    for (std::size_t z = 0; z < tables_.size(); ++z) {
        const Buckets& table = tables_[z];
        batch.enter(table.shape.layout());
        const bool marks = table.marked != 0;
        if (marks) table.close(batch, closed);
        const auto cuts = rounds(table.shape.flip_sets().size(), request.mode);
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
            list_probes(table.shape, table.presence, batch, cuts[i], cuts[i + 1],
                        marks ? closed.data() : nullptr);
            scan(table, batch);
            on_best_cpu([&]() KERNEL {
                confirm(
                    batch, claims_, z, design_.radius, request.mode,
                    [&](const Suspect& suspect, Code& differing) KERNEL {
                        differing = codes_[suspect.position] ^ batch.code(batch.probes[suspect.probe].query);
                        return bits_in(differing);
                    },
                    [&](const Hit& hit) {
                        return dead == nullptr || any_alive(rows_of(hit.position, room), base, dead);
                    });
            });
        }
    }
    for (const Hit& hit : batch.hits) emit(batch, hit, rows_of(hit.position, room), request, base, dead);
}

void Tail::append(std::vector<std::uint64_t>& codes, std::vector<std::uint32_t>& rows, std::int64_t base,
                  std::uint32_t shift, const Tombstones& dead) const {
    std::vector<std::uint32_t> room;
    for (std::uint32_t c = 0; c < codes_.size(); ++c)
        for (const std::uint32_t row : rows_of(c, room)) {
            if (dead.has(static_cast<std::size_t>(base + row))) continue;
            codes.insert(codes.end(), codes_[c].begin(), codes_[c].begin() + design_.words());
            rows.push_back(shift + row);
        }
}

}  // namespace neardup
