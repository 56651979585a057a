#include "text/spans.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "parallel.hpp"
#include "text/tokens.hpp"

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

// The code points of one step of NormalText and where each begins, cut into the pieces whose forms, one after the other,
// are the form of all: a sentence in full-width letters is one step, and its words must not be taken for each other.
class Pieces {
  public:
    void clear() {
        points_.clear();
        places_.clear();
    }
    void add(char32_t c, std::size_t place) {
        points_.push_back(c);
        places_.push_back(place);
    }
    // Calls each(form, from, to) for every piece; `end` is where the step ends.
    template <class Each>
    void compose(std::size_t end, Each&& each) {
        whole_ = points_;
        if (points_.size() > 1 || properties(points_[0]).unsafe()) compose_nfkc(whole_);
        if (points_.size() == 1 || !cut()) return each(whole_, places_.front(), end);
        for (std::size_t i = 0; i + 1 < starts_.size(); ++i) {
            form_.assign(points_.begin() + starts_[i], points_.begin() + starts_[i + 1]);
            compose_nfkc(form_);
            const auto behind = static_cast<std::size_t>(starts_[i + 1]);
            each(form_, places_[static_cast<std::size_t>(starts_[i])],
                 behind < places_.size() ? places_[behind] : end);
        }
    }

  private:
    static constexpr std::ptrdiff_t kLongest = 32;  // of a piece, so that hostile marks cost no square

    // Whether there is more than one piece, and their beginnings.
    bool cut() {
        const auto size = static_cast<std::ptrdiff_t>(points_.size());
        joined_.clear();
        starts_.assign(1, 0);
        form_.assign(1, points_[0]);
        compose_nfkc(form_);
        for (std::ptrdiff_t i = 1; i < size; ++i) {
            next_.assign(1, points_[static_cast<std::size_t>(i)]);
            compose_nfkc(next_);
            both_.assign(points_.begin() + starts_.back(), points_.begin() + i + 1);
            compose_nfkc(both_);
            const bool apart = both_.size() == form_.size() + next_.size() &&
                               std::equal(form_.begin(), form_.end(), both_.begin()) &&
                               std::equal(next_.begin(), next_.end(), both_.begin() + std::ssize(form_));
            if (apart) {
                joined_.insert(joined_.end(), form_.begin(), form_.end());
                starts_.push_back(i);
                form_.swap(next_);
            } else {
                if (i - starts_.back() >= kLongest) return false;
                form_.swap(both_);
            }
        }
        joined_.insert(joined_.end(), form_.begin(), form_.end());
        starts_.push_back(size);
        // A mark may reach over another to a letter before it; then nothing is cut.
        return starts_.size() > 2 && joined_ == whole_;
    }

    std::vector<char32_t> points_, whole_, form_, next_, both_, joined_;
    std::vector<std::size_t> places_;
    std::vector<std::ptrdiff_t> starts_;
};

// Walks the source in the same steps in which NormalText normalises it. An ASCII character is one byte. A code point
// that NFKC does not change forms one step with all following code points that NFKC might change or join to it.
template <class Source>
void trace(const Source& text, const Normalizer& how, Tracing& tracing, std::size_t normal_size) {
    Measure measure(how);
    Pieces step;
    std::vector<char32_t> single;
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
        const auto write = [&](const std::vector<char32_t>& form, std::size_t from, std::size_t to) {
            std::size_t bytes = 0;
            for (const char32_t c : form) bytes += measure(c);
            tracing.together(normal, bytes, from, to);
            normal += bytes;
        };
        const std::size_t from = i;
        const char32_t first = text.next(i);
        if (!how.nfkc) {
            single.assign(1, first);
            write(single, from, i);
            continue;
        }
        step.clear();
        step.add(first, from);
        while (i < text.size && !text.ascii(i)) {
            std::size_t behind = i;
            const char32_t c = text.next(behind);
            if (!properties(c).unsafe()) break;
            step.add(c, i);
            i = behind;
        }
        step.compose(i, write);
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
