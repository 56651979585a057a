#include "tail.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "simd.hpp"

namespace neardup {

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
                           {}});
        if (tables_.back().shape.has_presence()) tables_.back().presence = Pages<std::uint64_t>(buckets);
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
        total += b.low.bytes() + b.code.bytes() + b.count.bytes() + b.presence.bytes();
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
                    // The first table knows every code: it tells new ones from those that came before.
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
    for (std::size_t z = 0; z < tables_.size(); ++z) {
        const Buckets& table = tables_[z];
        batch.enter(table.shape.layout());
        const auto cuts = rounds(table.shape.flip_sets().size(), request.mode);
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
            list_probes(table.shape, table.presence, batch, cuts[i], cuts[i + 1]);
            scan(table, batch);
            on_best_cpu([&] KERNEL {
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
