#pragma once
// Small named operations that no plain loop expresses, each with a portable form that gives the same answer.
#include <cstddef>
#include <cstring>

#include "cpu.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace neardup {

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
