#include "text/jsonl.hpp"

#include <cstring>
#include <string_view>

#include "text/json_string.hpp"

namespace neardup {

namespace {

// Reads lines from front to back. Every method returns whether it found the expected input; after a failure, none is
// called again. What is written is never longer than what was read.
template <Cpu level>
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
        if (!read_string<level>(at_, end_, out_) || at_ == end_) return false;
        ++at_;
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
    // Steps are copied whole, so the last may be written past what counts.
    found.bytes.resize(lines.size() + kStringStep);
    std::size_t written = 0;
    const bool sound = on_best_level([&]<Cpu level>() KERNEL {
        TextLineReader<level> reader(lines, found.bytes.data());
        const bool read = reader.read(found);
        written = reader.written();
        return read;
    });
    if (!sound) return std::nullopt;
    found.bytes.resize(written);
    return found;
}

std::vector<std::int64_t> line_ends(std::span<const unsigned char> block) {
    std::vector<std::int64_t> ends;
    const unsigned char* at = block.data();
    const unsigned char* const end = at + block.size();
    while (at != end) {
        at = static_cast<const unsigned char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
        at = at == nullptr ? end : at + 1;
        ends.push_back(at - block.data());
    }
    return ends;
}

}  // namespace neardup
