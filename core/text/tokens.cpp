#include "text/tokens.hpp"

namespace neardup {

namespace {

struct Span {
    const char* begin;
    std::size_t size;
};

// Tokens wait in three lists, one for each length class of XXH3, and each list is hashed in its own loop. The list is
// chosen by an addition, because a branch would be mispredicted half of the time.
class Waiting {
  public:
    KERNEL void add(const char* p, std::size_t n) {
        spans_[size_] = {p, n};
        const auto place = static_cast<std::uint8_t>(size_++);
        tiny_[tinies_] = short_[shorts_] = long_[longs_] = place;
        tinies_ += n < 4;
        shorts_ += (n >= 4) & (n <= 8);
        longs_ += n > 8;
    }
    bool full() const { return size_ == kMost; }

    // Writes their hashes in the order they came, and forgets them.
    KERNEL std::uint64_t* flush(std::uint64_t seed, std::uint64_t* out) {
        for (std::size_t i = 0; i < tinies_; ++i) {
            const auto [p, n] = spans_[tiny_[i]];
            out[tiny_[i]] = xxh3_1to3(p, n, seed);
        }
        for (std::size_t i = 0; i < shorts_; ++i) {
            const auto [p, n] = spans_[short_[i]];
            out[short_[i]] = xxh3_4to8(p, n, seed);
        }
        for (std::size_t i = 0; i < longs_; ++i) {
            const auto [p, n] = spans_[long_[i]];
            out[long_[i]] = n <= 16 ? xxh3_9to16(p, n, seed) : xxh3_long({p, n}, seed);
        }
        out += size_;
        size_ = tinies_ = shorts_ = longs_ = 0;
        return out;
    }

  private:
    static constexpr std::size_t kMost = 128;
    Span spans_[kMost];
    std::uint8_t tiny_[kMost], short_[kMost], long_[kMost];
    std::size_t size_ = 0, tinies_ = 0, shorts_ = 0, longs_ = 0;
};

template <Hash kind>
void hash_all(const NormalText& text, std::uint64_t seed, Buffer<std::uint64_t>& out) {
    out.resize(text.bytes().size());  // a token has at least one byte
    const std::size_t found = on_best_cpu([&text, seed, begin = out.data()]() KERNEL {
        const char* bytes = text.bytes().data();
        std::uint64_t* next = begin;
        Waiting waiting;
        for_each_token(text, [&](std::size_t start, std::size_t end) KERNEL {
            if constexpr (kind == Hash::xxh3) {
                waiting.add(bytes + start, end - start);
                if (waiting.full()) next = waiting.flush(seed, next);
            } else {
                *next++ = hash_bytes(kind, {bytes + start, end - start}, seed);
            }
        });
        return static_cast<std::size_t>(waiting.flush(seed, next) - begin);
    });
    out.resize(found);
}

}  // namespace

void hash_tokens(const NormalText& text, Hash kind, std::uint64_t seed, Buffer<std::uint64_t>& out) {
    if (kind == Hash::xxh3)
        hash_all<Hash::xxh3>(text, seed, out);
    else
        hash_all<Hash::murmur64a>(text, seed, out);
}

}  // namespace neardup
