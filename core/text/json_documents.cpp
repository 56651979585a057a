#include "text/json_documents.hpp"

#include <string_view>

#include "text/json_string.hpp"

namespace neardup {

namespace {

constexpr int kDeepest = 32;     // nesting of a simple line
constexpr int kMostDigits = 15;  // of a number that is skipped
constexpr int kMostIdDigits = 18;

// Reads lines from front to back. A method that returns a bool says whether it found the expected input; after a
// failure the line is odd.
template <Cpu level>
class LineReader {
  public:
    LineReader(std::span<const unsigned char> block, const DocumentFields& fields, JsonDocuments& found)
        : fields_(fields),
          found_(found),
          begin_(block.data()),
          at_(begin_),
          end_(begin_ + block.size()),
          text_(found.texts.data()),
          id_(found.ids.data()) {}

    KERNEL inline void run() {
        const unsigned char* const block_end = end_;
        std::int64_t number = 0;
        for (; at_ != block_end; ++number) {
            const unsigned char* const line = at_;
            unsigned char *const text = text_, *const id = id_;
            end_ = block_end;
            if (!read_line()) {
                text_ = text;
                id_ = id;
                at_ = line;
                const auto* stop = static_cast<const unsigned char*>(
                    std::memchr(line, '\n', static_cast<std::size_t>(block_end - line)));
                at_ = stop == nullptr ? block_end : stop;
                found_.odd_lines.push_back(number);
                found_.odd_begins.push_back(line - begin_);
                found_.odd_ends.push_back(at_ - begin_);
                if (at_ != block_end) ++at_;
            } else if (has_text_) {
                found_.lines.push_back(number);
                found_.begins.push_back(text_at_ - begin_);
                found_.raws.push_back(text_raw_);
                found_.text_ends.push_back(text_ - found_.texts.data());
                found_.id_ends.push_back(id_ - found_.ids.data());
            }
        }
        found_.count = static_cast<std::size_t>(number);
        found_.texts.resize(static_cast<std::size_t>(text_ - found_.texts.data()));
        found_.ids.resize(static_cast<std::size_t>(id_ - found_.ids.data()));
    }

  private:
    // A whole line and its end; has_text_ is false if there is nothing on it.
    KERNEL inline bool read_line() {
        const unsigned char* const line = at_;
        has_text_ = has_id_ = false;
        blanks();
        if (at_ == end_ || *at_ == '\n') return line_end();
        if (*at_++ != '{') return false;
        unsigned char* const text = text_;
        blanks();
        if (at_ != end_ && *at_ == '}') return false;  // no text
        while (true) {
            if (!field()) return false;
            blanks();
            if (at_ == end_) return false;
            const unsigned char c = *at_++;
            if (c == '}') break;
            if (c != ',') return false;
            blanks();
        }
        blanks();
        const auto size = static_cast<std::size_t>(at_ - line);
        return has_text_ && (has_id_ || !fields_.id) && size <= fields_.longest_line &&
               static_cast<std::size_t>(text_ - text) <= fields_.longest_text && line_end();
    }

    KERNEL inline bool line_end() {
        if (at_ == end_) return true;
        return *at_++ == '\n';
    }

    KERNEL inline bool field() {
        std::string_view name;
        if (!key(name)) return false;
        blanks();
        if (at_ == end_ || *at_++ != ':') return false;
        blanks();
        if (at_ == end_) return false;
        if (name == fields_.text) return text_value();
        if (fields_.id && name == *fields_.id) return id_value();
        return skip(1);
    }

    // A name without escapes.
    KERNEL inline bool key(std::string_view& name) {
        if (at_ == end_ || *at_++ != '"') return false;
        const unsigned char* const begin = at_;
        while (at_ != end_ && *at_ >= 0x20 && *at_ < 0x80 && *at_ != '"' && *at_ != '\\') ++at_;
        while (at_ != end_ && *at_ != '"') {
            if (*at_ == '\\' || *at_ < 0x20) return false;
            const Decoded letter =
                decode_utf8(reinterpret_cast<const char*>(at_), reinterpret_cast<const char*>(end_));
            if (letter.replaced) return false;
            at_ += letter.bytes;
        }
        if (at_ == end_) return false;
        name = {reinterpret_cast<const char*>(begin), static_cast<std::size_t>(at_ - begin)};
        ++at_;
        return true;
    }

    KERNEL inline bool text_value() {
        if (has_text_ || *at_ != '"') return false;
        has_text_ = true;
        text_at_ = ++at_;
        if (!read_string<level>(at_, end_, text_) || at_ == end_) return false;
        text_raw_ = at_ - text_at_;
        ++at_;
        return true;
    }

    KERNEL inline bool id_value() {
        if (has_id_) return false;
        has_id_ = true;
        if (*at_ == '"') {
            const unsigned char* const begin = ++at_;
            if (!read_string<level>(at_, end_, id_) || at_ == end_ || at_ == begin) return false;
            ++at_;
            return true;
        }
        if (*at_ == '-') *id_++ = *at_++;
        const unsigned char* const digits = at_;
        while (at_ != end_ && *at_ >= '0' && *at_ <= '9') *id_++ = *at_++;
        const auto count = at_ - digits;
        if (count == 0 || count > kMostIdDigits || at_ == end_) return false;
        if (*digits == '0' && (count > 1 || digits[-1] == '-')) return false;
        return *at_ == ',' || *at_ == '}' || *at_ == ' ' || *at_ == '\t' || *at_ == '\r';
    }

    // Any value, checked. Strings are written behind the texts, where the next one overwrites them.
    bool skip(int depth) {
        if (at_ == end_) return false;
        switch (*at_) {
            case '"': {
                ++at_;
                unsigned char* scratch = text_;
                if (!read_string<level>(at_, end_, scratch) || at_ == end_) return false;
                ++at_;
                return true;
            }
            case '{': return skip_all('}', depth, true);
            case '[': return skip_all(']', depth, false);
            case 't': return word("true");
            case 'f': return word("false");
            case 'n': return word("null");
            default: return number();
        }
    }

    bool skip_all(unsigned char close, int depth, bool object) {
        if (depth == kDeepest) return false;
        ++at_;
        blanks();
        if (at_ != end_ && *at_ == close) return ++at_, true;
        while (true) {
            if (object) {
                if (at_ == end_ || *at_ != '"' || !skip(depth + 1)) return false;
                blanks();
                if (at_ == end_ || *at_++ != ':') return false;
                blanks();
            }
            if (!skip(depth + 1)) return false;
            blanks();
            if (at_ == end_) return false;
            const unsigned char c = *at_++;
            if (c == close) return true;
            if (c != ',') return false;
            blanks();
        }
    }

    bool word(std::string_view wanted) {
        if (static_cast<std::size_t>(end_ - at_) < wanted.size() ||
            std::memcmp(at_, wanted.data(), wanted.size()) != 0)
            return false;
        at_ += wanted.size();
        return true;
    }

    int digits() {
        int count = 0;
        while (at_ != end_ && *at_ >= '0' && *at_ <= '9' && count <= kMostDigits) ++at_, ++count;
        return count;
    }

    bool number() {
        if (*at_ == '-') ++at_;
        const unsigned char* const first = at_;
        int count = digits();
        if (count == 0 || (*first == '0' && count > 1)) return false;
        if (at_ != end_ && *at_ == '.') {
            ++at_;
            const int behind = digits();
            if (behind == 0) return false;
            count += behind;
        }
        if (count > kMostDigits) return false;
        if (at_ != end_ && (*at_ | 0x20) == 'e') {
            ++at_;
            if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
            const int power = digits();
            if (power == 0 || power > 2) return false;  // beyond that it may not fit a double
        }
        return true;
    }

    KERNEL inline void blanks() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
    }

    const DocumentFields& fields_;
    JsonDocuments& found_;
    const unsigned char* const begin_;
    const unsigned char* at_;
    const unsigned char* end_;
    unsigned char* text_;
    unsigned char* id_;
    const unsigned char* text_at_ = nullptr;
    std::int64_t text_raw_ = 0;
    bool has_text_ = false, has_id_ = false;
};

}  // namespace

JsonDocuments read_documents(std::span<const unsigned char> block, const DocumentFields& fields) {
    JsonDocuments found;
    // What is written is never longer than what is read, but for the last step of a copy.
    found.texts.resize(block.size() + kStringStep);
    found.ids.resize(block.size() + kStringStep);
    on_best_level([&]<Cpu level>() KERNEL { LineReader<level>(block, fields, found).run(); });
    return found;
}

}  // namespace neardup
