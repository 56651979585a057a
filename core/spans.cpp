#include "spans.hpp"

#include <atomic>
#include <stdexcept>

#include "parallel.hpp"
#include "tokens.hpp"

namespace neardup {

namespace {

// The code points of a text by the place they start at. Surrogates read as U+FFFD, as everywhere.
template <class Unit>
struct Points {
    const Unit* units;
    std::size_t size;

    bool ascii(std::size_t i) const { return units[i] < 0x80; }
    char32_t next(std::size_t& i) const {
        const char32_t c = units[i++];
        return (c >= 0xD800 && c < 0xE000) || c > 0x10FFFF ? kReplacement : c;
    }
};
template <>
struct Points<char> {
    const char* units;
    std::size_t size;

    bool ascii(std::size_t i) const { return static_cast<signed char>(units[i]) >= 0; }
    char32_t next(std::size_t& i) const {
        const Decoded d = decode_utf8(units + i, units + size);
        i += d.bytes;
        return d.c;
    }
};

// How many bytes NormalText writes for a code point that has been through NFKC.
class Measure {
  public:
    explicit Measure(const Normalizer& how) : how_(how) {}

    std::size_t operator()(char32_t c) {
        const Properties what = properties(c);
        if (!how_.casefold || !what.folds()) return unaccented(c, what);
        std::size_t bytes = 0;
        for (const auto part : case_folded(c)) bytes += unaccented(part, properties(part));
        return bytes;
    }

  private:
    std::size_t unaccented(char32_t c, Properties what) {
        if (how_.accents || !what.accented()) return put(c, what);
        std::size_t bytes = 0;
        for (const auto part : without_accents(c)) bytes += put(part, properties(part));
        return bytes;
    }
    std::size_t put(char32_t c, Properties what) {
        if (what.klass() == Class::ignored && how_.nfkc) return 0;
        if (!how_.digits) {
            const bool digit = what.digit(), again = digit && after_digit_;
            after_digit_ = digit;
            if (digit) return again ? 0 : 1;
        }
        return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    }
    const Normalizer how_;
    bool after_digit_ = false;
};

// Tokens in order, each waiting for the source of its first and then of its last byte.
class Tracing {
  public:
    Tracing(std::span<const Stretch> tokens, std::int64_t* begins, std::int64_t* ends)
        : tokens_(tokens), begins_(begins), ends_(ends) {}

    // `count` bytes from `normal` on were made of as many units from `source` on, one of each.
    void same(std::size_t normal, std::size_t source, std::size_t count) {
        const auto shift = [=](std::size_t place) {
            return static_cast<std::int64_t>(place - normal + source);
        };
        for (; next_ < tokens_.size(); ++next_) {
            const auto [begin, end] = tokens_[next_];
            if (begin >= normal + count) return;
            if (begin >= normal) begins_[next_] = shift(begin);
            if (end > normal + count) return;
            ends_[next_] = shift(end);
        }
    }
    // `count` bytes from `normal` on were made together of the units [from, to).
    void together(std::size_t normal, std::size_t count, std::size_t from, std::size_t to) {
        // What leaves no trace (a folded digit, a soft hyphen) belongs to the token it touches.
        if (count == 0 && next_ > 0 && ends_[next_ - 1] == static_cast<std::int64_t>(from)) {
            ends_[next_ - 1] = static_cast<std::int64_t>(to);
            return;
        }
        for (; next_ < tokens_.size(); ++next_) {
            const auto [begin, end] = tokens_[next_];
            if (begin >= normal + count) return;
            if (begin >= normal) begins_[next_] = static_cast<std::int64_t>(from);
            if (end > normal + count) return;
            ends_[next_] = static_cast<std::int64_t>(to);
        }
    }
    bool done() const { return next_ == tokens_.size(); }

  private:
    std::span<const Stretch> tokens_;
    std::int64_t *begins_, *ends_;
    std::size_t next_ = 0;
};

// Walks the source in the steps in which NormalText normalises it: an ASCII character is a byte, and a code point that
// NFKC leaves alone goes together with all that follow and might change or join it.
template <class Source>
void trace(const Source& text, const Normalizer& how, Tracing& tracing, std::size_t normal_size) {
    Measure measure(how);
    std::vector<char32_t> step;
    std::size_t normal = 0;
    for (std::size_t i = 0; i < text.size;) {
        if (how.digits) {
            std::size_t run = i;
            while (run < text.size && text.ascii(run)) ++run;
            if (how.nfkc && run < text.size && run > i) --run;  // what follows may join the last one
            if (run > i) {
                tracing.same(normal, i, run - i);
                normal += run - i;
                i = run;
                continue;
            }
        }
        const std::size_t from = i;
        step.assign(1, text.next(i));
        if (how.nfkc) {
            while (i < text.size && !text.ascii(i)) {
                std::size_t behind = i;
                const char32_t c = text.next(behind);
                if (!properties(c).unsafe()) break;
                step.push_back(c);
                i = behind;
            }
            if (step.size() > 1 || properties(step[0]).unsafe()) compose_nfkc(step);
        }
        std::size_t bytes = 0;
        for (const char32_t c : step) bytes += measure(c);
        tracing.together(normal, bytes, from, i);
        normal += bytes;
    }
    if (normal != normal_size || !tracing.done())
        throw std::logic_error("tokens could not be traced back to their text");
}

}  // namespace

void trace_tokens(const Text& text, const Normalizer& how, std::span<const Stretch> tokens,
                  std::size_t normal_size, std::int64_t* begins, std::int64_t* ends) {
    Tracing tracing(tokens, begins, ends);
    const auto walk = [&]<class Unit>(const Unit*) {
        trace(Points<Unit>{static_cast<const Unit*>(text.data), text.size}, how, tracing, normal_size);
    };
    switch (text.encoding) {
        case Encoding::utf8: return walk(static_cast<const char*>(nullptr));
        case Encoding::latin1: return walk(static_cast<const std::uint8_t*>(nullptr));
        case Encoding::ucs2: return walk(static_cast<const std::uint16_t*>(nullptr));
        case Encoding::ucs4: return walk(static_cast<const std::uint32_t*>(nullptr));
    }
}

TokenStream token_stream(std::span<const Text> texts, const Normalizer& how, std::uint64_t seed, bool places,
                         unsigned threads) {
    struct One {
        std::vector<std::uint64_t> hashes;
        std::vector<std::int64_t> begins, ends;
    };
    std::vector<One> each(texts.size());
    in_parallel(texts.size(), threads, 16, [&](std::size_t from, std::size_t to) {
        NormalText normal;
        Buffer<std::uint64_t> hashes;
        std::vector<Stretch> tokens;
        for (std::size_t row = from; row < to; ++row) {
            One& one = each[row];
            normal.assign(texts[row], how);
            hash_tokens(normal, Hash::xxh3, seed, hashes);
            one.hashes.assign(hashes.begin(), hashes.end());
            if (!places) continue;
            tokens.clear();
            for_each_token(normal,
                           [&](std::size_t begin, std::size_t end) { tokens.push_back({begin, end}); });
            one.begins.resize(tokens.size());
            one.ends.resize(tokens.size());
            trace_tokens(texts[row], how, tokens, normal.bytes().size(), one.begins.data(), one.ends.data());
        }
    });
    TokenStream all;
    all.offsets.assign(1, 0);
    for (const One& one : each)
        all.offsets.push_back(all.offsets.back() + static_cast<std::int64_t>(one.hashes.size()));
    const auto total = static_cast<std::size_t>(all.offsets.back());
    all.hashes.reserve(total);
    if (places) {
        all.begins.reserve(total);
        all.ends.reserve(total);
    }
    for (One& one : each) {
        all.hashes.insert(all.hashes.end(), one.hashes.begin(), one.hashes.end());
        all.begins.insert(all.begins.end(), one.begins.begin(), one.begins.end());
        all.ends.insert(all.ends.end(), one.ends.begin(), one.ends.end());
        one = {};
    }
    return all;
}

}  // namespace neardup
