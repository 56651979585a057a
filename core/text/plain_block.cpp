#include "text/plain_block.hpp"

#include <algorithm>

namespace neardup {

namespace {

TwoBytes two_bytes(char32_t c, bool casefold) {
    const Properties what = properties(c);
    TwoBytes made{{}, !what.unsafe() && what.klass() != Class::ignored, what.klass()};
    if (!made.plain) return made;
    if (!casefold || !what.folds()) {
        encode_utf8(c, made.bytes);
        return made;
    }
    char folded[16];
    std::size_t size = 0;
    for (const auto part : case_folded(c)) {
        if (size > 8 || properties(part).klass() != Class::word) return {{}, false, made.klass};
        size += encode_utf8(part, folded + size);
    }
    made.plain = size == 2 && made.klass == Class::word;
    std::copy_n(folded, 2, made.bytes);
    return made;
}

TwoByteTable make_table(bool casefold) {
    TwoByteTable table{};
    for (char32_t c = 0x80; c < table.size(); ++c) table[c] = two_bytes(c, casefold);
    return table;
}

}  // namespace

const TwoByteTable& two_byte_table(bool casefold) {
    static const TwoByteTable folded = make_table(true), kept = make_table(false);
    return casefold ? folded : kept;
}

}  // namespace neardup
