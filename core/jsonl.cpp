#include "jsonl.hpp"

#include <algorithm>
#include <cstring>

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

}  // namespace

LinesSeen look_at_lines(std::span<const unsigned char> lines, std::size_t deepest, std::size_t digits) {
    return {static_cast<std::size_t>(std::count(lines.begin(), lines.end(), '\n')),
            plain_lines(lines, deepest, digits)};
}

}  // namespace neardup
