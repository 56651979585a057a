#pragma once
// Hashes of bytes and of numbers. Two for bytes:
//
// xxh3        XXH3, 64 bits, seeded (the XXH3 specification); the default.
// murmur64a   MurmurHash64A, the hash of Sood and Loguinov's experiments.
//
// Both are pinned by published vectors in the tests. Short inputs are inline: words are what we hash most.
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "cpu.hpp"

namespace neardup {

enum class Hash : int { xxh3 = 0, murmur64a = 1 };

KERNEL inline std::uint64_t read64(const char* p) {
    std::uint64_t value;
    std::memcpy(&value, p, 8);
    return value;
}
KERNEL inline std::uint32_t read32(const char* p) {
    std::uint32_t value;
    std::memcpy(&value, p, 4);
    return value;
}

// The 128-bit product, its halves folded into one.
KERNEL inline std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// A bijection of 64-bit numbers that spreads every bit over all others (the finaliser of splitmix64).
KERNEL inline std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

// The i-th of a stream of unrelated numbers drawn from a seed.
KERNEL inline std::uint64_t draw(std::uint64_t seed, std::uint64_t i) {
    return mix(seed + (i + 1) * 0x9E3779B97F4A7C15u);
}

std::uint64_t xxh3_long(std::string_view bytes, std::uint64_t seed);
std::uint64_t murmur64a(std::string_view bytes, std::uint64_t seed);

// XXH3 of few bytes, by length; the constants are words of the specification's secret, already combined.
KERNEL inline std::uint64_t xxh3_0(std::uint64_t seed) {
    std::uint64_t h = seed ^ 0x8726F9105DC21DDCu;
    h = (h ^ (h >> 33)) * 0xC2B2AE3D27D4EB4Fu;
    h = (h ^ (h >> 29)) * 0x165667B19E3779F9u;
    return h ^ (h >> 32);
}
// `word` is the first eight bytes, of which only `n` count.
KERNEL inline std::uint64_t xxh3_1to3(std::uint64_t word, std::uint64_t n, std::uint64_t seed) {
    const auto byte = [word](std::uint64_t i) { return word >> (8 * i & 63) & 0xFF; };
    std::uint64_t h = (byte(0) << 16 | byte(n >> 1) << 24 | byte(n - 1) | n << 8) ^ (0x87275A9Bu + seed);
    h = (h ^ (h >> 33)) * 0xC2B2AE3D27D4EB4Fu;
    h = (h ^ (h >> 29)) * 0x165667B19E3779F9u;
    return h ^ (h >> 32);
}
KERNEL inline std::uint64_t xxh3_4to8(std::uint64_t word, std::uint64_t n, std::uint64_t seed) {
    seed ^= std::uint64_t{__builtin_bswap32(static_cast<std::uint32_t>(seed))} << 32;
    const std::uint64_t last = word >> (8 * (n - 4) & 63) & 0xFFFFFFFFu;
    std::uint64_t h = (last + (word << 32)) ^ (0xC73AB174C5ECD5A2u - seed);
    h ^= std::rotl(h, 49) ^ std::rotl(h, 24);
    h *= 0x9FB21C651E98DF25u;
    h ^= (h >> 35) + n;
    h *= 0x9FB21C651E98DF25u;
    return h ^ (h >> 28);
}
KERNEL inline std::uint64_t xxh3_9to16(const char* p, std::size_t n, std::uint64_t seed) {
    const std::uint64_t low = read64(p) ^ (0x6782737BEA4239B9u + seed);
    const std::uint64_t high = read64(p + n - 8) ^ (0xAF56BC3B0996523Au - seed);
    std::uint64_t h = n + __builtin_bswap64(low) + high + fold(low, high);
    h = (h ^ (h >> 37)) * 0x165667919E3779F9u;
    return h ^ (h >> 32);
}

KERNEL inline std::uint64_t xxh3(std::string_view bytes, std::uint64_t seed) {
    const char* p = bytes.data();
    const std::size_t n = bytes.size();
    if (n > 16) return xxh3_long(bytes, seed);
    if (n > 8) return xxh3_9to16(p, n, seed);
    std::uint64_t word = 0;
    if (n > 3) {
        word = read32(p) | std::uint64_t{read32(p + n - 4)} << 8 * (n - 4);
        return xxh3_4to8(word, n, seed);
    }
    for (std::size_t i = 0; i < n; ++i) word |= std::uint64_t{static_cast<unsigned char>(p[i])} << 8 * i;
    return n > 0 ? xxh3_1to3(word, n, seed) : xxh3_0(seed);
}

KERNEL inline std::uint64_t hash_bytes(Hash kind, std::string_view bytes, std::uint64_t seed) {
    return kind == Hash::xxh3 ? xxh3(bytes, seed) : murmur64a(bytes, seed);
}

// 128 bits of a stream of bytes, however it is cut; not cryptographic. Pieces of 16,384 bytes, the last one perhaps
// shorter, are hashed by XXH3 with seeds 0 and 1; each two hashes, with the two before them in front, are hashed likewise
// to the next two, which begin as 0; last, these and the length in bytes are. Numbers are 64-bit and little-endian.
class StreamDigest {
  public:
    void add(std::string_view bytes);
    std::array<std::uint64_t, 2> value() const;

  private:
    void piece(const char* bytes, std::size_t size);

    std::string rest_;
    std::uint64_t low_ = 0, high_ = 0, length_ = 0;
};

}  // namespace neardup
