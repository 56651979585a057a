#include "compare/changes.hpp"

#include <algorithm>
#include <array>

#include "parallel.hpp"
#include "text/hash.hpp"

namespace neardup {

namespace {

using Hashes = std::vector<std::uint64_t>;
using Tongues = std::array<std::uint32_t, kScripts>;

constexpr std::uint16_t kBrief = 16;       // of kKnown
constexpr std::size_t kPassage = 8;        // passages of fewer words are not looked for
constexpr std::size_t kSection = 100;      // words of a passage that a brief comparison looks for
constexpr std::size_t kForeign = 25;       // words in another language that it looks for
constexpr std::size_t kFewestWords = 8;    // whose language can be known
constexpr std::uint32_t kFewestKnown = 3;  // function words of it among them

std::uint16_t counted(std::size_t n) { return static_cast<std::uint16_t>(std::min<std::size_t>(n, 65535)); }

bool holds(const Hashes& ascending, std::uint64_t hash) {
    return std::binary_search(ascending.begin(), ascending.end(), hash);
}

// How many of `some` are not among `others`; both ascend and have each once.
std::size_t missing(const Hashes& some, const Hashes& others) {
    std::size_t count = 0;
    auto at = others.begin();
    for (const auto hash : some) {
        while (at != others.end() && *at < hash) ++at;
        count += at == others.end() || *at != hash;
    }
    return count;
}

// Hashes with how often each was added; cleared at no cost.
class Bag {
  public:
    void reset(std::size_t most) {
        std::size_t size = 64;
        while (size < 2 * most) size *= 2;
        if (size > slots_.size()) slots_.assign(size, {});
        mask_ = size - 1;
        if (++round_ == 0) {
            slots_.assign(slots_.size(), {});
            round_ = 1;
        }
    }
    void add(std::uint64_t hash) { ++find(hash).count; }
    bool holds(std::uint64_t hash) const {
        for (std::size_t i = hash & mask_; slots_[i].round == round_; i = (i + 1) & mask_)
            if (slots_[i].hash == hash) return true;
        return false;
    }
    // Takes one away, if there is one left.
    bool take(std::uint64_t hash) {
        for (std::size_t i = hash & mask_; slots_[i].round == round_; i = (i + 1) & mask_)
            if (slots_[i].hash == hash) return slots_[i].count != 0 && slots_[i].count-- != 0;
        return false;
    }

  private:
    struct Slot {
        std::uint64_t hash = 0;
        std::uint32_t round = 0, count = 0;
    };
    Slot& find(std::uint64_t hash) {
        std::size_t i = hash & mask_;
        for (; slots_[i].round == round_; i = (i + 1) & mask_)
            if (slots_[i].hash == hash) return slots_[i];
        slots_[i] = {hash, round_, 0};
        return slots_[i];
    }
    std::vector<Slot> slots_;
    std::size_t mask_ = 0;
    std::uint32_t round_ = 0;
};

// Words from `begin` to `end`.
struct Stretch {
    std::uint32_t begin, end;
    std::size_t size() const { return end - begin; }
};

// One side of a pair: its facts, and which of its sentences the other side has.
struct Side {
    const Facts* facts = nullptr;
    std::vector<std::uint8_t> matched;  // by sentence: 1 paired with one of the other text
    std::vector<std::uint8_t> known;    // by sentence: 1 the other text has it, perhaps not as often
    std::vector<Stretch> open;          // sentences that are not paired
    Bag words;                          // of these
    Tongues tongues{};

    void reset(const Facts& of) {
        facts = &of;
        matched.assign(of.sentences.size(), 0);
        known.assign(of.sentences.size(), 0);
        tongues.fill(0);
    }
    template <class Each>
    void each_open(Each each) const {
        for (std::size_t i = 0; i < matched.size(); ++i)
            if (!matched[i]) each(facts->sentences[i]);
    }
    void find_open() {
        open.clear();
        each_open([&](const Sentence& s) { open.push_back({s.begin, s.end}); });
    }
    // The sentences from one to another are open.
    void add_open(std::size_t from, std::size_t to) {
        if (from < to) open.push_back({facts->sentences[from].begin, facts->sentences[to - 1].end});
    }
    // All open words, or only the function words that languages are known by.
    template <bool kFunctionWords = false>
    void collect_words() {
        words.reset(open_words());
        each_word<kFunctionWords>([&](std::uint32_t t) { words.add(facts->tokens[t]); });
    }
    template <bool kFunctionWords, class Each>
    void each_word(Each each) const {
        for (const auto [begin, end] : open)
            for (std::uint32_t t = begin; t < end; ++t)
                if (!kFunctionWords || (facts->tongues[t] != 0 && facts->tongues[t] < kLatin)) each(t);
    }
    std::size_t open_words() const {
        std::size_t count = 0;
        for (const auto& stretch : open) count += stretch.size();
        return count;
    }
    std::size_t longest_open() const {
        std::size_t longest = 0;
        for (const auto& stretch : open) longest = std::max(longest, stretch.size());
        return longest;
    }
    void count_tongues() {
        tongues.fill(0);
        for (const auto [begin, end] : open)
            for (std::uint32_t t = begin; t < end; ++t) ++tongues[facts->tongues[t]];
    }
};

struct Anchor {
    std::uint32_t left, right;
};

class Comparison {
  public:
    void compare(const Facts& a, const Facts& b, std::uint16_t* out) {
        begin(a, b, out);
        left_.reset(a);
        right_.reset(b);
        match();
        align(out);
        left_.find_open();
        right_.find_open();
        if (left_.open.empty() && right_.open.empty()) return;
        left_.collect_words();
        right_.collect_words();
        out[kNumbersLeft] = numbers(left_, right_);
        out[kNumbersRight] = numbers(right_, left_);
        out[kNamesLeft] = names(left_, right_);
        out[kNamesRight] = names(right_, left_);
        out[kLostLeft] = lost(left_, right_);
        out[kLostRight] = lost(right_, left_);
        // Last, for it takes the words away.
        out[kWordsLeft] = counted(alone(left_, right_));
        out[kWordsRight] = counted(alone(right_, left_));
        out[kLanguage] = counted(other_language());
    }

    // The same title as `compare`; another language of kForeign words or more, lost passages of kSection words or more;
    // nothing else.
    void compare_briefly(const Facts& a, const Facts& b, std::uint16_t* out) {
        begin(a, b, out);
        out[kKnown] |= kBrief;
        left_.facts = &a;
        right_.facts = &b;
        walk();
        // Sentences of one text alone are among those that are open now, and so are words of one text alone.
        const bool sections = std::max(left_.longest_open(), right_.longest_open()) >= kSection;
        if (languages_may_differ(a.tongue_counts, b.tongue_counts) &&
            std::min(left_.open_words(), right_.open_words()) >= kForeign) {
            left_.count_tongues();
            right_.count_tongues();
            if (languages_may_differ(left_.tongues, right_.tongues)) out[kLanguage] = foreign_words();
        }
        if (sections) lost_sections(a, b, out);
    }

  private:
    static void begin(const Facts& a, const Facts& b, std::uint16_t* out) {
        std::fill_n(out, kChanges, 0);
        out[kKnown] = static_cast<std::uint16_t>(a.titled | b.titled << 1 | (a.capitals && b.capitals) << 2 |
                                                 (a.negatable && b.negatable) << 3);
        // A line before the title (a banner, a menu) is no other title: the title is still among the first lines.
        if (a.titled && b.titled && !holds(b.lines, a.title_line) && !holds(a.lines, b.title_line)) {
            out[kTitleLeft] = counted(missing(a.title, b.title));
            out[kTitleRight] = counted(missing(b.title, a.title));
        }
    }

    // Whether kForeign words of one text alone or more can be in another language than those of the other, by the words
    // of each language in what is open. Let x and y count the words of a language that are in one text alone: x - y is
    // the difference of these counts, since all other words cancel out. If one language has 3/5 of the words on the left
    // and another one has 3/5 on the right, the differences of these two are apart by 1/5 of all these words at least:
    // of 3 + 3 function words of languages, or of 25 + 25 words of scripts.
    static bool languages_may_differ(const Tongues& a, const Tongues& b) {
        return function_words_may_differ(a, b) || scripts_may_differ(a, b);
    }
    static bool function_words_may_differ(const Tongues& a, const Tongues& b) {
        std::int64_t most = INT32_MIN, least = INT32_MAX;
        for (std::size_t i = 1; i < kLatin; ++i) {
            const std::int64_t more = std::int64_t{a[i]} - b[i];
            if (a[i] >= kFewestKnown) most = std::max(most, more);
            if (b[i] >= kFewestKnown) least = std::min(least, more);
        }
        return most - least >= 2;
    }
    static bool scripts_may_differ(const Tongues& a, const Tongues& b) {
        std::int64_t latin = 0;
        for (std::size_t i = 1; i <= kLatin; ++i) latin += std::int64_t{a[i]} - b[i];
        std::int64_t most = latin, least = latin;
        for (std::size_t i = kLatin + 1; i < kScripts; ++i) {
            const std::int64_t more = std::int64_t{a[i]} - b[i];
            most = std::max(most, more);
            least = std::min(least, more);
        }
        return most - least >= static_cast<std::int64_t>(2 * kForeign / 5);
    }
    // How many words are in another language, if they are kForeign or more. The languages of the open words are counted.
    std::uint16_t foreign_words() {
        // Function words say whether it can be another language in the same letters; they are few.
        if (!scripts_may_differ(left_.tongues, right_.tongues)) {
            compare_words<true>();
            const std::size_t a = language_of(left_.tongues), b = language_of(right_.tongues);
            if (a == 0 || b == 0 || a == b) return 0;
        }
        compare_words();
        const std::size_t words = other_language();
        return words < kForeign ? 0 : counted(words);
    }
    template <bool kFunctionWords = false>
    void compare_words() {
        left_.collect_words<kFunctionWords>();
        right_.collect_words<kFunctionWords>();
        left_.tongues.fill(0);
        right_.tongues.fill(0);
        alone<kFunctionWords>(left_, right_);
        alone<kFunctionWords>(right_, left_);
    }
    // The language that most function words are of; 0 if there are too few to say, or more words of no language.
    static std::size_t language_of(const Tongues& n) {
        std::size_t known = 0, first = 0;
        for (std::size_t i = 1; i < kLatin; ++i) {
            known += n[i];
            if (n[i] > n[first]) first = i;
        }
        return first != 0 && n[first] >= kFewestKnown && n[first] * 5 >= known * 3 ? first : 0;
    }

    // Pairs equal sentences: the k-th occurrence in one text with the k-th in the other.
    void match() {
        anchors_.clear();
        const auto &a = left_.facts->by_hash, &b = right_.facts->by_hash;
        std::size_t i = 0, j = 0;
        while (i < a.size() && j < b.size()) {
            const std::uint64_t x = a[i].hash, y = b[j].hash;
            if (x != y) {
                i += x < y;
                j += y < x;
                continue;
            }
            std::size_t m = i, n = j;
            while (m < a.size() && a[m].hash == x) left_.known[a[m++].place] = 1;
            while (n < b.size() && b[n].hash == x) right_.known[b[n++].place] = 1;
            for (; i < m && j < n; ++i, ++j) {
                anchors_.push_back({a[i].place, b[j].place});
                left_.matched[a[i].place] = right_.matched[b[j].place] = 1;
            }
            i = m;
            j = n;
        }
    }

    // Lost passages of kSection words or more. They lie in stretches of sentences that the other text has not, and few
    // texts have such a long one.
    void lost_sections(const Facts& a, const Facts& b, std::uint16_t* out) {
        left_.reset(a);
        right_.reset(b);
        const auto &x = a.by_hash, &y = b.by_hash;
        for (std::size_t i = 0, j = 0; i < x.size() && j < y.size();) {
            const std::uint64_t p = x[i].hash, q = y[j].hash;
            if (p == q) {
                for (; i < x.size() && x[i].hash == p; ++i) left_.known[x[i].place] = 1;
                for (; j < y.size() && y[j].hash == p; ++j) right_.known[y[j].place] = 1;
            } else {
                i += p < q;
                j += q < p;
            }
        }
        const auto section = [&](const Side& side, const Side& other) -> std::uint16_t {
            std::size_t longest = 0;
            stretches(side.known, side.facts->sentences,
                      [&](std::size_t begin, std::size_t end) { longest = std::max(longest, end - begin); });
            return longest < kSection || met_often(side, other) ? 0 : lost(side, other, kSection);
        };
        out[kLostLeft] = section(left_, right_);
        out[kLostRight] = section(right_, left_);
    }

    // Reads both texts at once, in their own order, and pairs equal sentences; what is not paired is open. Most
    // similar texts have nearly all sentences in the same order.
    void walk() {
        const auto &a = left_.facts->sentences, &b = right_.facts->sentences;
        left_.open.clear();
        right_.open.clear();
        std::size_t i = 0, j = 0;
        while (i < a.size() && j < b.size()) {
            if (a[i].hash != b[j].hash) {
                const std::size_t from = i, other_from = j;
                if (!resumed(i, j)) break;
                left_.add_open(from, i);
                right_.add_open(other_from, j);
            }
            ++i;
            ++j;
        }
        left_.add_open(i, a.size());
        right_.add_open(j, b.size());
    }
    // Moves to the next equal sentences: near ones first, then the next of the left text that the right one has later.
    bool resumed(std::size_t& i, std::size_t& j) const {
        constexpr std::size_t kAhead = 4;
        const auto &a = left_.facts->sentences, &b = right_.facts->sentences;
        for (std::size_t both = 1; both <= kAhead; ++both) {
            for (std::size_t x = 0; x <= both; ++x) {
                const std::size_t y = both - x;
                if (i + x < a.size() && j + y < b.size() && a[i + x].hash == b[j + y].hash) {
                    i += x;
                    j += y;
                    return true;
                }
            }
        }
        const auto& places = right_.facts->by_hash;
        for (std::size_t x = i; x < a.size(); ++x) {
            const SentencePlace wanted{a[x].hash, static_cast<std::uint32_t>(j)};
            const auto at = std::lower_bound(places.begin(), places.end(), wanted,
                                             [](const SentencePlace& one, const SentencePlace& other) {
                                                 return one.hash != other.hash ? one.hash < other.hash
                                                                               : one.place < other.place;
                                             });
            if (at != places.end() && at->hash == wanted.hash) {
                i = x;
                j = at->place;
                return true;
            }
        }
        return false;
    }

    // The longest run of anchors in the order of both texts; between two of them, sentences are added, removed or
    // replaced.
    void align(std::uint16_t* out) {
        std::sort(anchors_.begin(), anchors_.end(), [](Anchor x, Anchor y) { return x.left < y.left; });
        ends_.clear();
        before_.assign(anchors_.size(), -1);
        for (std::size_t i = 0; i < anchors_.size(); ++i) {
            const auto at =
                std::lower_bound(ends_.begin(), ends_.end(), anchors_[i].right,
                                 [&](std::size_t e, std::uint32_t r) { return anchors_[e].right < r; });
            if (at != ends_.begin()) before_[i] = static_cast<std::int64_t>(*(at - 1));
            if (at == ends_.end())
                ends_.push_back(i);
            else
                *at = i;
        }
        out[kMoved] = counted(anchors_.size() - ends_.size());
        std::size_t replaced = 0, negations = 0, lefts = 0, rights = 0;
        auto a = static_cast<std::uint32_t>(left_.matched.size());
        auto b = static_cast<std::uint32_t>(right_.matched.size());
        const auto between = [&](std::uint32_t from, std::uint32_t other_from) {
            const Run one = run(left_, from, a), other = run(right_, other_from, b);
            lefts += one.sentences;
            rights += other.sentences;
            replaced += std::min(one.sentences, other.sentences);
            negations += one.sentences != 0 && other.sentences != 0 && one.negations != other.negations &&
                         one.sentences <= 3 && other.sentences <= 3;
        };
        for (std::int64_t i = ends_.empty() ? -1 : static_cast<std::int64_t>(ends_.back()); i >= 0;
             i = before_[static_cast<std::size_t>(i)]) {
            const Anchor anchor = anchors_[static_cast<std::size_t>(i)];
            between(anchor.left + 1, anchor.right + 1);
            a = anchor.left;
            b = anchor.right;
        }
        between(0, 0);
        out[kSentencesLeft] = counted(lefts - replaced);
        out[kSentencesRight] = counted(rights - replaced);
        out[kReplaced] = counted(replaced);
        out[kNegations] = counted(negations);
    }
    struct Run {
        std::size_t sentences = 0, negations = 0;
    };
    static Run run(const Side& side, std::uint32_t from, std::uint32_t to) {
        Run found;
        for (std::uint32_t i = from; i < to; ++i) {
            if (side.matched[i]) continue;
            ++found.sentences;
            const Sentence& s = side.facts->sentences[i];
            for (std::uint32_t t = s.begin; t < s.end; ++t)
                found.negations += (side.facts->marks[t] & kNegation) != 0;
        }
        return found;
    }

    // Words of one side that the other has not as often; their languages are counted on the way.
    template <bool kFunctionWords = false>
    static std::size_t alone(Side& side, Side& other) {
        std::size_t count = 0;
        side.each_word<kFunctionWords>([&](std::uint32_t t) {
            if (other.words.take(side.facts->tokens[t])) return;
            ++count;
            ++side.tongues[side.facts->tongues[t]];
        });
        return count;
    }

    // The script that most words are in, and for Latin letters the language; 0 if there are too few to say.
    static std::size_t tongue_of(const Side& side) {
        const auto& n = side.tongues;
        std::size_t all = 0, latin = 0, best = 0;
        for (std::size_t i = 1; i < kScripts; ++i) {
            all += n[i];
            if (i <= kLatin)
                latin += n[i];
            else if (n[i] > n[best])
                best = i;
        }
        if (all < kFewestWords) return 0;
        if (best != 0 && n[best] * 5 >= all * 3) return best;
        if (latin * 5 < all * 3) return 0;
        const std::size_t language = language_of(n);
        return language != 0 ? language : kLatin;
    }
    // Of how many words the language is another one, on the side that has fewer.
    std::size_t other_language() const {
        const std::size_t a = tongue_of(left_), b = tongue_of(right_);
        if (a == 0 || b == 0 || a == b) return 0;
        const bool unsure = (a == kLatin && b < kLatin) || (b == kLatin && a < kLatin);
        const auto all = [](const Side& side) {
            std::size_t n = 0;
            for (std::size_t i = 1; i < kScripts; ++i) n += side.tongues[i];
            return n;
        };
        return unsure ? 0 : std::min(all(left_), all(right_));
    }

    std::uint16_t numbers(const Side& side, const Side& other) {
        found_.clear();
        auto at = side.facts->numbers.begin();
        const auto end = side.facts->numbers.end();
        side.each_open([&](const Sentence& s) {
            while (at != end && at->token < s.begin) ++at;
            for (; at != end && at->token < s.end; ++at)
                if (!holds(other.facts->number_set, at->hash)) found_.push_back(at->hash);
        });
        return distinct();
    }
    std::uint16_t names(const Side& side, const Side& other) {
        found_.clear();
        side.each_open([&](const Sentence& s) {
            for (std::uint32_t t = s.begin; t < s.end; ++t) {
                const std::uint64_t word = side.facts->tokens[t];
                if ((side.facts->marks[t] & kName) && !holds(other.facts->name_set, word) &&
                    !other.words.holds(word))
                    found_.push_back(word);
            }
        });
        return distinct();
    }
    std::uint16_t distinct() {
        std::sort(found_.begin(), found_.end());
        return counted(static_cast<std::size_t>(std::unique(found_.begin(), found_.end()) - found_.begin()));
    }

    // The longest run of words in stretches of sentences that the other text has not, of which no eight in a row are in
    // such a stretch of the other text; 0 if it is shorter than `least` words, which are eight or more.
    std::uint16_t lost(const Side& side, const Side& other, std::size_t least = kPassage) {
        const Facts& b = *other.facts;
        std::size_t words = 0;
        stretches(other.known, b.sentences,
                  [&](std::size_t begin, std::size_t end) { words += end - begin + 2 * kPassage; });
        passages_.reset(words);
        stretches(other.known, b.sentences, [&](std::size_t begin, std::size_t end) {
            // A few words of the sentences around it: sentences may be cut elsewhere.
            begin -= std::min<std::size_t>(begin, kPassage - 1);
            end = std::min(end + kPassage - 1, b.tokens.size());
            hash_windows(b.tokens, begin, end);
            for (const auto hash : windows_) passages_.add(hash);
        });
        std::size_t longest = 0;
        const Facts& a = *side.facts;
        stretches(side.known, a.sentences, [&](std::size_t begin, std::size_t end) {
            if (end - begin < std::max(least, longest + 1)) return;
            std::size_t from = begin;  // what is before it is in the other text
            const std::size_t last = std::min(end + kPassage - 1, a.tokens.size());
            const std::size_t first = begin - std::min<std::size_t>(begin, kPassage - 1);
            hash_windows(a.tokens, first, last);
            for (std::size_t i = first; i - first < windows_.size(); ++i) {
                if (!passages_.holds(windows_[i - first])) continue;
                // The words before this window are lost, those in it are not.
                if (i > from) longest = std::max(longest, std::min(i, end) - from);
                from = std::max(from, i + kPassage);
                if (from >= end) break;
            }
            if (end > from) longest = std::max(longest, end - from);
        });
        return longest < least ? 0 : counted(longest);
    }
    // Whether the other text has so many of a sample of the windows that no kSection words in a row can be lost: of these
    // at least kRun samples in a row would be missing.
    bool met_often(const Side& side, const Side& other) {
        constexpr std::size_t kStep = 15, kRun = (kSection - kPassage + 1) / kStep;
        const Facts& a = *side.facts;
        samples_.clear();
        stretches(side.known, a.sentences, [&](std::size_t begin, std::size_t end) {
            if (end - begin < kSection) return;
            for (std::size_t i = begin; i + kPassage <= end; i += kStep) {
                hash_windows(a.tokens, i, i + kPassage);
                samples_.push_back(windows_[0]);
            }
            samples_.push_back(0);  // no run continues from one stretch into another
        });
        std::array<std::uint64_t, 64> wanted{};  // bits by the highest of a hash
        for (const auto hash : samples_) wanted[hash >> 58] |= std::uint64_t{1} << (hash >> 52 & 63);
        found_.clear();
        const Facts& b = *other.facts;
        stretches(other.known, b.sentences, [&](std::size_t begin, std::size_t end) {
            hash_windows(b.tokens, begin, end);
            for (const auto hash : windows_)
                if (wanted[hash >> 58] >> (hash >> 52 & 63) & 1) found_.push_back(hash);
        });
        std::sort(found_.begin(), found_.end());
        std::size_t run = 0;
        for (const auto hash : samples_) {
            run = hash == 0 || holds(found_, hash) ? 0 : run + 1;
            if (run >= kRun) return false;
        }
        return true;
    }
    // Hashes of all runs of kPassage words in a stretch: a polynomial of their hashes, rolled on from word to word.
    void hash_windows(const Hashes& tokens, std::size_t begin, std::size_t end) {
        constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15u;  // odd
        std::uint64_t power = 1, running = 0;
        for (std::size_t i = 0; i < kPassage; ++i) power *= kBase;
        windows_.clear();
        for (std::size_t i = begin; i < end; ++i) {
            running = running * kBase + tokens[i];
            if (i >= begin + kPassage) running -= tokens[i - kPassage] * power;
            if (i + 1 >= begin + kPassage) windows_.push_back(mix(running));
        }
    }
    template <class Each>
    static void stretches(const std::vector<std::uint8_t>& known, const std::vector<Sentence>& sentences,
                          Each each) {
        for (std::size_t i = 0; i < known.size();) {
            if (known[i]) {
                ++i;
                continue;
            }
            std::size_t j = i + 1;
            while (j < known.size() && !known[j]) ++j;
            each(sentences[i].begin, sentences[j - 1].end);
            i = j;
        }
    }

    Side left_, right_;
    std::vector<Anchor> anchors_;
    std::vector<std::size_t> ends_;
    std::vector<std::int64_t> before_;
    Hashes found_, windows_, samples_;
    Bag passages_;
};

}  // namespace

TextFacts::TextFacts(std::span<const Text> texts, std::uint64_t seed, unsigned threads)
    : facts_(texts.size()) {
    const KnownWords known(seed);
    in_parallel_with(
        texts.size(), threads, 16, [] { return FactsBuffers(); },
        [&](FactsBuffers& buffers, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) collect_facts(texts[i], known, buffers, facts_[i]);
        });
}

std::vector<std::uint16_t> TextFacts::changes(std::span<const std::int64_t> left,
                                              std::span<const std::int64_t> right, unsigned threads) const {
    std::vector<std::uint16_t> found(left.size() * kChanges);
    in_parallel(left.size(), threads, 64, [&](std::size_t begin, std::size_t end) {
        Comparison comparison;
        for (std::size_t i = begin; i < end; ++i)
            comparison.compare(facts_[static_cast<std::size_t>(left[i])],
                               facts_[static_cast<std::size_t>(right[i])], &found[i * kChanges]);
    });
    return found;
}

std::vector<std::uint16_t> TextFacts::titles_and_languages(std::span<const std::int64_t> left,
                                                           std::span<const std::int64_t> right,
                                                           unsigned threads) const {
    std::vector<std::uint16_t> found(left.size() * kChanges);
    in_parallel(left.size(), threads, 256, [&](std::size_t begin, std::size_t end) {
        Comparison comparison;
        for (std::size_t i = begin; i < end; ++i)
            comparison.compare_briefly(facts_[static_cast<std::size_t>(left[i])],
                                       facts_[static_cast<std::size_t>(right[i])], &found[i * kChanges]);
    });
    return found;
}

}  // namespace neardup
