#include "search/psm.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

namespace neardup {

namespace {

constexpr std::uint8_t absent = 255;  // flips of a set that a query cannot make

unsigned header_for(unsigned bits, std::size_t codes) {
    return std::min({codes < 2 ? 1u : static_cast<unsigned>(std::bit_width(codes)) - 1, bits, 32u});
}

Code all_ones(unsigned bits) {
    return {bits == 32 ? 0xFFFFFFFFu : ~std::uint64_t{0}, bits == 128 ? ~std::uint64_t{0} : 0};
}

// Ranks are found without a branch, each by counting the smaller of 32 different numbers.
KERNEL inline void rank_keys(const std::uint32_t (&keys)[32], std::uint8_t* ranking) {
    std::uint32_t rank[32] = {};
    for (unsigned g = 0; g < 32; ++g) {
        const std::uint32_t key = keys[g];
        for (unsigned f = 0; f < 32; ++f) rank[f] += keys[f] > key;
    }
    for (unsigned f = 0; f < 32; ++f) ranking[rank[f]] = static_cast<std::uint8_t>(f);
}
// A number per header bit that orders like its cost: the lowest five bits give way to the bit's own number, so that no
// two are equal. Costs that differ by less than one part in 2^18 may change places. What is not a number comes last.
KERNEL inline void make_keys(const float* costs, unsigned header_bits, std::uint32_t (&keys)[32]) {
    for (unsigned f = 0; f < 32; ++f) keys[f] = 0xFFFFFFE0u | f;
    for (unsigned f = 0; f < header_bits; ++f) {
        std::uint32_t size;
        std::memcpy(&size, costs + f, 4);
        keys[f] = (size & 0x7FFFFFE0u) | f;
    }
}

// Probe 0 is the query's own header, probe i its i-th flip set.
class VolatileProber : public Prober {
  public:
    VolatileProber(const Volatility& volatility, std::size_t first, std::size_t sets)
        : volatility_(volatility), first_(first), sets_(sets) {}

    std::size_t probes(const Table&) const override { return sets_ + 1; }
    void list(const Table& table, Batch& batch, std::size_t from, std::size_t to) override {
        if (to > 1 && !found_) {
            if (batch.flips.size() < batch_rows * (sets_ + 1)) batch.flips.resize(batch_rows * (sets_ + 1));
            find_flips(table.layout(), batch);
            found_ = true;
        }
        const std::size_t most = batch.count * (to - from);
        if (batch.probes.size() < most) batch.probes.resize(most);
        Probe* out = batch.probes.data();
        for (std::size_t q = 0; q < batch.count; ++q) {
            if (batch.done[q]) continue;
            const std::uint32_t header = batch.header[q];
            const auto query = static_cast<std::uint16_t>(q);
            if (from == 0) *out++ = {header, query, 0};
            const FlipSet* flips = batch.flips.data() + q * (sets_ + 1);
            for (std::size_t i = std::max<std::size_t>(from, 1); i < to; ++i) {
                *out = {header ^ flips[i].mask, query, flips[i].flips};
                out += flips[i].flips != absent;
            }
        }
        batch.asked = static_cast<std::size_t>(out - batch.probes.data());
    }

  protected:
    // Sets 1 to sets_ of every query that is still open, at batch.flips[query * (sets_ + 1)]; set 0 is empty.
    virtual void find_flips(const Layout& layout, Batch& batch) = 0;

    Volatility volatility_;
    std::size_t first_, sets_;
    bool found_ = false;
};

class TemplateProber final : public VolatileProber {
  public:
    TemplateProber(const Volatility& volatility, std::size_t first, std::span<const Step> steps)
        : VolatileProber(volatility, first, steps.size()), steps_(steps) {}

  private:
    void find_flips(const Layout& layout, Batch& batch) override {
        const unsigned bits = layout.bits(), header = layout.header_bits();
        on_best_cpu([&, bits, header]() KERNEL {
            for (std::size_t q = 0; q < batch.count; ++q) {
                if (batch.done[q]) continue;
                std::uint8_t ranking[256];
                std::size_t known = header;
                if (volatility_.ranks.empty()) {
                    std::uint32_t keys[32];
                    make_keys(volatility_.costs.data() + (first_ + q) * bits + (bits - header), header, keys);
                    rank_keys(keys, ranking);
                } else {
                    const std::uint8_t* named =
                        volatility_.ranks.data() + (first_ + q) * volatility_.ranks_per_query;
                    known = 0;
                    for (std::size_t r = 0; r < volatility_.ranks_per_query; ++r) {
                        ranking[known] = static_cast<std::uint8_t>(named[r] - (bits - header));
                        known += named[r] >= bits - header && named[r] < bits;
                    }
                }
                FlipSet* out = batch.flips.data() + q * (sets_ + 1);
                out[0] = {0, 0};
                for (std::size_t i = 0; i < sets_; ++i) {
                    const Step step = steps_[i];
                    const FlipSet& parent = out[step.parent];
                    out[i + 1] = step.rank < known && parent.flips != absent
                                     ? FlipSet{parent.mask | 1u << (ranking[step.rank] & 31), step.size}
                                     : FlipSet{0, absent};
                }
            }
        });
    }

    std::span<const Step> steps_;
};

class HeapProber final : public VolatileProber {
  public:
    HeapProber(const Volatility& volatility, std::size_t first, const OwnFlips& flips, unsigned radius)
        : VolatileProber(volatility, first, flips.sets), limit_(flips.limit), radius_(radius) {}

  private:
    void find_flips(const Layout& layout, Batch& batch) override {
        const unsigned bits = layout.bits(), header = layout.header_bits();
        std::array<std::uint8_t, 32> ranking;
        std::array<float, 32> costs;
        FlipOrder order;
        for (std::size_t q = 0; q < batch.count; ++q) {
            if (batch.done[q]) continue;
            const float* own = volatility_.costs.data() + (first_ + q) * bits + (bits - header);
            rank_bits({own, header}, ranking, costs);
            order.start({costs.data(), header}, radius_);
            FlipSet* out = batch.flips.data() + q * (sets_ + 1);
            out[0] = {0, 0};
            std::size_t i = 1;
            for (RankSet set; i <= sets_ && order.next(set) && set.cost <= limit_; ++i) {
                out[i] = {0, set.size};
                for (const std::uint8_t rank : set.span()) out[i].mask |= 1u << ranking[rank];
            }
            for (; i <= sets_; ++i) out[i] = {0, absent};
        }
    }

    double limit_;
    unsigned radius_;
};

}  // namespace

Psm::Psm(unsigned bits, unsigned radius, std::span<const std::uint64_t> codes,
         std::span<const std::uint32_t> rows, unsigned header_bits, unsigned threads)
    : header_bits_(header_bits != 0 ? header_bits : header_for(bits, codes.size() / (bits > 64 ? 2 : 1))),
      tables_(Design{bits, radius, {{all_ones(bits), radius, false}}, header_bits_}, codes, rows, threads) {
    if (header_bits_ > 32) throw std::invalid_argument("a header has at most 32 bits");
    if (radius > most_flips) throw std::invalid_argument("the radius is at most 16 here");
}

Hits Psm::search(std::span<const std::uint64_t> queries, const Volatility& volatility,
                 std::span<const Step> steps, const Request& request) const {
    if (tables_.codes() == 0) return {};
    return search_batches(queries, tables_.design().words(), request, [&](Batch& batch, std::size_t first) {
        TemplateProber prober(volatility, first, steps);
        tables_.search(batch, request, prober);
    });
}

Hits Psm::search(std::span<const std::uint64_t> queries, const Volatility& volatility, const OwnFlips& flips,
                 const Request& request) const {
    if (tables_.codes() == 0) return {};
    return search_batches(queries, tables_.design().words(), request, [&](Batch& batch, std::size_t first) {
        HeapProber prober(volatility, first, flips, tables_.design().radius);
        tables_.search(batch, request, prober);
    });
}

}  // namespace neardup
