#include "join/similarity.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "cpu.hpp"
#include "fingerprints/minhash.hpp"
#include "parallel.hpp"

namespace neardup {

namespace {

constexpr std::size_t kPairs = 256;  // handed to a thread at a time

// Where the first element not below `hash` is: steps double, then a binary search; short when it is near.
std::size_t gallop(std::span<const std::uint64_t> hashes, std::size_t from, std::uint64_t hash) {
    std::size_t step = 1, low = from;
    while (low + step < hashes.size() && hashes[low + step] < hash) {
        low += step;
        step *= 2;
    }
    const auto end = hashes.begin() + static_cast<std::ptrdiff_t>(std::min(hashes.size(), low + step + 1));
    return static_cast<std::size_t>(
        std::lower_bound(hashes.begin() + static_cast<std::ptrdiff_t>(low), end, hash) - hashes.begin());
}

std::int64_t shared(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    if (a.size() > b.size()) std::swap(a, b);
    std::int64_t count = 0;
    if (b.size() / 32 > a.size()) {
        std::size_t at = 0;
        for (const std::uint64_t hash : a) {
            at = gallop(b, at, hash);
            if (at == b.size()) break;
            count += b[at] == hash;
        }
        return count;
    }
    // Without branches on the data: hashes are random, so every one would be mispredicted half the time.
    for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const std::uint64_t x = a[i], y = b[j];
        count += x == y;
        i += x <= y;
        j += y <= x;
    }
    return count;
}

double square_of(std::span<const float> weights) {
    double sum = 0;
    for (const double weight : weights) sum += weight * weight;
    return sum;
}

}  // namespace

std::vector<std::int64_t> shared_features(const RaggedRows& left, const RaggedRows& right, PairRows pairs,
                                          unsigned threads) {
    std::vector<std::int64_t> out(pairs.left.size());
    in_parallel(out.size(), threads, kPairs, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            out[i] = shared(left.hashes_of(pairs.left[i]), right.hashes_of(pairs.right[i]));
    });
    return out;
}

Products weighted_products(const RaggedRows& left, const RaggedRows& right, PairRows pairs,
                           unsigned threads) {
    const std::size_t count = pairs.left.size();
    Products out{std::vector<double>(count), std::vector<double>(count), std::vector<double>(count),
                 std::vector<double>(count)};
    in_parallel(count, threads, kPairs, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto a = left.hashes_of(pairs.left[i]), b = right.hashes_of(pairs.right[i]);
            const auto v = left.weights_of(pairs.left[i]), w = right.weights_of(pairs.right[i]);
            double dot = 0, apart = 0;
            std::size_t j = 0, k = 0;
            while (j < a.size() || k < b.size()) {
                const bool from_a = k == b.size() || (j < a.size() && a[j] <= b[k]);
                const bool from_b = j == a.size() || (k < b.size() && b[k] <= a[j]);
                const double x = from_a ? v[j] : 0.0, y = from_b ? w[k] : 0.0;
                dot += x * y;
                apart += (x - y) * (x - y);
                j += from_a;
                k += from_b;
            }
            out.dot[i] = dot;
            out.left_square[i] = square_of(v);
            out.right_square[i] = square_of(w);
            out.distance_square[i] = apart;
        }
    });
    return out;
}

std::vector<std::int32_t> hamming_distances(std::span<const std::uint64_t> left,
                                            std::span<const std::uint64_t> right, std::size_t words,
                                            PairRows pairs, unsigned threads) {
    std::vector<std::int32_t> out(pairs.left.size());
    in_parallel(out.size(), threads, 65536, [&](std::size_t begin, std::size_t end) {
        std::int32_t* distances = out.data();
        on_best_cpu([=]() KERNEL {
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint64_t* a = left.data() + static_cast<std::size_t>(pairs.left[i]) * words;
                const std::uint64_t* b = right.data() + static_cast<std::size_t>(pairs.right[i]) * words;
                int distance = 0;
                for (std::size_t word = 0; word < words; ++word) distance += std::popcount(a[word] ^ b[word]);
                distances[i] = distance;
            }
        });
    });
    return out;
}

std::vector<std::int32_t> equal_values(std::span<const std::uint32_t> left,
                                       std::span<const std::uint32_t> right, std::size_t values,
                                       PairRows pairs, unsigned threads) {
    std::vector<std::int32_t> out(pairs.left.size());
    in_parallel(out.size(), threads, 1024, [&](std::size_t begin, std::size_t end) {
        std::int32_t* equal = out.data();
        on_best_cpu([=]() KERNEL {
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint32_t* a = left.data() + static_cast<std::size_t>(pairs.left[i]) * values;
                const std::uint32_t* b = right.data() + static_cast<std::size_t>(pairs.right[i]) * values;
                std::int32_t count = 0;
                for (std::size_t j = 0; j < values; ++j) count += a[j] == b[j];
                equal[i] = count;
            }
        });
    });
    return out;
}

std::vector<std::int32_t> equal_packed(std::span<const std::uint8_t> left,
                                       std::span<const std::uint8_t> right, std::size_t values, unsigned b,
                                       PairRows pairs, unsigned threads) {
    const std::size_t width = packed_bytes(values, b);
    std::uint64_t lowest = 0;  // the lowest bit of every place
    for (unsigned place = 0; place < 64; place += b) lowest |= std::uint64_t{1} << place;
    std::vector<std::int32_t> out(pairs.left.size());
    in_parallel(out.size(), threads, 4096, [&](std::size_t begin, std::size_t end) {
        std::int32_t* equal = out.data();
        on_best_cpu([=]() KERNEL {
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint8_t* x = left.data() + static_cast<std::size_t>(pairs.left[i]) * width;
                const std::uint8_t* y = right.data() + static_cast<std::size_t>(pairs.right[i]) * width;
                int unequal = 0;  // padding bits are zeros on both sides and count for nothing
                for (std::size_t at = 0; at < width; at += 8) {
                    std::uint64_t p = 0, q = 0;
                    std::memcpy(&p, x + at, std::min<std::size_t>(8, width - at));
                    std::memcpy(&q, y + at, std::min<std::size_t>(8, width - at));
                    std::uint64_t differ = p ^ q;
                    for (unsigned shift = b / 2; shift > 0; shift /= 2) differ |= differ >> shift;
                    unequal += std::popcount(differ & lowest);
                }
                equal[i] = static_cast<std::int32_t>(values) - unequal;
            }
        });
    });
    return out;
}

}  // namespace neardup
