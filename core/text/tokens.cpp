#include "text/tokens.hpp"

namespace neardup {

namespace {

constexpr std::size_t kMost = 256;  // tokens that are hashed in one loop

// The places of the bits that are set, behind those in `out`; returns how many there are. Sixteen at a time, for how
// many a block has cannot be predicted.
KERNEL inline std::size_t add_places(std::uint64_t bits, std::uint64_t base, std::uint64_t* out) {
    const auto count = static_cast<std::size_t>(std::popcount(bits));
    for (std::size_t i = 0; i < count; i += 16)
        for (std::size_t j = 0; j < 16; ++j, bits &= bits - 1)
            out[i + j] = base + static_cast<std::uint64_t>(std::countr_zero(bits));
    return count;
}

// Where tokens begin and end. Begins and ends alternate in a text, so the k-th of the one belongs to the k-th of the
// other, and both may be listed without regard to each other.
struct Places {
    std::uint64_t starts[kMost + 80], ends[kMost + 80];
    std::size_t started = 0, ended = 0;

    KERNEL void add(std::uint64_t starting, std::uint64_t ending, std::uint64_t base) {
        started += add_places(starting, base, starts + started);
        ended += add_places(ending, base, ends + ended);
    }
    // Forgets the tokens that are whole; the last one may be open.
    KERNEL void forget() {
        starts[0] = starts[ended];
        started -= ended;
        ended = 0;
    }
};

// XXH3 of tokens. The first eight bytes of each are hashed as if it had up to three, and as if it had four to eight, in a
// loop without branches; the few longer ones are hashed again.
KERNEL inline void hash_places(const char* bytes, const Places& places, std::uint64_t seed,
                               std::uint64_t* out) {
    std::uint64_t words[kMost + 80];
    std::uint32_t longer[kMost + 80];
    std::size_t longs = 0;
    const std::size_t count = places.ended;
    for (std::size_t i = 0; i < count; ++i) {
        words[i] = read64(bytes + places.starts[i]);
        longer[longs] = static_cast<std::uint32_t>(i);
        longs += places.ends[i] - places.starts[i] > 8;
    }
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t n = places.ends[i] - places.starts[i];
        const std::uint64_t tiny = xxh3_1to3(words[i], n, seed), few = xxh3_4to8(words[i], n, seed);
        const std::uint64_t is_tiny = -std::uint64_t{n < 4};
        out[i] = (tiny & is_tiny) | (few & ~is_tiny);
    }
    for (std::size_t i = 0; i < longs; ++i) {
        const std::size_t at = longer[i];
        const char* p = bytes + places.starts[at];
        const std::size_t n = places.ends[at] - places.starts[at];
        out[at] = n <= 16 ? xxh3_9to16(p, n, seed) : xxh3_long({p, n}, seed);
    }
}

std::size_t hash_xxh3(const NormalText& text, std::uint64_t seed, std::uint64_t* out) {
    return on_best_cpu([&text, seed, out]() KERNEL {
        const char* bytes = text.bytes().data();
        std::uint64_t* next = out;
        Places places;
        TokenBits bits;
        for (std::size_t block = 0; block < text.blocks(); ++block) {
            const auto [starts, ends] = bits.of(text, block);
            places.add(starts, ends, block * 64);
            if (places.ended < kMost && block + 1 < text.blocks()) continue;
            hash_places(bytes, places, seed, next);
            next += places.ended;
            places.forget();
        }
        return static_cast<std::size_t>(next - out);
    });
}

std::size_t hash_murmur(const NormalText& text, std::uint64_t seed, std::uint64_t* out) {
    const char* bytes = text.bytes().data();
    std::uint64_t* next = out;
    for_each_token(text, [&](std::size_t start, std::size_t end)
                             KERNEL { *next++ = murmur64a({bytes + start, end - start}, seed); });
    return static_cast<std::size_t>(next - out);
}

}  // namespace

void hash_tokens(const NormalText& text, Hash kind, std::uint64_t seed, Buffer<std::uint64_t>& out) {
    out.resize(text.bytes().size());  // a token has at least one byte
    out.resize(kind == Hash::xxh3 ? hash_xxh3(text, seed, out.data()) : hash_murmur(text, seed, out.data()));
}

}  // namespace neardup
