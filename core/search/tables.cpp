#include "search/tables.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "parallel.hpp"

namespace neardup {

void Design::check() const {
    if (bits != 32 && bits != 64 && bits != 128) throw std::invalid_argument("codes have 32, 64 or 128 bits");
    if (radius > bits) throw std::invalid_argument("the radius is larger than a code");
    if (keys.empty()) throw std::invalid_argument("a design needs at least one table");
}

unsigned header_bits_for(unsigned bits, std::size_t codes, bool with_presence) {
    const auto wanted = codes < 14 ? 1u : static_cast<unsigned>(std::bit_width(codes / 7)) - 1;
    const bool saves = bits > 32 + wanted && (bits - 32 - wanted) % 8 == 1;
    return std::min(wanted + (saves && !with_presence), 32u);
}

std::size_t Tables::bytes() const {
    std::size_t total = 0;
    for (const Table& table : tables_) total += table.bytes();
    return total;
}

std::vector<unsigned> Tables::header_bits() const {
    std::vector<unsigned> out;
    for (const Table& table : tables_) out.push_back(table.layout().header_bits());
    return out;
}

bool any_alive(std::span<const std::uint32_t> rows, std::int64_t base, const Tombstones* dead) {
    if (dead == nullptr) return true;
    return std::any_of(rows.begin(), rows.end(),
                       [&](std::uint32_t row) { return !dead->has(static_cast<std::size_t>(base + row)); });
}

void emit(Batch& batch, const Hit& hit, std::span<const std::uint32_t> rows, const Request& request,
          std::int64_t base, const Tombstones* dead) {
    const bool every = request.mode == Mode::all && request.expand;
    std::int64_t lowest = -1, alive = 0;
    for (const std::uint32_t local : rows) {
        const std::int64_t row = base + local;
        if (dead != nullptr && dead->has(static_cast<std::size_t>(row))) continue;
        if (every) {
            if (static_cast<std::size_t>(alive) == request.most) break;
            batch.found.push_back({hit.query, hit.distance, row, 1});
        }
        if (alive++ == 0) lowest = row;
    }
    if (!every && alive > 0) batch.found.push_back({hit.query, hit.distance, lowest, alive});
}

void Tables::search(Batch& batch, const Request& request, Prober& prober, std::int64_t base,
                    const Tombstones* dead) const {
    if (dead != nullptr && dead->empty()) dead = nullptr;
    batch.hits.clear();
    for (std::size_t z = 0; z < tables_.size(); ++z) {
        const Table& table = tables_[z];
        batch.enter(table.layout());
        const auto cuts = rounds(prober.probes(table), request.mode);
        for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
            prober.list(table, batch, cuts[i], cuts[i + 1]);
            table.scan(batch, design_.radius);
            confirm(batch, z, request, base, dead);
        }
    }
    resolve(batch, request, base, dead);
}

void Tables::confirm(Batch& batch, std::size_t z, const Request& request, std::int64_t base,
                     const Tombstones* dead) const {
    const Table& table = tables_[z];
    const Table& home = tables_[0];
    const std::size_t before = batch.hits.size();
    on_best_cpu([&]() KERNEL {
        const unsigned radius = design_.radius;
        neardup::confirm(
            batch, claims_, z, radius, request.mode,
            [&](const Suspect& suspect, Code& differing) KERNEL {
                const Code permuted = table.difference(batch, suspect);
                const unsigned distance = bits_in(permuted);
                if (distance <= radius) differing = table.layout().restore(permuted);
                return distance;
            },
            [&](const Hit& hit) {
                if (dead == nullptr) return true;
                const auto code = z == 0 ? hit.position : home.find(home.layout().permute(hit.code));
                return any_alive(rows_.of(code), base, dead);
            });
    });
    if (z > 0)
        for (std::size_t i = before; i < batch.hits.size(); ++i) batch.hits[i].position = ~0u;
}

// A hit in a later table knows its code but not its place in the first table, whose order the rows are in. Each step
// of finding it runs over all hits before the next, so that the reads overlap.
void Tables::resolve(Batch& batch, const Request& request, std::int64_t base, const Tombstones* dead) const {
    const Table& home = tables_[0];
    const auto header = [&](const Hit& hit) {
        return static_cast<std::uint32_t>(home.layout().header(hit.code[home.layout().words() - 1]));
    };
    for (Hit& hit : batch.hits)
        if (hit.position == ~0u) {
            hit.code = home.layout().permute(hit.code);
            home.prefetch_bucket(header(hit));
        }
    for (const Hit& hit : batch.hits)
        if (hit.position == ~0u) home.prefetch_entry(home.bucket(header(hit)).first);
    for (Hit& hit : batch.hits) {
        if (hit.position == ~0u) hit.position = home.find(hit.code);
        rows_.prefetch(hit.position);
    }
    for (const Hit& hit : batch.hits) emit(batch, hit, rows_.of(hit.position), request, base, dead);
}

void Tables::append(std::vector<std::uint64_t>& codes, std::vector<std::uint32_t>& rows, std::int64_t base,
                    std::uint32_t shift, const Tombstones& dead) const {
    const Table& home = tables_[0];
    const std::size_t headers = std::size_t{1} << home.layout().header_bits();
    for (std::size_t h = 0; h < headers; ++h) {
        const auto header = static_cast<std::uint32_t>(h);
        const auto [start, end] = home.bucket(header);
        for (std::uint32_t x = start; x < end; ++x) {
            const Code code = home.layout().restore(home.entry(x, header));
            for (const std::uint32_t row : rows_.of(x)) {
                if (dead.has(static_cast<std::size_t>(base + row))) continue;
                codes.insert(codes.end(), code.begin(), code.begin() + design_.words());
                rows.push_back(shift + row);
            }
        }
    }
}

namespace {

// By query, then row. In mode first a query may still have several rows of the bucket that finished it: the lowest
// counts.
std::vector<Found> in_order(const Batch& batch, Mode mode) {
    std::array<std::uint32_t, batch_rows + 1> next{};
    for (const Found& found : batch.found) ++next[found.query + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    const auto ends = next;
    std::vector<Found> out(batch.found.size());
    for (const Found& found : batch.found) out[next[found.query]++] = found;
    const auto by_row = [](const Found& a, const Found& b) { return a.row < b.row; };
    for (std::size_t q = 0; q < batch.count; ++q)
        if (ends[q + 1] - ends[q] > 1) std::sort(out.data() + ends[q], out.data() + ends[q + 1], by_row);
    if (mode == Mode::first)
        out.erase(std::unique(out.begin(), out.end(),
                              [](const Found& a, const Found& b) { return a.query == b.query; }),
                  out.end());
    return out;
}

}  // namespace

Hits search_batches(std::span<const std::uint64_t> queries, unsigned words, const Request& request,
                    const std::function<void(Batch&, std::size_t first)>& body) {
    const std::size_t count = queries.size() / words, batches = (count + batch_rows - 1) / batch_rows;
    struct Answer {
        std::size_t first;
        std::vector<Found> found;
    };
    std::vector<Answer> answers(batches);
    in_parallel(batches, request.threads, 16, [&](std::size_t begin, std::size_t end) {
        const auto batch = std::make_unique<Batch>();
        for (std::size_t b = begin; b < end; ++b) {
            const std::size_t first = b * batch_rows, rows = std::min(batch_rows, count - first);
            batch->take(queries.data() + first * words, rows, words);
            body(*batch, first);
            answers[b] = {first, in_order(*batch, request.mode)};
        }
    });
    std::size_t total = 0;
    for (const Answer& answer : answers) total += answer.found.size();
    Hits hits;
    hits.query.resize(total);
    hits.row.resize(total);
    hits.distance.resize(total);
    if (!request.expand) hits.size.resize(total);
    std::size_t at = 0;
    for (const Answer& answer : answers)
        for (const Found& found : answer.found) {
            hits.query[at] = static_cast<std::int64_t>(answer.first + found.query);
            hits.row[at] = found.row;
            hits.distance[at] = found.distance;
            if (!request.expand) hits.size[at] = found.size;
            ++at;
        }
    return hits;
}

Hits search(const Tables& tables, std::span<const std::uint64_t> queries, const Request& request) {
    if (tables.codes() == 0) return {};
    return search_batches(queries, tables.design().words(), request, [&](Batch& batch, std::size_t) {
        Prober prober;
        tables.search(batch, request, prober);
    });
}

}  // namespace neardup
