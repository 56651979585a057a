#pragma once
// Small named operations that no plain loop expresses, each with a portable form that gives the same answer. Some need to
// be told their CPU level:
//
//     on_best_level([=]<Cpu level>() KERNEL { ... near_lanes<level>(...) ... });
//
// Only GCC lets an inlined body use the instructions of the function it
// is inlined into, so other compilers take the portable form at every level.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cpu.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace neardup {

#if defined(__x86_64__) && defined(__GNUC__)
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
// Reads no more than `count` of them: the rest may lie in a line that nobody asked for.
constexpr std::size_t lanes = 16;

template <Cpu level>
KERNEL inline std::uint32_t near_lanes_portable(const std::uint32_t* values, std::size_t count,
                                                std::uint32_t query, std::uint32_t reach) {
    std::uint32_t near = 0;
    for (std::size_t i = 0; i < count; ++i)
        near |= static_cast<std::uint32_t>(count_bits<level>(values[i] ^ query) <= reach) << i;
    return near;
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"  // inlined everywhere, so no vector is ever passed
template <Cpu level>
KERNEL inline std::uint32_t near_lanes(const std::uint32_t* values, std::size_t count, std::uint32_t query,
                                       std::uint32_t reach) {
    if constexpr (level == Cpu::avx512) {
        typedef int Vector __attribute__((vector_size(64)));
        const auto wanted = static_cast<unsigned short>((1u << count) - 1);
        const Vector v =
            __builtin_ia32_loaddqusi512_mask(reinterpret_cast<const int*>(values), Vector{}, wanted);
        const Vector counts = __builtin_ia32_vpopcountd_v16si(v ^ static_cast<int>(query));
        const Vector limit = Vector{} + static_cast<int>(reach);
        return __builtin_ia32_ucmpd512_mask(counts, limit, 2, wanted);
    } else {
        return near_lanes_portable<level>(values, count, query, reach);
    }
}
#pragma GCC diagnostic pop
#else
template <Cpu level>
KERNEL inline std::uint32_t near_lanes(const std::uint32_t* values, std::size_t count, std::uint32_t query,
                                       std::uint32_t reach) {
    return near_lanes_portable<level>(values, count, query, reach);
}
#endif

// 64 bytes of 0 or 1 to 64 bits.
template <Cpu level>
KERNEL inline std::uint64_t pack_flags(const unsigned char* flags) {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    if constexpr (level == Cpu::avx512) {
        typedef char Vector __attribute__((vector_size(64)));
        Vector v;
        std::memcpy(&v, flags, sizeof v);
        return __builtin_ia32_ptestmb512(v, v, ~std::uint64_t{0});
    }
#endif
    std::uint64_t bits = 0;
    for (int i = 0; i < 8; ++i) {
        std::uint64_t eight;
        std::memcpy(&eight, flags + 8 * i, 8);
        bits |= (eight * 0x0102040810204080u) >> 56 << (8 * i);
    }
    return bits;
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
