#include "text/normalize.hpp"

#include <algorithm>
#include <cstring>

#include "simd.hpp"
#include "text/hash.hpp"
#include "text/utf8.hpp"

namespace neardup {

namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080u;

bool is_ascii(char c) { return static_cast<signed char>(c) >= 0; }

struct Marks {
    std::uint64_t word, punctuation;
};

// 64 bytes of ASCII, in lower case if `lower` is 0x20. Branch-free arithmetic on bytes: GCC turns it into vectors.
template <Cpu level>
KERNEL inline Marks ascii_block(const char* in, char* out, unsigned char lower) {
    unsigned char word[64], punctuation[64];
    for (int i = 0; i < 64; ++i) {
        const auto c = static_cast<unsigned char>(in[i]);
        const auto upper = static_cast<unsigned char>(static_cast<unsigned char>(c - 'A') < 26);
        const auto letter = static_cast<unsigned char>(static_cast<unsigned char>((c | 0x20) - 'a') < 26);
        const auto digit = static_cast<unsigned char>(static_cast<unsigned char>(c - '0') < 10);
        const auto underscore = static_cast<unsigned char>(c == '_');
        const auto visible = static_cast<unsigned char>(static_cast<unsigned char>(c - 0x21) < 0x5E);
        out[i] = static_cast<char>(c | (static_cast<unsigned char>(-upper) & lower));
        word[i] = letter | digit | underscore;
        punctuation[i] = visible & static_cast<unsigned char>(1 ^ (letter | digit | underscore));
    }
    return {pack_flags<level>(word), pack_flags<level>(punctuation)};
}

const char* end_of_ascii(const char* p, const char* end) {
    for (; end - p >= 64; p += 64) {
        std::uint64_t any = 0;
        for (int i = 0; i < 8; ++i) any |= read64(p + 8 * i);
        if ((any & kHighBits) != 0) break;
    }
    while (end - p >= 8 && (read64(p) & kHighBits) == 0) p += 8;
    while (p < end && is_ascii(*p)) ++p;
    return p;
}

}  // namespace

void NormalText::grow(std::size_t need) {
    bytes_.resize(std::max(need, bytes_.size() * 2));
    in_token_.resize(bytes_.size() / 64 + 2);
    begins_.resize(bytes_.size() / 64 + 2);
}

void NormalText::mark(std::vector<std::uint64_t>& bits, std::size_t place, std::uint64_t mask) {
    bits[place / 64] |= mask << (place % 64);
    if (place % 64 != 0) bits[place / 64 + 1] |= mask >> (64 - place % 64);
}

void NormalText::ascii(const char* p, std::size_t n) {
    if (n == 0) return;
    if (!how_.digits) {
        for (std::size_t i = 0; i < n; ++i)
            emit(static_cast<unsigned char>(p[i]), properties(static_cast<unsigned char>(p[i])));
        return;
    }
    reserve(n);
    after_digit_ = false;
    const unsigned char lower = how_.casefold ? 0x20 : 0;
    on_best_level([this, p, n, lower]<Cpu level>() KERNEL {
        for (std::size_t i = 0; i < n; i += 64) {
            const std::size_t width = std::min<std::size_t>(64, n - i);
            char tail[64] = {};
            const char* in = p + i;
            if (width < 64) {
                std::memcpy(tail, in, width);
                in = tail;
            }
            Marks marks = ascii_block<level>(in, place(), lower);
            if (how_.punctuation) {
                // A punctuation mark is a token of its own: it begins one, and so does what follows it.
                const std::uint64_t begins =
                    marks.punctuation | marks.punctuation << 1 | std::uint64_t{after_single_};
                after_single_ = marks.punctuation >> (width - 1) & 1;
                marks.word |= marks.punctuation;
                mark(begins_, size_, begins & marks.word);
            } else {
                mark(begins_, size_, std::uint64_t{after_single_} & marks.word);
                after_single_ = false;
            }
            mark(in_token_, size_, marks.word);
            size_ += width;
        }
    });
}

void NormalText::put(char32_t c, Properties what) {
    Class klass = what.klass();
    if (klass == Class::word && how_.digits && !after_single_) {  // most of what comes here
        reserve(4);
        const unsigned length = encode_utf8(c, place());
        const std::uint64_t run = (1u << length) - 1;
        in_token_[size_ / 64] |= run << (size_ % 64);
        if (size_ % 64 + length > 64) in_token_[size_ / 64 + 1] |= run >> (64 - size_ % 64);
        size_ += length;
        return;
    }
    if (klass == Class::ignored) {
        if (how_.nfkc) return;
        klass = Class::space;
    }
    if (!how_.digits) {
        const bool digit = what.digit();
        if (digit && after_digit_) return;
        after_digit_ = digit;
        if (digit) {
            c = '0';
            klass = Class::word;
        }
    }
    reserve(4);
    const unsigned length = encode_utf8(c, place());
    const bool alone = klass == Class::single || (klass == Class::punctuation && how_.punctuation);
    if (alone || klass == Class::word) {
        mark(in_token_, size_, (1u << length) - 1);
        if (alone || after_single_) mark(begins_, size_, 1);
    }
    after_single_ = alone;
    size_ += length;
}

void NormalText::unaccented(char32_t c, Properties what) {
    if (how_.accents || !what.accented()) return put(c, what);
    for (const auto part : without_accents(c)) put(part, properties(part));
}

void NormalText::emit(char32_t c, Properties what) {
    if (!how_.casefold || !what.folds()) return unaccented(c, what);
    for (const auto part : case_folded(c)) unaccented(part, properties(part));
}

std::size_t NormalText::utf8(const char* p, const char* end) {
    std::size_t replaced = 0;
    const auto next = [&] {
        const Decoded d = decode_utf8(p, end);
        p += d.bytes;
        replaced += d.replaced;
        return d.c;
    };
    if (!how_.nfkc) {
        while (p < end) {
            const char* q = end_of_ascii(p, end);
            ascii(p, static_cast<std::size_t>(q - p));
            p = q;
            while (p < end && !is_ascii(*p)) {
                const char32_t c = next();
                emit(c, properties(c));
            }
        }
        return replaced;
    }
    // A safe code point can change only if an unsafe one follows it, so exactly one waits at a time. A stretch of
    // unsafe ones is brought to NFKC together with the safe one before it.
    char32_t waiting = 0;
    Properties waiting_is{0};
    bool has_waiting = false;
    const auto flush = [&] {
        if (has_waiting) emit(waiting, waiting_is);
        has_waiting = false;
    };
    const auto hold = [&](char32_t c, Properties what) {
        waiting = c;
        waiting_is = what;
        has_waiting = true;
    };
    while (p < end) {
        if (is_ascii(*p)) {
            const char* q = end_of_ascii(p, end);
            flush();
            const bool last = q == end;
            ascii(p, static_cast<std::size_t>(q - p) - !last);
            if (!last) hold(static_cast<unsigned char>(q[-1]), properties(static_cast<unsigned char>(q[-1])));
            p = q;
            continue;
        }
        const char32_t c = next();
        const Properties what = properties(c);
        if (!what.unsafe()) {
            flush();
            hold(c, what);
            continue;
        }
        segment_.clear();
        if (has_waiting) segment_.push_back(waiting);
        has_waiting = false;
        segment_.push_back(c);
        while (p < end && !is_ascii(*p)) {
            const char32_t more = next();
            const Properties more_is = properties(more);
            if (!more_is.unsafe()) {
                hold(more, more_is);
                break;
            }
            segment_.push_back(more);
        }
        compose_nfkc(segment_);
        for (const auto part : segment_) emit(part, properties(part));
    }
    flush();
    return replaced;
}

std::size_t NormalText::assign(const Text& text, const Normalizer& how) {
    how_ = how;
    std::fill_n(in_token_.begin(), std::min(in_token_.size(), size_ / 64 + 2), 0);
    std::fill_n(begins_.begin(), std::min(begins_.size(), size_ / 64 + 2), 0);
    size_ = 0;
    after_single_ = after_digit_ = false;
    reserve(text.size);
    if (text.encoding == Encoding::utf8) {
        const auto* p = static_cast<const char*>(text.data);
        return utf8(p, p + text.size);
    }
    std::size_t replaced = 0;
    const std::size_t bytes = transcode(text, transcoded_, replaced);
    utf8(transcoded_.data(), transcoded_.data() + bytes);
    return replaced;
}

}  // namespace neardup
