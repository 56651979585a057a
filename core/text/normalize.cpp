#include "text/normalize.hpp"

#include <algorithm>
#include <cstring>

#include "simd.hpp"
#include "text/hash.hpp"
#include "text/plain_block.hpp"
#include "text/utf8.hpp"

namespace neardup {

namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080u;

bool is_ascii(char c) { return static_cast<signed char>(c) >= 0; }

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
            AsciiMarks marks = ascii_block<level>(in, place(), lower);
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
    // A safe code point can change only if an unsafe one follows it: whatever reads code points leaves the last one to the
    // next if that may be so.
    const bool blocks = how_.digits && how_.accents;
    while (p < end) {
        if (blocks) {
            p = plain(p, end);
        } else {
            const char* q = end_of_ascii(p, end);
            if (q != end && q != p) --q;
            ascii(p, static_cast<std::size_t>(q - p));
            p = q;
        }
        if (p < end) p = composed(p, end, replaced);
    }
    return replaced;
}

const char* NormalText::plain(const char* p, const char* end) {
    const TwoByteTable& two_bytes = two_byte_table(how_.casefold);
    const unsigned char lower = how_.casefold ? 0x20 : 0;
    reserve(static_cast<std::size_t>(end - p));
    return on_best_level([this, p, end, lower, &two_bytes]<Cpu level>() KERNEL {
        const char* at = p;
        while (at < end) {
            const auto left = static_cast<std::size_t>(end - at);
            char tail[64] = {};
            const char* in = at;
            if (left < 64) {
                std::memcpy(tail, in, left);
                in = tail;
            }
            const bool joins = left > 64 && !is_ascii(at[64]);
            const PlainBlock block = plain_block<level>(in, std::min<std::size_t>(left, 64), joins, place(),
                                                        lower, two_bytes, how_.punctuation);
            if (block.size == 0) break;
            mark(in_token_, size_, block.word);
            const std::uint64_t begins = block.begins | block.ends << 1 | std::uint64_t{after_single_};
            if (begins != 0) mark(begins_, size_, begins & block.word);
            after_single_ = block.ends >> (block.size - 1) & 1;
            size_ += block.size;
            at += block.size;
        }
        return at;
    });
}

const char* NormalText::composed(const char* p, const char* end, std::size_t& replaced) {
    Decoded d = decode_utf8(p, end);
    Properties what = properties(d.c);
    p += d.bytes;
    replaced += d.replaced;
    segment_.assign(1, d.c);
    while (p < end && !is_ascii(*p)) {
        d = decode_utf8(p, end);
        const Properties next = properties(d.c);
        if (!next.unsafe()) break;
        what = next;
        p += d.bytes;
        replaced += d.replaced;
        segment_.push_back(d.c);
    }
    if (!what.unsafe()) {
        emit(segment_.front(), what);
        return p;
    }
    compose_nfkc(segment_);
    for (const auto part : segment_) emit(part, properties(part));
    return p;
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
