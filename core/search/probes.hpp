#pragma once
// How a batch of queries searches one table: the probes it makes, the suspects that a probe finds, and the final hits.
//
// A batch searches a table in steps. Each step handles all queries, so that many memory accesses run in parallel:
// permute the queries, list the probes, read the buckets (prefetched well ahead) keeping entries whose low 32
// bits are near enough, and only then read the few suspects in full.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pages.hpp"
#include "search/layout.hpp"

namespace neardup {

struct Probe {
    std::uint32_t header;
    std::uint16_t query;  // within the batch
    std::uint8_t flips;   // header bits that differ from the query's own
};
struct FlipSet {
    std::uint32_t mask;
    std::uint8_t flips;
};
struct Suspect {
    std::uint32_t position;  // of the entry, in its table
    std::uint32_t probe;     // which one in the list
};
struct Hit {
    std::uint16_t query;
    std::uint8_t distance;
    std::uint32_t position;  // of the entry in its table; later, of its code
    Code code;
};
struct Found {
    std::uint16_t query;
    std::uint8_t distance;
    std::int64_t row;
    std::int64_t size;  // rows with this code, when they are not listed one by one
};

enum class Mode : int { all = 0, first = 1 };

// Which differences a table reports. A pair belongs to the first table that claims it, so it is reported once; and since
// only the claim decides, and not what else is stored, the answer is always the same.
struct Claim {
    Code checked;
    unsigned flips;

    KERNEL bool operator()(const Code& difference) const { return bits_in(difference, checked) <= flips; }
};

// A table's key, and the flips its probes make.
class Shape {
  public:
    Shape() = default;
    // `header_bits` is an upper limit: a key may have fewer bits. Without `lists_flips` the caller gives the flips, and
    // they may be any.
    Shape(unsigned bits, const Code& key, unsigned flips, unsigned header_bits, bool lists_flips = true);

    static constexpr unsigned extra = 6;  // key bits after the header that a presence word distinguishes

    const Layout& layout() const { return layout_; }
    unsigned flips() const { return flips_; }
    bool has_presence() const { return has_presence_; }
    // Sets of header bits to flip, in probe order: none, each bit, each pair, ...
    std::span<const FlipSet> flip_sets() const { return flip_sets_; }
    const Claim& claim() const { return claim_; }

  private:
    Layout layout_;
    unsigned flips_ = 0;
    bool has_presence_ = false;
    Claim claim_{};
    std::vector<FlipSet> flip_sets_;
};

// The state of one thread while it handles a batch.
struct Batch {
    std::size_t count = 0;
    Columns codes;     // of the queries
    Columns permuted;  // permuted for the current table
    std::array<std::uint32_t, batch_rows> header, low;
    std::array<std::uint8_t, batch_rows> done;  // mode first: this query has its answer
    std::vector<Probe> probes;                  // the first `asked` of them count
    std::size_t asked = 0;
    std::vector<FlipSet> flips;  // of each query, if each has its own
    std::vector<Suspect> suspects;
    std::vector<Hit> hits;
    std::vector<Found> found;

    // Takes `rows` codes of `words` words each.
    void take(const std::uint64_t* queries, std::size_t rows, unsigned words);
    void enter(const Layout& layout);
    Code code(std::size_t i) const { return {codes[0][i], codes[1][i]}; }
    Code permuted_code(std::size_t i) const { return {permuted[0][i], permuted[1][i]}; }
};

// Turns suspects into hits. `difference(suspect, out)` gives the distance and, if that is within the radius, the bits that
// differ; `alive(hit)` may refuse one in mode first. Suspects are in probe order, so in mode first the first
// confirmed one finishes its query; others from the same bucket are kept, because the lowest row is wanted.
template <class Difference, class Alive>
KERNEL inline void confirm(Batch& batch, std::span<const Claim> claims, std::size_t table, unsigned radius,
                           Mode mode, Difference difference, Alive alive) {
    std::uint32_t settling = ~0u;  // the probe whose bucket has just finished its query
    for (const Suspect& suspect : batch.suspects) {
        const Probe& probe = batch.probes[suspect.probe];
        if (mode == Mode::first && batch.done[probe.query] && settling != suspect.probe) continue;
        Code differing;
        const unsigned distance = difference(suspect, differing);
        if (distance > radius) continue;
        bool elsewhere = !claims[table](differing);
        for (std::size_t earlier = 0; earlier < table; ++earlier) elsewhere |= claims[earlier](differing);
        if (elsewhere) continue;
        Hit hit{probe.query, static_cast<std::uint8_t>(distance), suspect.position,
                batch.code(probe.query) ^ differing};
        if (mode == Mode::first) {
            if (!alive(hit)) continue;
            batch.done[probe.query] = 1;
            settling = suspect.probe;
        }
        batch.hits.push_back(hit);
    }
}

// Lists probes flip_sets[from, to) of every unfinished query, except those that are `closed` for this table. With a
// presence map, one word per header whose bits say which values of the next `extra` key bits occur, a probe that can
// find nothing is left out.
void list_probes(const Shape& shape, const Pages<std::uint64_t>& presence, Batch& batch, std::size_t from,
                 std::size_t to, const std::uint8_t* closed = nullptr);

// Probes are made in rounds: in mode first so that an early answer saves later probes, and in all modes to keep the
// list of a batch small. Returns the cuts between rounds.
std::vector<std::size_t> rounds(std::size_t probes, Mode mode);

}  // namespace neardup
