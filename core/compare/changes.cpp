#include "compare/changes.hpp"

#include <algorithm>
#include <array>

#include "parallel.hpp"
#include "text/hash.hpp"

namespace neardup {

namespace {

using Hashes = std::vector<std::uint64_t>;

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

// One side of a pair: its facts, and which of its sentences the other side has.
struct Side {
    const Facts* facts = nullptr;
    std::vector<std::uint8_t> matched;  // by sentence: 1 paired with one of the other text
    std::vector<std::uint8_t> known;    // by sentence: 1 the other text has it, perhaps not as often
    Bag words;                          // of sentences that are not matched
    std::array<std::uint32_t, kScripts> tongues{};

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
    void collect_words() {
        std::size_t count = 0;
        each_open([&](const Sentence& s) { count += s.end - s.begin; });
        words.reset(count);
        each_open([&](const Sentence& s) {
            for (std::uint32_t t = s.begin; t < s.end; ++t) words.add(facts->tokens[t]);
        });
    }
    bool any_open() const { return std::find(matched.begin(), matched.end(), 0) != matched.end(); }
};

struct Anchor {
    std::uint32_t left, right;
};

class Comparison {
  public:
    void compare(const Facts& a, const Facts& b, std::uint16_t* out) {
        std::fill_n(out, kChanges, 0);
        left_.reset(a);
        right_.reset(b);
        out[kKnown] = static_cast<std::uint16_t>(a.titled | b.titled << 1 | (a.capitals && b.capitals) << 2 |
                                                 (a.negatable && b.negatable) << 3);
        // A line before the title (a banner, a menu) is no other title: the title is still among the first lines.
        if (a.titled && b.titled && !holds(b.lines, a.title_line) && !holds(a.lines, b.title_line)) {
            out[kTitleLeft] = counted(missing(a.title, b.title));
            out[kTitleRight] = counted(missing(b.title, a.title));
        }
        match();
        align(out);
        if (!left_.any_open() && !right_.any_open()) return;
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

  private:
    // Pairs equal sentences: the k-th occurrence in one text with the k-th in the other.
    void match() {
        anchors_.clear();
        const Facts &a = *left_.facts, &b = *right_.facts;
        std::size_t i = 0, j = 0;
        while (i < a.by_hash.size() && j < b.by_hash.size()) {
            const std::uint64_t x = a.sentences[a.by_hash[i]].hash, y = b.sentences[b.by_hash[j]].hash;
            if (x < y) {
                ++i;
            } else if (y < x) {
                ++j;
            } else {
                std::size_t m = i, n = j;
                while (m < a.by_hash.size() && a.sentences[a.by_hash[m]].hash == x)
                    left_.known[a.by_hash[m++]] = 1;
                while (n < b.by_hash.size() && b.sentences[b.by_hash[n]].hash == x)
                    right_.known[b.by_hash[n++]] = 1;
                for (; i < m && j < n; ++i, ++j) {
                    anchors_.push_back({a.by_hash[i], b.by_hash[j]});
                    left_.matched[a.by_hash[i]] = right_.matched[b.by_hash[j]] = 1;
                }
                i = m;
                j = n;
            }
        }
        std::sort(anchors_.begin(), anchors_.end(), [](Anchor x, Anchor y) { return x.left < y.left; });
    }

    // The longest run of anchors in the order of both texts; between two of them, sentences are added, removed or
    // replaced.
    void align(std::uint16_t* out) {
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
    static std::size_t alone(Side& side, Side& other) {
        std::size_t count = 0;
        side.each_open([&](const Sentence& s) {
            for (std::uint32_t t = s.begin; t < s.end; ++t) {
                if (other.words.take(side.facts->tokens[t])) continue;
                ++count;
                ++side.tongues[side.facts->tongues[t]];
            }
        });
        return count;
    }

    // The script that most words are in, and for Latin letters the language; 0 if there are too few to say.
    static unsigned tongue_of(const Side& side) {
        const auto& n = side.tongues;
        std::size_t all = 0, latin = 0, best = 0, told = 0, first = 0;
        for (std::size_t i = 1; i < kScripts; ++i) {
            all += n[i];
            if (i <= kLatin) latin += n[i];
            if (i < kLatin) {
                told += n[i];
                if (n[i] > n[first]) first = i;
            } else if (i > kLatin && n[i] > n[best]) {
                best = i;
            }
        }
        if (all < 8) return 0;
        if (best != 0 && n[best] * 5 >= all * 3) return static_cast<unsigned>(best);
        if (latin * 5 < all * 3) return 0;
        if (first != 0 && n[first] >= 3 && n[first] * 5 >= told * 3) return static_cast<unsigned>(first);
        return kLatin;
    }
    // Of how many words the language is another one, on the side that has fewer.
    std::size_t other_language() const {
        const unsigned a = tongue_of(left_), b = tongue_of(right_);
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
    // such a stretch of the other text; 0 if it is shorter than eight words.
    std::uint16_t lost(const Side& side, const Side& other) {
        const Facts& b = *other.facts;
        passages_.reset(b.windows.size());
        stretches(other.known, b.sentences, [&](std::size_t begin, std::size_t end) {
            // A few words of the sentences around it: sentences may be cut elsewhere.
            begin -= std::min<std::size_t>(begin, kPassage - 1);
            end = std::min(end + kPassage - 1, b.tokens.size());
            for (std::size_t i = begin; i + kPassage <= end; ++i) passages_.add(b.windows[i]);
        });
        std::size_t longest = 0;
        const Facts& a = *side.facts;
        stretches(side.known, a.sentences, [&](std::size_t begin, std::size_t end) {
            std::size_t from = begin;  // what lies before it is in the other text
            const std::size_t last = std::min(end + kPassage - 1, a.tokens.size());
            for (std::size_t i = begin - std::min<std::size_t>(begin, kPassage - 1); i + kPassage <= last;
                 ++i) {
                if (!passages_.holds(a.windows[i])) continue;
                // The words before this window are lost, those in it are not.
                if (i > from) longest = std::max(longest, std::min(i, end) - from);
                from = std::max(from, i + kPassage);
                if (from >= end) break;
            }
            if (end > from) longest = std::max(longest, end - from);
        });
        return longest < kPassage ? 0 : counted(longest);
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
    Hashes found_;
    Bag passages_;
};

}  // namespace

std::vector<std::uint16_t> changes_of(std::span<const Text> texts, std::span<const std::int64_t> left,
                                      std::span<const std::int64_t> right, std::uint64_t seed,
                                      unsigned threads) {
    const KnownWords known(seed);
    std::vector<Facts> facts(texts.size());
    in_parallel(texts.size(), threads, 16, [&](std::size_t begin, std::size_t end) {
        NormalText text;
        for (std::size_t i = begin; i < end; ++i) collect_facts(texts[i], known, text, facts[i]);
    });
    std::vector<std::uint16_t> found(left.size() * kChanges);
    in_parallel(left.size(), threads, 64, [&](std::size_t begin, std::size_t end) {
        Comparison comparison;
        for (std::size_t i = begin; i < end; ++i)
            comparison.compare(facts[static_cast<std::size_t>(left[i])],
                               facts[static_cast<std::size_t>(right[i])], &found[i * kChanges]);
    });
    return found;
}

}  // namespace neardup
