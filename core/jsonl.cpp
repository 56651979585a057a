#include "jsonl.hpp"

#include <cstring>
#include <string_view>

namespace neardup {

namespace {

// Whether a line of JSON holds one of the words that are no JSON outside of its strings.
bool has_bare_word(std::string_view line) {
    bool inside = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\')
            ++i;
        else if (line[i] == '"')
            inside = !inside;
        else if (!inside && (line.substr(i, 3) == "NaN" || line.substr(i, 8) == "Infinity"))
            return true;
    }
    return false;
}

// memmem of the C library looks at many bytes at a time, std::string_view::find at one.
bool mentions(std::string_view text, std::string_view word) {
    return memmem(text.data(), text.size(), word.data(), word.size()) != nullptr;
}

}  // namespace

LinesSeen look_at_lines(std::span<const char> block) {
    LinesSeen seen;
    const std::string_view text(block.data(), block.size());
    const bool nan = mentions(text, "NaN"), infinity = mentions(text, "Infinity");
    for (std::size_t begin = 0; begin < text.size();) {
        const void* found = std::memchr(text.data() + begin, '\n', text.size() - begin);
        const std::size_t end = found == nullptr
                                    ? text.size()
                                    : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
        seen.lines += found != nullptr;
        // A line of JSON begins with the brace of its object; anything else is for the careful reader.
        if (end == begin || text[begin] != '{') seen.plain = false;
        if (seen.plain && (nan || infinity)) {
            const std::string_view line = text.substr(begin, end - begin);
            if ((mentions(line, "NaN") || mentions(line, "Infinity")) && has_bare_word(line))
                seen.plain = false;
        }
        begin = end + 1;
    }
    return seen;
}

}  // namespace neardup
