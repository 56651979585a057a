#pragma once
// Small named operations that no plain loop expresses, each with a portable form that gives the same answer. Some take
// their CPU level as a parameter:
//
//     on_best_level([=]<Cpu level>() KERNEL { ... near_lanes<level>(...) ... });
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "cpu.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace neardup {

#if defined(NEARDUP_AVX2)
template <class Body>
[[gnu::target(NEARDUP_AVX512)]] auto at_avx512(Body body) {
    return body.template operator()<Cpu::avx512>();
}
template <class Body>
[[gnu::target(NEARDUP_AVX2)]] auto at_avx2(Body body) {
    return body.template operator()<Cpu::avx2>();
}
template <class Body>
auto on_best_level(Body body) {
    switch (current_cpu().load(std::memory_order_relaxed)) {
        case Cpu::avx512: return at_avx512(body);
        case Cpu::avx2: return at_avx2(body);
        default: return body.template operator()<Cpu::baseline>();
    }
}
#else
template <class Body>
auto on_best_level(Body body) {
    return body.template operator()<Cpu::baseline>();
}
#endif

// Bits set, without a library call where the machine has no instruction for it.
template <Cpu level>
KERNEL inline unsigned count_bits(std::uint32_t x) {
    if constexpr (level == Cpu::baseline) {
        x = x - ((x >> 1) & 0x55555555u);
        x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
        return (((x + (x >> 4)) & 0x0F0F0F0Fu) * 0x01010101u) >> 24;
    } else {
        return static_cast<unsigned>(std::popcount(x));
    }
}

// Up to sixteen numbers at once: bit i is set when i < count and values[i] differs from `query` in at most `reach` bits.
// Reads no more than `count` of them: the rest may be in a cache line that was not prefetched.
constexpr std::size_t lanes = 16;

template <Cpu level>
KERNEL inline std::uint32_t near_lanes_portable(const std::uint32_t* values, std::size_t count,
                                                std::uint32_t query, std::uint32_t reach) {
    std::uint32_t near = 0;
    for (std::size_t i = 0; i < count; ++i)
        near |= static_cast<std::uint32_t>(count_bits<level>(values[i] ^ query) <= reach) << i;
    return near;
}

// A function with instructions of its level by name is not KERNEL: Clang does not let it be inlined into the lambda it is
// called from, which has none. It is inlined once that lambda is part of a function of the level.
#if defined(NEARDUP_AVX2)
[[gnu::target(NEARDUP_AVX512)]] inline std::uint32_t near_lanes_avx512(const std::uint32_t* values,
                                                                       std::size_t count, std::uint32_t query,
                                                                       std::uint32_t reach) {
    const auto wanted = static_cast<__mmask16>((1u << count) - 1);
    const __m512i loaded = _mm512_maskz_loadu_epi32(wanted, values);
    const __m512i counts =
        _mm512_popcnt_epi32(_mm512_xor_si512(loaded, _mm512_set1_epi32(static_cast<int>(query))));
    return _mm512_mask_cmple_epu32_mask(wanted, counts, _mm512_set1_epi32(static_cast<int>(reach)));
}

[[gnu::target(NEARDUP_AVX512)]] inline std::uint64_t pack_flags_avx512(const unsigned char* flags) {
    const __m512i bytes = _mm512_loadu_si512(flags);
    return _mm512_test_epi8_mask(bytes, bytes);
}

[[gnu::target(NEARDUP_AVX512)]] inline std::uint64_t string_stops_avx512(const unsigned char* at) {
    const __m512i bytes = _mm512_loadu_si512(at);
    return _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20)) |
           _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')) |
           _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\'));
}

[[gnu::target(NEARDUP_AVX512)]] inline unsigned shared_in_blocks_avx512(const std::uint64_t* a,
                                                                        const std::uint64_t* b) {
    const __m512i left = _mm512_loadu_si512(a);
    __m512i right = _mm512_loadu_si512(b);
    // Two chains of rotations, so that one need not wait for the other. With a mask, for GCC 12 warns of the others.
    __m512i other = _mm512_maskz_shuffle_i64x2(0xFF, right, right, 0x4E);
    unsigned same = _mm512_cmpeq_epi64_mask(left, right) | _mm512_cmpeq_epi64_mask(left, other);
    for (int i = 0; i < 3; ++i) {
        right = _mm512_maskz_alignr_epi64(0xFF, right, right, 1);
        other = _mm512_maskz_alignr_epi64(0xFF, other, other, 1);
        same |= _mm512_cmpeq_epi64_mask(left, right) | _mm512_cmpeq_epi64_mask(left, other);
    }
    return static_cast<unsigned>(std::popcount(same));
}

[[gnu::target(NEARDUP_AVX2)]] inline unsigned shared_in_blocks_avx2(const std::uint64_t* a,
                                                                    const std::uint64_t* b) {
    const __m256i left = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a));
    const __m256i right = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
    const __m256i once = _mm256_or_si256(_mm256_cmpeq_epi64(left, right),
                                         _mm256_cmpeq_epi64(left, _mm256_permute4x64_epi64(right, 0x39)));
    const __m256i twice = _mm256_or_si256(_mm256_cmpeq_epi64(left, _mm256_permute4x64_epi64(right, 0x4E)),
                                          _mm256_cmpeq_epi64(left, _mm256_permute4x64_epi64(right, 0x93)));
    return static_cast<unsigned>(std::popcount(
        static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_or_si256(once, twice))))));
}

[[gnu::target(NEARDUP_AVX2)]] inline std::uint32_t string_stops_avx2(const unsigned char* at) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    const __m256i low = _mm256_set1_epi8(0x1F);
    const __m256i found = _mm256_or_si256(_mm256_cmpeq_epi8(_mm256_max_epu8(bytes, low), low),
                                          _mm256_or_si256(_mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"')),
                                                          _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'))));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(found));
}

// The highest bits of 32 bytes, each of them moved up by `up` before.
[[gnu::target(NEARDUP_AVX2)]] inline std::uint32_t high_bits_avx2(const unsigned char* at, int up) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_slli_epi16(bytes, up)));
}
#endif

template <Cpu level>
KERNEL inline std::uint32_t near_lanes(const std::uint32_t* values, std::size_t count, std::uint32_t query,
                                       std::uint32_t reach) {
#if defined(NEARDUP_AVX2)
    if constexpr (level == Cpu::avx512) return near_lanes_avx512(values, count, query, reach);
#endif
    return near_lanes_portable<level>(values, count, query, reach);
}

// The least number of bits in which one of `count` rows, a multiple of 16, differs from `query`. `columns` are the rows'
// words, one array for each word.
template <std::size_t count, class Word, std::size_t words>
KERNEL inline Word least_distance(const std::array<const Word*, words>& columns,
                                  const std::array<Word, words>& query) {
#if defined(__aarch64__)
    // GCC counts one word at a time here. Bytes are counted and neighbours added until sixteen rows have a byte each.
    constexpr std::size_t vectors = sizeof(Word);  // of sixteen bytes, for sixteen rows
    uint8x16_t least = vdupq_n_u8(0xFF);
    for (std::size_t i = 0; i < count; i += 16) {
        uint8x16_t sum = vdupq_n_u8(0);
        for (std::size_t w = 0; w < words; ++w) {
            const auto* bytes = reinterpret_cast<const std::uint8_t*>(columns[w] + i);
            const uint8x16_t asked = sizeof(Word) == 8 ? vreinterpretq_u8_u64(vdupq_n_u64(query[w]))
                                                       : vreinterpretq_u8_u32(vdupq_n_u32(query[w]));
            uint8x16_t counts[vectors];
            for (std::size_t v = 0; v < vectors; ++v)
                counts[v] = vcntq_u8(veorq_u8(vld1q_u8(bytes + 16 * v), asked));
            for (std::size_t left = vectors / 2; left > 0; left /= 2)
                for (std::size_t v = 0; v < left; ++v)
                    counts[v] = vpaddq_u8(counts[2 * v], counts[2 * v + 1]);
            sum = vaddq_u8(sum, counts[0]);
        }
        least = vminq_u8(least, sum);
    }
    return vminvq_u8(least);
#else
    Word least = std::numeric_limits<Word>::max();
    for (std::size_t i = 0; i < count; ++i) {
        Word distance = 0;
        for (std::size_t w = 0; w < words; ++w)
            distance += static_cast<Word>(std::popcount(static_cast<Word>(columns[w][i] ^ query[w])));
        least = std::min(least, distance);
    }
    return least;
#endif
}

// How many numbers of a block of ascending, distinct ones are in another such block.
template <Cpu level>
constexpr std::size_t set_block = level == Cpu::avx512 ? 8 : 4;

template <Cpu level>
KERNEL inline unsigned shared_in_blocks(const std::uint64_t* a, const std::uint64_t* b) {
#if defined(NEARDUP_AVX2)
    if constexpr (level == Cpu::avx512) return shared_in_blocks_avx512(a, b);
    if constexpr (level == Cpu::avx2) return shared_in_blocks_avx2(a, b);
#endif
    unsigned count = 0;
    for (std::size_t i = 0; i < set_block<level>; ++i)
        for (std::size_t j = 0; j < set_block<level>; ++j) count += a[i] == b[j];
    return count;
}

// 64 bytes of 0 or 1 to 64 bits.
template <Cpu level>
KERNEL inline std::uint64_t pack_flags(const unsigned char* flags) {
#if defined(NEARDUP_AVX2)
    if constexpr (level == Cpu::avx512) return pack_flags_avx512(flags);
    if constexpr (level == Cpu::avx2)
        return high_bits_avx2(flags, 7) | static_cast<std::uint64_t>(high_bits_avx2(flags + 32, 7)) << 32;
#endif
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) {
        std::uint64_t eight;
        std::memcpy(&eight, flags + 8 * i, 8);
        bits |= (eight * 0x0102040810204080u) >> 56 << (8 * i);
    }
    return bits;
}

// Which of 64 bytes end a run of a JSON string that is copied as it is: a quote, a backslash, a control character.
template <Cpu level>
KERNEL inline std::uint64_t string_stops(const unsigned char* at) {
#if defined(NEARDUP_AVX2)
    if constexpr (level == Cpu::avx512) return string_stops_avx512(at);
    if constexpr (level == Cpu::avx2)
        return string_stops_avx2(at) | static_cast<std::uint64_t>(string_stops_avx2(at + 32)) << 32;
#endif
    unsigned char flags[64];
    for (int i = 0; i < 64; ++i)
        flags[i] = static_cast<unsigned char>((at[i] < 0x20) | (at[i] == '"') | (at[i] == '\\'));
    return pack_flags<level>(flags);
}

// Which of 64 bytes are beyond ASCII.
template <Cpu level>
KERNEL inline std::uint64_t beyond_ascii(const unsigned char* at) {
#if defined(NEARDUP_AVX2)
    if constexpr (level == Cpu::avx2)
        return high_bits_avx2(at, 0) | static_cast<std::uint64_t>(high_bits_avx2(at + 32, 0)) << 32;
#endif
    unsigned char flags[64];
    for (int i = 0; i < 64; ++i) flags[i] = at[i] >> 7;
    return pack_flags<level>(flags);
}

// Copies `size` bytes, a multiple of 64, between places aligned to 64, past the caches: what is written
// will not be read soon, and the lines it replaces need not be fetched first. Call stream_done before
// another thread reads.
template <std::size_t size>
KERNEL inline void stream_copy(void* to, const void* from) {
    static_assert(size % 64 == 0);
#if defined(__x86_64__)
    for (std::size_t i = 0; i < size / 16; ++i)
        _mm_stream_si128(static_cast<__m128i*>(to) + i,
                         _mm_load_si128(static_cast<const __m128i*>(from) + i));
#else
    std::memcpy(to, from, size);
#endif
}

inline void stream_done() {
#if defined(__x86_64__)
    _mm_sfence();
#endif
}

}  // namespace neardup
