#include "fingerprints/simhash.hpp"

#include <cmath>
#include <memory>

#include "parallel.hpp"

namespace neardup {

namespace {

using Quantiles = std::array<std::int16_t, 65536>;

// Newton's method on the upper tail, each quantile starting from the last. The nearest value is more than 1e-6 from
// a rounding boundary (a test looks), a hundred million times the error of any libm's erfc, so that every platform
// has the same table; a checksum in the tests pins it.
std::unique_ptr<Quantiles> make_quantiles() {
    auto table = std::make_unique<Quantiles>();
    double x = 0;
    for (std::size_t i = 0; i < 32768; ++i) {
        const double tail = (32768 - static_cast<double>(i) - 0.5) / 65536;
        for (int step = 0; step < 6; ++step)
            x += (0.5 * std::erfc(x / std::sqrt(2.0)) - tail) * std::sqrt(2 * M_PI) * std::exp(x * x / 2);
        const auto rounded = static_cast<std::int16_t>(std::floor(x * (1 << kQuantileBits) + 0.5));
        (*table)[32768 + i] = rounded;
        (*table)[32767 - i] = static_cast<std::int16_t>(-rounded);
    }
    return table;
}

}  // namespace

std::span<const std::int16_t, 65536> gaussian_quantiles() {
    static const std::unique_ptr<const Quantiles> table = make_quantiles();
    return *table;
}

SimhashColumns simhash(std::span<const std::uint64_t> hashes, std::span<const float> weights,
                       std::span<const std::int64_t> offsets, const SimhashOptions& options, Margins keep,
                       std::size_t rank_count, unsigned threads) {
    const std::size_t rows = offsets.size() - 1;
    SimhashColumns out(rows, options, keep, rank_count);
    in_parallel(rows, threads, 64, [&](std::size_t begin, std::size_t end) {
        on_best_cpu([=, &out]() KERNEL {
            for (std::size_t row = begin; row < end; ++row) {
                const auto from = static_cast<std::size_t>(offsets[row]);
                const std::size_t count = static_cast<std::size_t>(offsets[row + 1]) - from;
                out.set(row, hashes.subspan(from, count), weights.subspan(from, count));
            }
        });
    });
    return out;
}

}  // namespace neardup
