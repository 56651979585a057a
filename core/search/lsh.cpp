#include "search/lsh.hpp"

#include "parallel.hpp"
#include "text/hash.hpp"

namespace neardup {

namespace {

constexpr std::uint64_t kStart = 0x9E3779B97F4A7C15u;

// A chain of bijections, two values at a time: sequences of one length that differ in one step never collide there.
std::uint64_t key_of(const std::uint32_t* values, std::size_t count, std::uint64_t key = kStart) {
    std::size_t i = 0;
    for (; i + 1 < count; i += 2) key = mix(key ^ (values[i] | std::uint64_t{values[i + 1]} << 32));
    if (i < count) key = mix(key ^ values[i]);
    return key;
}

}  // namespace

std::vector<std::uint64_t> band_keys(const BandedSketches& banded, std::size_t first, std::size_t count,
                                     unsigned threads) {
    const std::size_t size = banded.size();
    std::vector<std::uint64_t> keys(size * count);
    in_parallel(size, threads, 4096, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row)
            for (std::size_t band = 0; band < count; ++band)
                keys[band * size + row] = key_of(banded.of(row, first + band), banded.rows);
    });
    return keys;
}

std::vector<std::uint64_t> sketch_digests(const BandedSketches& banded, unsigned threads) {
    std::vector<std::uint64_t> digests(banded.size() * 2);
    in_parallel(banded.size(), threads, 4096, [&](std::size_t begin, std::size_t end) {
        for (std::size_t row = begin; row < end; ++row) {
            // Two chains that start apart: together they are 128 bits.
            digests[2 * row] = key_of(banded.of(row), banded.values);
            digests[2 * row + 1] = key_of(banded.of(row), banded.values, ~kStart);
        }
    });
    return digests;
}

}  // namespace neardup
