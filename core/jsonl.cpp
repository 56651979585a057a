#include "jsonl.hpp"

#include <cstring>
#include <string_view>

#include "cpu.hpp"

namespace neardup {

namespace {

// Whether "NaN" or "Inf" stands anywhere: compared at every byte without a branch, which compilers make wide.
bool mentions_odd_number(std::string_view text) {
    bool found = false;
    const char* p = text.data();
    const std::size_t n = text.size() < 3 ? 0 : text.size() - 2;
    on_best_cpu([&found, p, n] KERNEL {
        constexpr std::size_t kStep = 4096;
        for (std::size_t begin = 0; begin < n && !found; begin += kStep) {
            const std::size_t end = begin + kStep < n ? begin + kStep : n;
            unsigned char any = 0;
            for (std::size_t i = begin; i < end; ++i)
                any |= static_cast<unsigned char>(((p[i] == 'N') & (p[i + 1] == 'a') & (p[i + 2] == 'N')) |
                                                  ((p[i] == 'I') & (p[i + 1] == 'n') & (p[i + 2] == 'f')));
            found = any != 0;
        }
    });
    return found;
}

// Whether a line of JSON holds one of the words that are no JSON outside of its strings.
bool has_bare_word(std::string_view line) {
    bool inside = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\\')
            ++i;
        else if (line[i] == '"')
            inside = !inside;
        else if (!inside && (line.substr(i, 3) == "NaN" || line.substr(i, 3) == "Inf"))
            return true;
    }
    return false;
}

}  // namespace

LinesSeen look_at_lines(std::span<const char> block) {
    LinesSeen seen;
    const std::string_view text(block.data(), block.size());
    const bool odd = mentions_odd_number(text);
    for (std::size_t begin = 0; begin < text.size();) {
        const void* found = std::memchr(text.data() + begin, '\n', text.size() - begin);
        const std::size_t end = found == nullptr
                                    ? text.size()
                                    : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
        seen.lines += found != nullptr;
        // A line of JSON begins with the brace of its object; anything else is for the careful reader.
        if (end == begin || text[begin] != '{') seen.plain = false;
        if (seen.plain && odd) {
            const std::string_view line = text.substr(begin, end - begin);
            if (mentions_odd_number(line) && has_bare_word(line)) seen.plain = false;
        }
        begin = end + 1;
    }
    return seen;
}

}  // namespace neardup
