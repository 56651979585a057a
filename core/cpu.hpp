#pragma once
// The only file that names an instruction set.
//
// A kernel is one plain loop, written once:
//
//     return on_best_cpu([=]() KERNEL { ...loop... });
//
// The body is compiled for each level below, and the best one the machine has is chosen at run time. Target
// attributes on functions, not per-file -m flags: an inline function compiled under such a flag could be picked by
// the linker for the baseline path too. Functions a kernel calls must be KERNEL themselves to be compiled with it.
//
// Tests force a level with force_cpu and demand the same bytes from each.
#include <atomic>

#define KERNEL __attribute__((always_inline))

namespace neardup {

enum class Cpu : int { baseline = 0, avx2 = 1, avx512 = 2 };

#if defined(__x86_64__) && defined(__GNUC__)

#define NEARDUP_AVX2 "avx2,bmi,bmi2,lzcnt,popcnt"
#define NEARDUP_AVX512_SETS NEARDUP_AVX2 ",avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq"
#if defined(__clang__)  // takes whole registers unasked, and ignores an attribute that has a width in it
#define NEARDUP_AVX512 NEARDUP_AVX512_SETS
#else
#define NEARDUP_AVX512 NEARDUP_AVX512_SETS ",prefer-vector-width=512"
#endif

inline Cpu best_cpu() {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
        !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt"))
        return Cpu::baseline;
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
        return Cpu::avx512;
    return Cpu::avx2;
}

template <class Body>
[[gnu::target(NEARDUP_AVX512)]] auto on_avx512(Body body) {
    return body();
}
template <class Body>
[[gnu::target(NEARDUP_AVX2)]] auto on_avx2(Body body) {
    return body();
}

#else  // one level: arm64 always has NEON

inline Cpu best_cpu() { return Cpu::baseline; }

#endif

// The level in force: the best one present, or a lower one that a test asked for.
inline std::atomic<Cpu>& current_cpu() {
    static std::atomic<Cpu> level{best_cpu()};
    return level;
}

template <class Body>
auto on_best_cpu(Body body) {
#if defined(NEARDUP_AVX2)
    switch (current_cpu().load(std::memory_order_relaxed)) {
        case Cpu::avx512: return on_avx512(body);
        case Cpu::avx2: return on_avx2(body);
        default: break;
    }
#endif
    return body();
}

}  // namespace neardup
