#include "text/hash.hpp"

#include <algorithm>
#include <array>

namespace neardup {

namespace {

constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87u, kPrime2 = 0xC2B2AE3D27D4EB4Fu,
                        kPrime3 = 0x165667B19E3779F9u, kPrime4 = 0x85EBCA77C2B2AE63u,
                        kPrime5 = 0x27D4EB2F165667C5u;
constexpr std::uint64_t kPrime32_1 = 0x9E3779B1u, kPrime32_2 = 0x85EBCA77u, kPrime32_3 = 0xC2B2AE3Du;
constexpr std::size_t kStripe = 64, kBlock = 1024;

// The 192-byte secret of the XXH3 specification, as little-endian words.
constexpr std::array<std::uint64_t, 24> kSecret = {
    0xBE4BA423396CFEB8u, 0x1CAD21F72C81017Cu, 0xDB979083E96DD4DEu, 0x1F67B3B7A4A44072u, 0x78E5C0CC4EE679CBu,
    0x2172FFCC7DD05A82u, 0x8E2443F7744608B8u, 0x4C263A81E69035E0u, 0xCB00C391BB52283Cu, 0xA32E531B8B65D088u,
    0x4EF90DA297486471u, 0xD8ACDEA946EF1938u, 0x3F349CE33F76FAA8u, 0x1D4F0BC7C7BBDCF9u, 0x3159B4CD4BE0518Au,
    0x647378D9C97E9FC8u, 0xC3EBD33483ACC5EAu, 0xEB6313FAFFA081C5u, 0x49DAF0B751DD0D17u, 0x9E68D429265516D3u,
    0xFCA1477D58BE162Bu, 0xCE31D07AD1B8F88Fu, 0x280416958F3ACB45u, 0x7E404BBBCAFBD7AFu,
};

using Secret = std::array<char, 192>;

KERNEL inline Secret seeded_secret(std::uint64_t seed) {
    Secret bytes;
    for (std::size_t i = 0; i < kSecret.size(); ++i) {
        const std::uint64_t word = i % 2 == 0 ? kSecret[i] + seed : kSecret[i] - seed;
        std::memcpy(bytes.data() + 8 * i, &word, 8);
    }
    return bytes;
}

KERNEL inline std::uint64_t avalanche(std::uint64_t h) {
    h = (h ^ (h >> 37)) * 0x165667919E3779F9u;
    return h ^ (h >> 32);
}

std::uint64_t mix16(const char* p, const char* secret, std::uint64_t seed) {
    return fold(read64(p) ^ (read64(secret) + seed), read64(p + 8) ^ (read64(secret + 8) - seed));
}

struct Lanes {
    std::array<std::uint64_t, 8> acc = {kPrime32_3, kPrime1,    kPrime2, kPrime3,
                                        kPrime4,    kPrime32_2, kPrime5, kPrime32_1};

    KERNEL inline void stripe(const char* p, const char* secret) {
        for (std::size_t i = 0; i < 8; ++i) {
            const std::uint64_t data = read64(p + 8 * i), keyed = data ^ read64(secret + 8 * i);
            acc[i ^ 1] += data;
            acc[i] += (keyed & 0xFFFFFFFFu) * (keyed >> 32);
        }
    }
    KERNEL inline void scramble(const char* secret) {
        for (std::size_t i = 0; i < 8; ++i)
            acc[i] = ((acc[i] ^ (acc[i] >> 47)) ^ read64(secret + 8 * i)) * kPrime32_1;
    }
    KERNEL inline std::uint64_t merge(const char* secret, std::uint64_t start) const {
        for (std::size_t i = 0; i < 4; ++i)
            start += fold(acc[2 * i] ^ read64(secret + 16 * i), acc[2 * i + 1] ^ read64(secret + 16 * i + 8));
        return avalanche(start);
    }
};

KERNEL inline std::uint64_t beyond_240(const char* p, std::size_t n, std::uint64_t seed) {
    const Secret secret = seeded_secret(seed);
    Lanes lanes;
    const std::size_t blocks = (n - 1) / kBlock;
    for (std::size_t b = 0; b < blocks; ++b) {
        for (std::size_t s = 0; s < kBlock / kStripe; ++s)
            lanes.stripe(p + b * kBlock + s * kStripe, secret.data() + 8 * s);
        lanes.scramble(secret.data() + secret.size() - kStripe);
    }
    const std::size_t stripes = (n - 1 - blocks * kBlock) / kStripe;
    for (std::size_t s = 0; s < stripes; ++s)
        lanes.stripe(p + blocks * kBlock + s * kStripe, secret.data() + 8 * s);
    lanes.stripe(p + n - kStripe, secret.data() + secret.size() - kStripe - 7);
    return lanes.merge(secret.data() + 11, n * kPrime1);
}

}  // namespace

std::uint64_t xxh3_long(std::string_view bytes, std::uint64_t seed) {
    const char* p = bytes.data();
    const std::size_t n = bytes.size();
    if (n > 240) return on_best_cpu([=]() KERNEL { return beyond_240(p, n, seed); });
    const auto* secret = reinterpret_cast<const char*>(kSecret.data());
    std::uint64_t h = n * kPrime1;
    if (n <= 128) {
        for (std::size_t i = (n - 1) / 32 + 1; i-- > 0;)
            h += mix16(p + 16 * i, secret + 32 * i, seed) +
                 mix16(p + n - 16 * (i + 1), secret + 32 * i + 16, seed);
        return avalanche(h);
    }
    for (std::size_t i = 0; i < 8; ++i) h += mix16(p + 16 * i, secret + 16 * i, seed);
    h = avalanche(h);
    for (std::size_t i = 8; i < n / 16; ++i) h += mix16(p + 16 * i, secret + 16 * (i - 8) + 3, seed);
    return avalanche(h + mix16(p + n - 16, secret + 136 - 17, seed));
}

std::uint64_t murmur64a(std::string_view bytes, std::uint64_t seed) {
    constexpr std::uint64_t m = 0xC6A4A7935BD1E995u;
    std::uint64_t h = seed ^ (bytes.size() * m);
    const char* p = bytes.data();
    std::size_t n = bytes.size();
    for (; n >= 8; p += 8, n -= 8) {
        std::uint64_t k = read64(p) * m;
        h = (h ^ ((k ^ (k >> 47)) * m)) * m;
    }
    if (n > 0) {
        std::uint64_t tail = 0;
        std::memcpy(&tail, p, n);
        h = (h ^ tail) * m;
    }
    h = (h ^ (h >> 47)) * m;
    return h ^ (h >> 47);
}

namespace {

constexpr std::size_t kPiece = 16384;

}  // namespace

void StreamDigest::piece(const char* bytes, std::size_t size) {
    const std::string_view data(bytes, size);
    const std::uint64_t link[4] = {low_, high_, xxh3(data, 0), xxh3(data, 1)};
    const std::string_view chained(reinterpret_cast<const char*>(link), sizeof link);
    low_ = xxh3(chained, 0);
    high_ = xxh3(chained, 1);
}

void StreamDigest::add(std::string_view bytes) {
    length_ += bytes.size();
    if (!rest_.empty()) {
        const std::size_t taken = std::min(kPiece - rest_.size(), bytes.size());
        rest_.append(bytes.substr(0, taken));
        bytes.remove_prefix(taken);
        if (rest_.size() < kPiece) return;
        piece(rest_.data(), rest_.size());
        rest_.clear();
    }
    for (; bytes.size() >= kPiece; bytes.remove_prefix(kPiece)) piece(bytes.data(), kPiece);
    rest_.append(bytes);
}

std::array<std::uint64_t, 2> StreamDigest::value() const {
    StreamDigest whole = *this;
    if (!rest_.empty()) whole.piece(rest_.data(), rest_.size());
    const std::uint64_t end[3] = {whole.low_, whole.high_, length_};
    const std::string_view last(reinterpret_cast<const char*>(end), sizeof end);
    return {xxh3(last, 0), xxh3(last, 1)};
}

}  // namespace neardup
