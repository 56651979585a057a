#include "join/containment.hpp"

#include <algorithm>
#include <bit>

#include "parallel.hpp"

namespace neardup {

Held held_keys(std::span<const std::uint64_t> hashes, std::span<const std::int64_t> offsets,
               std::span<const std::uint64_t> keys, unsigned threads) {
    Held out;
    if (keys.empty() || offsets.size() < 2) return out;
    // Hashes spread evenly, so a key's leading bits give its place with an error of one or two. Keys that are crowded
    // together, which happens only with crafted input, are found by binary search.
    const int bits = std::clamp(static_cast<int>(std::bit_width(keys.size())), 1, 30);
    const int shift = 64 - bits;
    std::vector<std::uint32_t> starts((std::size_t{1} << bits) + 1);
    for (const std::uint64_t key : keys) ++starts[(key >> shift) + 1];
    for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];

    constexpr std::size_t kChunk = 256;
    const std::size_t rows = offsets.size() - 1;
    std::vector<Held> parts((rows + kChunk - 1) / kChunk);
    in_parallel(rows, threads, kChunk, [&](std::size_t begin, std::size_t end) {
        Held& part = parts[begin / kChunk];
        for (std::size_t row = begin; row < end; ++row) {
            for (auto at = offsets[row]; at < offsets[row + 1]; ++at) {
                const std::uint64_t hash = hashes[static_cast<std::size_t>(at)];
                const auto first = keys.begin() + starts[hash >> shift];
                const auto last = keys.begin() + starts[(hash >> shift) + 1];
                const auto found = std::lower_bound(first, last, hash);
                if (found == last || *found != hash) continue;
                part.rows.push_back(static_cast<std::uint32_t>(row));
                part.keys.push_back(static_cast<std::uint32_t>(found - keys.begin()));
            }
        }
    });
    std::size_t total = 0;
    for (const Held& part : parts) total += part.rows.size();
    out.rows.reserve(total);
    out.keys.reserve(total);
    for (const Held& part : parts) {
        out.rows.insert(out.rows.end(), part.rows.begin(), part.rows.end());
        out.keys.insert(out.keys.end(), part.keys.begin(), part.keys.end());
    }
    return out;
}

}  // namespace neardup
