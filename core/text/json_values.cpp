#include "text/json_values.hpp"

#include <algorithm>

namespace neardup {

JsonPlace pass_json_value(std::span<const unsigned char> bytes, JsonPlace place) {
    auto [at, depth, in_string] = place;
    while (at < bytes.size()) {
        const unsigned char sign = bytes[at];
        if (in_string && sign == '\\') {
            if (at + 1 == bytes.size()) break;
            at += 2;
            continue;
        }
        ++at;
        if (sign == '"') {
            in_string = !in_string;
        } else if (in_string) {
            continue;
        } else if (sign == '[' || sign == '{') {
            ++depth;
        } else if (sign == ']' || sign == '}') {
            --depth;
        } else {
            continue;
        }
        if (depth == 0 && !in_string) break;
    }
    return {at, depth, in_string};
}

std::int64_t json_depth(std::span<const unsigned char> bytes) {
    std::int64_t depth = 0, deepest = 0;
    bool in_string = false;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        const unsigned char sign = bytes[at];
        if (sign == '"') {
            in_string = !in_string;
        } else if (in_string) {
            at += sign == '\\';
        } else if (sign == '[' || sign == '{') {
            deepest = std::max(deepest, ++depth);
        } else if (sign == ']' || sign == '}') {
            --depth;
        }
    }
    return deepest;
}

}  // namespace neardup
