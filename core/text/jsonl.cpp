#include "text/jsonl.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "cpu.hpp"
#include "text/unicode.hpp"

namespace neardup {

namespace {

// Behind the quote that closes a string which begins here, or null.
const unsigned char* string_end(const unsigned char* at, const unsigned char* end) {
    const unsigned char* begin = at;
    while (at != end) {
        at = static_cast<const unsigned char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
        if (at == nullptr) return nullptr;
        const unsigned char* slash = at++;
        while (slash != begin && slash[-1] == '\\') --slash;
        // An even number of backslashes before it: they escape each other, and not the quote.
        if ((at - 1 - slash) % 2 == 0) return at;
    }
    return nullptr;
}

bool plain_lines(std::span<const unsigned char> lines, std::size_t deepest, std::size_t digits) {
    const unsigned char* at = lines.data();
    const unsigned char* const end = at + lines.size();
    std::size_t depth = 0, run = 0;
    bool begun = false;  // whether this line has had its object
    while (at != end) {
        const unsigned char c = *at++;
        if (c >= '0' && c <= '9') {
            if (depth == 0 || ++run > digits) return false;
            continue;
        }
        run = 0;
        if (depth == 0) {
            if (c == '{' && !begun) {
                begun = true;
                depth = 1;
                if (deepest == 0) return false;
            } else if (c == '\n' && begun) {
                begun = false;
            } else if (c != '\r') {
                return false;
            }
            continue;
        }
        switch (c) {
            case '"':
                at = string_end(at, end);
                if (at == nullptr) return false;
                break;
            case '{':
            case '[':
                if (++depth > deepest) return false;
                break;
            case '}':
            case ']': --depth; break;
            case '\n':
            case 'N':
            case 'I': return false;
            default: break;
        }
    }
    return depth == 0 && !begun;
}

constexpr std::ptrdiff_t kBlock = 32;

// Whether any of 32 bytes is not a literal character of a string.
KERNEL inline bool special(const unsigned char* at) {
    unsigned char found = 0;
    for (std::ptrdiff_t i = 0; i < kBlock; ++i)
        found |=
            static_cast<unsigned char>((at[i] < 0x20) | (at[i] >= 0x80) | (at[i] == '"') | (at[i] == '\\'));
    return found != 0;
}

// Four hexadecimal digits, or -1.
inline std::int32_t code_unit(const unsigned char* at, const unsigned char* end) {
    if (end - at < 4) return -1;
    std::int32_t unit = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned char c = at[i], low = c | 0x20;
        if (c >= '0' && c <= '9')
            unit = unit << 4 | (c - '0');
        else if (low >= 'a' && low <= 'f')
            unit = unit << 4 | (low - 'a' + 10);
        else
            return -1;
    }
    return unit;
}

// Reads lines from front to back. Every method returns whether it found the expected input; after a failure, none is
// called again. What is written is never longer than what was read.
class TextLineReader {
  public:
    TextLineReader(std::span<const unsigned char> lines, unsigned char* out)
        : at_(lines.data()), end_(lines.data() + lines.size()), begin_(out), out_(out) {}

    KERNEL inline bool read(TextLines& found) {
        while (at_ != end_) {
            if (!line(found)) return false;
            if (at_ != end_ && *at_ == '\r') ++at_;
            if (at_ != end_ && *at_++ != '\n') return false;
        }
        return true;
    }
    std::size_t written() const { return static_cast<std::size_t>(out_ - begin_); }

  private:
    KERNEL inline bool line(TextLines& found) {
        bool id = false, text = false;
        if (!sign('{')) return false;
        for (int part = 0; part < 2; ++part) {
            if (part == 1 && !sign(',')) return false;
            blanks();
            const bool names_id = key("\"id\"");
            if (!names_id && !key("\"text\"")) return false;
            if (!sign(':') || !sign('"')) return false;
            const std::int64_t begin = out_ - begin_;
            if (!string()) return false;
            (names_id ? found.id_begins : found.text_begins).push_back(begin);
            (names_id ? found.id_ends : found.text_ends).push_back(out_ - begin_);
            (names_id ? id : text) = true;
        }
        return sign('}') && id && text;
    }
    KERNEL inline void blanks() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
    }
    KERNEL inline bool sign(unsigned char wanted) {
        blanks();
        return at_ != end_ && *at_++ == wanted;
    }
    KERNEL inline bool key(std::string_view name) {
        if (static_cast<std::size_t>(end_ - at_) < name.size() ||
            std::memcmp(at_, name.data(), name.size()) != 0)
            return false;
        at_ += name.size();
        return true;
    }
    // The rest of a string, and the quote behind it.
    KERNEL inline bool string() {
        while (true) {
            while (end_ - at_ >= kBlock && !special(at_)) {
                std::memcpy(out_, at_, kBlock);
                at_ += kBlock;
                out_ += kBlock;
            }
            const unsigned char* const stop = end_ - at_ > kBlock ? at_ + kBlock : end_;
            while (at_ < stop) {
                const unsigned char c = *at_;
                if (c == '"') {
                    ++at_;
                    return true;
                }
                if (c < 0x20) return false;
                if (c < 0x80 && c != '\\')
                    *out_++ = *at_++;
                else if (!(c == '\\' ? escape() : letter()))
                    return false;
            }
            if (at_ == end_) return false;
        }
    }
    bool letter() {
        const char* const p = reinterpret_cast<const char*>(at_);
        const Decoded found = decode_utf8(p, reinterpret_cast<const char*>(end_));
        if (found.replaced) return false;
        for (unsigned i = 0; i < found.bytes; ++i) *out_++ = *at_++;
        return true;
    }
    bool escape() {
        if (end_ - at_ < 2) return false;
        const unsigned char c = at_[1];
        at_ += 2;
        switch (c) {
            case 'n': *out_++ = '\n'; return true;
            case '"':
            case '\\':
            case '/': *out_++ = c; return true;
            case 't': *out_++ = '\t'; return true;
            case 'r': *out_++ = '\r'; return true;
            case 'b': *out_++ = '\b'; return true;
            case 'f': *out_++ = '\f'; return true;
            case 'u': return code_point();
            default: return false;
        }
    }
    bool code_point() {
        const std::int32_t unit = code_unit(at_, end_);
        if (unit < 0 || (unit >= 0xDC00 && unit < 0xE000)) return false;
        at_ += 4;
        auto c = static_cast<char32_t>(unit);
        if (unit >= 0xD800 && unit < 0xDC00) {
            if (end_ - at_ < 6 || at_[0] != '\\' || at_[1] != 'u') return false;
            const std::int32_t low = code_unit(at_ + 2, end_);
            if (low < 0xDC00 || low >= 0xE000) return false;
            at_ += 6;
            c = 0x10000 + ((c - 0xD800) << 10) + (static_cast<char32_t>(low) - 0xDC00);
        }
        char letters[4];
        const unsigned size = encode_utf8(c, letters);
        std::memcpy(out_, letters, size);
        out_ += size;
        return true;
    }

    const unsigned char* at_;
    const unsigned char* end_;
    unsigned char* begin_;
    unsigned char* out_;
};

}  // namespace

std::optional<TextLines> read_text_lines(std::span<const unsigned char> lines) {
    TextLines found;
    // Blocks are copied whole, so the last may be written past what counts, never past what was read.
    found.bytes.resize(lines.size());
    TextLineReader reader(lines, found.bytes.data());
    TextLineReader* const reading = &reader;
    TextLines* const into = &found;
    if (!on_best_cpu([=]() KERNEL { return reading->read(*into); })) return std::nullopt;
    found.bytes.resize(reader.written());
    return found;
}

LinesSeen look_at_lines(std::span<const unsigned char> lines, std::size_t deepest, std::size_t digits) {
    return {static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')),
            plain_lines(lines, deepest, digits)};
}

}  // namespace neardup
