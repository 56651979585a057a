#include "compare/facts.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "text/hash.hpp"
#include "text/tokens.hpp"
#include "text/utf8.hpp"

namespace neardup {

namespace {

constexpr std::size_t kLongestTitle = 240, kMostTitleWords = 40, kMostWeakWords = 24, kHeadingWithin = 8192,
                      kFirstLines = 12;

// The shape of one token.
struct Shape {
    std::size_t digits = 0, letters = 0, upper = 0, other = 0;
    bool digit_first = false, upper_first = false, camel = false, underscore = false,
         digits_then_letters = true;
    char32_t first = 0;
};

bool small_but_folds(char32_t c) { return c == 0xDF || c == 0x3C2 || c == 0x149 || c == 0x17F; }

// The number of a word's script, or kLatin, or 0 for what is in none.
std::uint8_t script_of(char32_t c) {
    if (c < 0x80) return (c | 0x20) - 'a' < 26 ? kLatin : 0;
    if (c < 0x370) return kLatin;
    if (c < 0x530) return c < 0x400 ? 33 : 34;                                 // Greek, Cyrillic
    if (c < 0x600) return c < 0x590 ? 35 : 36;                                 // Armenian, Hebrew
    if (c < 0x900) return 37;                                                  // Arabic
    if (c < 0xE00) return static_cast<std::uint8_t>(38 + (c - 0x900) / 0x80);  // ten scripts of India
    if (c < 0xE80) return 48;                                                  // Thai
    if (c < 0x10A0) return c < 0xF00 ? 49 : c < 0x1000 ? 50 : 51;              // Lao, Tibetan, Myanmar
    if (c < 0x1100) return 52;                                                 // Georgian
    if (c < 0x1200 || (c >= 0xAC00 && c < 0xD7B0)) return 53;                  // Hangul
    if (c < 0x1400) return 54;                                                 // Ethiopic
    if (c >= 0x1E00 && c < 0x2000) return c < 0x1F00 ? kLatin : 33;
    if (c >= 0x3040 && c < 0x3100) return 55;                                     // kana
    if ((c >= 0x3400 && c < 0xA000) || (c >= 0x20000 && c < 0x32000)) return 56;  // Han
    if (c >= 0x1780 && c < 0x1800) return 57;                                     // Khmer
    return c >= 0x2000 && c < 0x3040 ? 0 : 58;
}

bool is_ascii(const char* p, std::size_t n) {
    std::uint64_t all = 0;
    for (; n > 8; p += 8, n -= 8) all |= read64(p);
    all |= n == 8 ? read64(p) : read64(p) & ((std::uint64_t{1} << (8 * n)) - 1);
    return (all & 0x8080808080808080u) == 0;
}

// Reads the tokens in order. Most are words of small letters, or of a capital and small letters, with one space between
// them: bits say so of many at a time, and all hashes are made before.
class Collector {
  public:
    Collector(const KnownWords& known, FactsBuffers& buffers, Facts& facts)
        : known_(known),
          text_(buffers.text.bytes()),
          letters_(buffers.letters),
          capitals_(letters_.capitals),
          others_(letters_.others),
          stops_(letters_.stops),
          places_(buffers.places),
          all_known_(buffers.known),
          sentences_(buffers.sentences),
          numbers_(buffers.numbers),
          names_(buffers.names),
          folded_(buffers.folded),
          facts_(facts) {
        const std::size_t n = buffers.hashes.size();
        facts_.tokens.assign(buffers.hashes.begin(), buffers.hashes.end());
        facts_.marks.assign(n, 0);
        facts_.tongues.assign(n, kLatin);
        places_.resize(n);
        known_.find_all(facts_.tokens, buffers.perhaps, buffers.known);
        sentences_.clear();
        numbers_.clear();
        names_.clear();
    }

    void token(std::size_t begin, std::size_t end) {
        places_[count_] = static_cast<std::uint32_t>(begin);
        const std::string_view gap = text_.substr(last_, begin - last_);
        if (count_ != 0 && stops_.from(last_) < begin && ends_sentence(gap, begin)) {
            flush_number();
            close_sentence();
        }
        if (!open_ && others_.from(begin) >= end) {
            const std::size_t capital = capitals_.from(begin);
            if (capital >= end) return plain_word(gap, begin, end);
            if (capital == begin && end - begin > 1 && capitals_.from(begin + 1) >= end)
                return capitalised_word(end);
        }
        const Shape shape = shape_of(begin, end);
        const std::uint64_t hash = facts_.tokens[count_];
        const KnownWords::Entry* known = known_.find(hash);
        std::uint8_t mark = 0;
        // don't, can't: the apostrophe divides words.
        if ((known != nullptr && known->negation) || is_short_not(gap, begin, end)) mark |= kNegation;
        const bool attached = gap.size() == 1 && count_ != 0;
        number(shape, hash, known, gap, begin, attached);
        if (numeric_) mark |= kNumeric;
        const bool starts = count_ == sentence_begin_;
        if (!numeric_ && is_name(shape, starts)) {
            mark |= kName;
            names_.push_back(hash);
        }
        // Numbers and identifiers are of no language. The language of a word depends on nothing around it.
        std::uint8_t tongue = shape.digits != 0 ? 0 : script_of(shape.first);
        if (tongue == kLatin) {
            if (shape.underscore || shape.camel)
                tongue = 0;
            else if (known != nullptr)
                tongue = known->tongue;
        }
        facts_.capitals = facts_.capitals || shape.upper != 0;
        add(mark, tongue, end, shape.letters != 0);
    }

    void finish() {
        flush_number();
        close_sentence();
        facts_.sentences.assign(sentences_.begin(), sentences_.end());
        facts_.numbers.assign(numbers_.begin(), numbers_.end());
        auto& order = facts_.by_hash;
        order.resize(facts_.sentences.size());
        for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = {facts_.sentences[i].hash, i};
        std::sort(order.begin(), order.end(), [](const SentencePlace& a, const SentencePlace& b) {
            return a.hash != b.hash ? a.hash < b.hash : a.place < b.place;
        });
        distinct(names_);
        facts_.name_set.assign(names_.begin(), names_.end());
        names_.clear();
        for (const auto& number : numbers_) names_.push_back(number.hash);
        distinct(names_);
        facts_.number_set.assign(names_.begin(), names_.end());
        find_title();
        // Latin, Cyrillic, Arabic and Devanagari letters, and Han.
        const auto& counts = facts_.tongue_counts;
        std::size_t listed = counts[34] + counts[37] + counts[38] + counts[56], all = 0;
        for (std::size_t i = 1; i < kScripts; ++i) all += counts[i];
        for (std::size_t i = 1; i <= kLatin; ++i) listed += counts[i];
        facts_.negatable = 2 * listed > all;
    }

  private:
    // The "t" of don't.
    bool is_short_not(std::string_view gap, std::size_t begin, std::size_t end) const {
        return end - begin == 1 && text_[begin] == 't' && (gap == "'" || gap == "\u2019");
    }
    // A word of small letters outside of a number: the same as any other token, in fewer steps.
    void plain_word(std::string_view gap, std::size_t begin, std::size_t end) {
        const KnownWords::Entry& known = *all_known_[count_];
        const bool negation = known.negation || is_short_not(gap, begin, end);
        numeric_ = month_before_ = false;
        add(negation ? kNegation : 0, known.tongue, end, true);
    }
    // The same for one that begins with a capital and has two letters or more.
    void capitalised_word(std::size_t end) {
        const std::uint64_t hash = facts_.tokens[count_];
        const KnownWords::Entry& known = *all_known_[count_];
        std::uint8_t mark = known.negation ? kNegation : 0;
        numeric_ = false;
        month_before_ = known.month;
        month_ = hash;
        if (count_ != sentence_begin_) {
            mark |= kName;
            names_.push_back(hash);
        }
        facts_.capitals = true;
        add(mark, known.tongue, end, true);
    }
    void add(std::uint8_t mark, std::uint8_t tongue, std::size_t end, bool letters) {
        facts_.marks[count_] = mark;
        facts_.tongues[count_] = tongue;
        ++facts_.tongue_counts[tongue];
        ++count_;
        letters_before_ = letters;
        last_ = end;
    }
    static void distinct(std::vector<std::uint64_t>& set) {
        std::sort(set.begin(), set.end());
        set.erase(std::unique(set.begin(), set.end()), set.end());
    }

    bool is_capital(std::size_t place) const { return letters_.capitals[place / 64] >> place % 64 & 1; }

    // Looks at the token. The hash of one that is not ASCII is made from its folded case.
    Shape shape_of(std::size_t begin, std::size_t end) {
        Shape shape;
        const char* const from = text_.data() + begin;
        if (is_ascii(from, end - begin)) {
            ascii_shape(begin, end, shape);
            return shape;
        }
        folded_.clear();
        bool lower_before = false;
        for (const char *p = from, *stop = text_.data() + end; p < stop;) {
            const Decoded d = decode_utf8(p, stop);
            const Properties what = properties(d.c);
            const bool digit = what.digit();
            const bool upper = d.c < 0x80 ? is_capital(begin + static_cast<std::size_t>(p - from))
                                          : what.folds() && !small_but_folds(d.c);
            if (p == from) {
                shape.digit_first = digit;
                shape.upper_first = upper;
            }
            if (digit) {
                ++shape.digits;
                shape.digits_then_letters = shape.digits_then_letters && shape.letters == 0;
            } else if (d.c == '_') {
                shape.underscore = true;
            } else {
                ++shape.letters;
                if (shape.first == 0) shape.first = d.c;
            }
            shape.upper += upper;
            shape.camel = shape.camel || (upper && lower_before);
            lower_before = !digit && !upper && d.c != '_';
            if (what.folds()) {
                for (const auto part : case_folded(d.c)) append(part);
            } else {
                folded_.append(p, d.bytes);
            }
            p += d.bytes;
        }
        if (shape.first == 0) shape.first = '0';
        facts_.tokens[count_] = xxh3(folded_, known_.seed());
        return shape;
    }
    // The same for a token of ASCII.
    void ascii_shape(std::size_t begin, std::size_t end, Shape& shape) const {
        bool lower_before = false;
        for (std::size_t i = begin; i < end; ++i) {
            const char c = text_[i];
            const bool digit = static_cast<unsigned char>(c - '0') < 10, upper = is_capital(i);
            const bool letter = !digit && c != '_';
            shape.digits_then_letters = shape.digits_then_letters && !(digit && shape.letters != 0);
            shape.digits += digit;
            shape.underscore = shape.underscore || c == '_';
            if (letter && shape.first == 0) shape.first = static_cast<unsigned char>(c);
            shape.letters += letter;
            shape.upper += upper;
            shape.camel = shape.camel || (upper && lower_before);
            lower_before = letter && !upper;
        }
        shape.digit_first = static_cast<unsigned char>(text_[begin] - '0') < 10;
        shape.upper_first = is_capital(begin);
        if (shape.first == 0) shape.first = '0';
    }
    void append(char32_t c) {
        char bytes[4];
        folded_.append(bytes, encode_utf8(c, bytes));
    }

    // A sentence ends at . ! ? before white space, at a full stop of another script, at an empty line, and at a line
    // break with a mark beside it (lists, headings, tables). A lone line break is often only where a line was wrapped,
    // except between characters of scripts without spaces.
    bool ends_sentence(std::string_view gap, std::size_t begin) const {
        std::size_t breaks = 0;
        bool marks = false, stop = false, wide = false;
        for (std::size_t i = 0; i < gap.size(); ++i) {
            const char c = gap[i];
            const bool space = c == ' ' || c == '\t' || c == '\r' || c == '\n';
            breaks += c == '\n';
            wide = wide || static_cast<signed char>(c) < 0;
            if (stop && (space || static_cast<signed char>(c) < 0)) return true;
            stop = c == '.' || c == '!' || c == '?';
            marks = marks || (!space && c != ',' && c != ';' && c != '(' && c != '"' && c != '\'');
        }
        if (breaks >= 2 || (breaks == 1 && marks)) return true;
        const bool wide_before = last_ > 0 && static_cast<signed char>(text_[last_ - 1]) < 0;
        const bool wide_after = static_cast<signed char>(text_[begin]) < 0;
        if (stop && wide_before) return true;
        if (breaks == 1 && wide_before && wide_after) return single_at(begin);
        if (!wide) return false;
        for (const auto mark : {"\u3002", "\u061F", "\u06D4", "\u0964", "\u0965", "\u1362", "\u104B"})
            if (gap.find(mark) != std::string_view::npos) return true;
        return false;
    }
    bool single_at(std::size_t begin) const {
        const Decoded d = decode_utf8(text_.data() + begin, text_.data() + text_.size());
        return properties(d.c).klass() == Class::single;
    }

    void close_sentence() {
        const auto end = static_cast<std::uint32_t>(count_);
        if (end == sentence_begin_) return;
        std::uint64_t hash = 0;  // a polynomial of the words' hashes, whose seed nobody knows
        for (std::uint32_t i = sentence_begin_; i < end; ++i)
            hash = hash * 0x9E3779B97F4A7C15u + facts_.tokens[i];
        // The same words with other signs between them may be other numbers: 1,500 and 1.500.
        for (auto n = numbers_.rbegin(); n != numbers_.rend() && n->token >= sentence_begin_; ++n)
            hash = fold(hash ^ n->hash, 0xE7037ED1A0B428DBu) ^ n->hash;
        sentences_.push_back({mix(hash), sentence_begin_, end});
        sentence_begin_ = end;
    }

    // Names are words with a capital inside a sentence, and identifiers: amd64, max_size, camelCase, NASA. A capital
    // at the beginning of a sentence says nothing.
    static bool is_name(const Shape& shape, bool starts) {
        if (shape.underscore || (shape.digits != 0 && shape.letters != 0) || shape.camel) return true;
        if (shape.upper >= 2 && shape.upper == shape.letters) return true;
        return shape.upper_first && !starts && shape.letters >= 2;
    }

    // A number is a token of digits, with a unit or not (5, 10GB, v2), and all that follow it after one of . , : / - '
    // (3.11.2, 1,500, 2024-05-13, 12:30). Digits behind letters are part of an identifier: f17, utf-8, python3.11.
    void number(const Shape& shape, std::uint64_t hash, const KnownWords::Entry* known, std::string_view gap,
                std::size_t begin, bool attached) {
        if (!open_ && shape.digits == 0) {
            numeric_ = false;
            month_before_ = known != nullptr && known->month && shape.upper_first;
            month_ = hash;
            return;
        }
        const bool plain =
            shape.digit_first && shape.digits_then_letters && !shape.underscore && shape.letters <= 4;
        const bool version = shape.letters == 1 && (shape.first == 'v' || shape.first == 'V') &&
                             !shape.digit_first && shape.digits > 0 && !shape.underscore;
        const bool joins = attached && std::string_view(".,:/-'").find(gap[0]) != std::string_view::npos;
        const bool dense = gap.empty() && count_ != 0;  // digits of scripts without spaces
        const bool was_open = open_;
        if (open_ && plain && (joins || (dense && shape.letters == 0))) {
            running_ = fold(running_ ^ hash, 0xE7037ED1A0B428DBu) ^ std::rotl(running_, 23) ^
                       (joins ? static_cast<std::uint64_t>(gap[0]) : 0);
            numeric_ = true;
            return;
        }
        if (open_ && known != nullptr && known->unit && gap.find('\n') == std::string_view::npos &&
            gap.size() <= 1) {
            running_ = fold(running_ ^ hash, 0x8EBC6AF09C88C6E3u);
        } else if (open_ && known != nullptr && known->month && shape.upper_first && gap.size() <= 1) {
            numbers_.push_back({hash, static_cast<std::uint32_t>(count_)});
        }
        flush_number();
        // Behind an identifier and a joining mark, digits go on with it.
        const bool inside =
            attached && (gap[0] == '-' || gap[0] == '.' || gap[0] == '/') && !was_open && letters_before_;
        numeric_ = false;
        if ((plain || version) && !inside) {
            open_ = true;
            numeric_ = true;
            number_token_ = static_cast<std::uint32_t>(count_);
            running_ = hash;
            if (month_before_ && gap.size() <= 2) numbers_.push_back({month_, number_token_ - 1});
            // A currency sign, or a minus without a word in front of it.
            if (gap.ends_with('$') || gap.ends_with("\u20AC") || gap.ends_with("\u00A3") ||
                gap.ends_with("\u00A5"))
                running_ = fold(running_ ^ static_cast<unsigned char>(gap.back()), 0x589965CC75374CC3u);
            else if (gap.size() >= 2 && gap.back() == '-' && gap[gap.size() - 2] == ' ' && before_list(begin))
                running_ = fold(running_ ^ '-', 0x589965CC75374CC3u);
        }
        month_before_ = known != nullptr && known->month && shape.upper_first;
        month_ = hash;
    }
    // Whether a minus before this place is a sign, not the mark of a list: something else is on the line before it.
    bool before_list(std::size_t begin) const {
        const std::size_t line = text_.substr(0, begin).rfind('\n');
        const std::size_t from = line == std::string_view::npos ? 0 : line + 1;
        return count_ != 0 && places_[count_ - 1] >= from;
    }
    void flush_number() {
        if (open_ && last_ < text_.size() && text_[last_] == '%')
            running_ = fold(running_ ^ '%', 0x8EBC6AF09C88C6E3u);
        if (open_) numbers_.push_back({running_, number_token_});
        open_ = false;
    }

    // The title: the field `title:` of a front matter, or the first heading of Markdown of the first level near the
    // beginning, or else the first line that looks like one. A deeper heading at the beginning, such as "Synopsis", says
    // little: the line after it belongs to the title. Comments of HTML, menus and sentences are passed over.
    void find_title() {
        std::size_t at = 0, seen = 0, wanted = 0, last = 0;
        bool front = false, comment = false, taken = false, strong = false;
        for (std::size_t lines = 0; at < text_.size() && at < kHeadingWithin && lines < 100; ++lines) {
            std::size_t end = text_.find('\n', at);
            if (end == std::string_view::npos) end = text_.size();
            const std::string_view line = text_.substr(at, end - at);
            const std::size_t first = last;
            while (last < count_ && places_[last] < end) ++last;
            at = end + 1;
            if (line.starts_with("<!--")) comment = true;
            if (comment) {
                comment = line.find("-->") == std::string_view::npos;
                continue;
            }
            const bool rule =
                line.starts_with("---") && line.find_first_not_of("- \r") == std::string_view::npos;
            if (rule && (front || (first == 0 && !taken))) {
                front = !front;
                continue;
            }
            if (first == last) continue;
            const KnownWords::Entry* known = known_.find(facts_.tokens[first]);
            const bool field = known != nullptr && known->field && field_at(first);
            if (front) {
                if (field && !strong) strong = taken = take_title(first + 1, last, line.size());
                continue;
            }
            if (++seen > kFirstLines) break;
            facts_.lines.push_back(line_hash(first, last));
            const bool heading = line.starts_with("# "), deeper = line.starts_with("##");
            if (heading && !strong) {
                facts_.title.clear();
                strong = taken = take_title(first, last, line.size());
            } else if ((!taken && (deeper || field || like_title(line, last - first))) ||
                       (seen <= wanted && taken)) {
                if (strong) continue;
                if (deeper && !taken) wanted = seen + 1;
                taken = true;
                take_title(first + (field ? 1 : 0), last, line.size());
            }
        }
        distinct(facts_.title);
        std::sort(facts_.lines.begin(), facts_.lines.end());
    }
    // A line of the page that may be its title: no sentence, and no menu.
    static bool like_title(std::string_view line, std::size_t words) {
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
        if (words > kMostWeakWords || line.ends_with('.') || line.find(". ") != std::string_view::npos)
            return false;
        std::size_t marks = 0;
        for (const std::string_view mark : {"\u00B7", "\u2022", "\u00BB", "\u203A", "|", ">"})
            for (std::size_t at = 0; (at = line.find(mark, at)) != std::string_view::npos; at += mark.size())
                ++marks;
        return marks < 2;
    }
    bool take_title(std::size_t first, std::size_t last, std::size_t bytes) {
        if (bytes > kLongestTitle || last - first > kMostTitleWords || first >= last ||
            last - first >= facts_.tokens.size())
            return false;
        facts_.titled = true;
        facts_.title_line = line_hash(first, last);
        for (std::size_t i = first; i < last; ++i)
            if (!(facts_.marks[i] & kNumeric)) facts_.title.push_back(facts_.tokens[i]);
        return true;
    }
    std::uint64_t line_hash(std::size_t first, std::size_t last) const {
        std::uint64_t hash = 0;
        for (std::size_t i = first; i < last; ++i)
            if (!(facts_.marks[i] & kNumeric))
                hash = fold(hash ^ facts_.tokens[i], 0xA0761D6478BD642Fu) + hash;
        return hash;
    }
    bool field_at(std::size_t token) const {
        const std::size_t end = text_.find_first_of(":\n", places_[token]);
        return end != std::string_view::npos && text_[end] == ':' &&
               (token + 1 == places_.size() || places_[token + 1] > end);
    }

    const KnownWords& known_;
    const std::string_view text_;  // its ASCII letters are small
    const LetterBits& letters_;
    NextBit capitals_, others_, stops_;
    std::vector<std::uint32_t>& places_;
    const std::vector<const KnownWords::Entry*>& all_known_;  // by token
    // What is found, copied at the end: then a text's facts are allocated once.
    std::vector<Sentence>& sentences_;
    std::vector<Number>& numbers_;
    std::vector<std::uint64_t>& names_;
    std::string& folded_;
    Facts& facts_;
    std::size_t count_ = 0, last_ = 0;  // tokens; the end of the last
    std::uint32_t sentence_begin_ = 0, number_token_ = 0;
    std::uint64_t running_ = 0, month_ = 0;
    bool open_ = false, numeric_ = false, month_before_ = false, letters_before_ = false;
};

}  // namespace

void collect_facts(const Text& source, const KnownWords& known, FactsBuffers& buffers, Facts& facts) {
    facts = {};
    buffers.text.assign(source, {.casefold = false});
    lower_ascii(buffers.text, buffers.letters);
    hash_tokens(buffers.text, Hash::xxh3, known.seed(), buffers.hashes);
    Collector collector(known, buffers, facts);
    for_each_token(buffers.text, [&](std::size_t begin, std::size_t end) { collector.token(begin, end); });
    collector.finish();
}

}  // namespace neardup
