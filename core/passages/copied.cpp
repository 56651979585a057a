#include "passages/copied.hpp"

#include <algorithm>
#include <bit>

#include "parallel.hpp"

namespace neardup {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

std::uint64_t mixed(std::uint64_t x) {
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93u;
    return x ^ x >> 32;
}

// How many tokens two runs begin with in common. Eight are compared at a time: the compiler makes vector instructions
// of that, and of nothing that may stop at each.
std::size_t common_begin(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
    const std::size_t most = std::min(a.size(), b.size());
    std::size_t at = 0;
    for (; at + 8 <= most; at += 8) {
        std::uint64_t differ = 0;
        for (std::size_t i = 0; i < 8; ++i) differ |= a[at + i] ^ b[at + i];
        if (differ != 0) break;
    }
    while (at < most && a[at] == b[at]) ++at;
    return at;
}

// The suffix automaton of a text: every run of tokens in it leads to a state, which knows where it first ends.
class Automaton {
  public:
    struct State {
        std::uint32_t length, link, first_end, edges;
    };

    void build(std::span<const std::uint64_t> text) {
        states_.assign(1, {0, kNone, 0, kNone});
        edges_.clear();
        // At most 3n edges, so at most 3/4 full.
        const std::size_t slots = std::bit_ceil(4 * text.size() + 16);
        slots_.assign(slots, kNone);
        mask_ = slots - 1;
        text_ = text;
        prefixes_.resize(text.size());
        std::uint32_t last = 0;
        for (std::size_t i = 0; i < text.size(); ++i)
            prefixes_[i] = last = append(last, text[i], static_cast<std::uint32_t>(i));
        once_.assign(states_.size(), true);
        for (const State& state : states_)
            if (state.link != kNone) once_[state.link] = false;
    }

    const State& operator[](std::uint32_t state) const { return states_[state]; }

    // Where a token leads from a state, or kNone.
    std::uint32_t next(std::uint32_t state, std::uint64_t token) const {
        // A run that occurs once is followed by one token, and the longer run also occurs once: its state is that of
        // the whole text up to there. So copies of long passages cost one comparison a token.
        if (once_[state]) {
            const std::size_t end = states_[state].first_end + std::size_t{state != 0};
            return end < text_.size() && text_[end] == token ? prefixes_[end] : kNone;
        }
        const std::uint32_t edge = slots_[slot(state, token)];
        return edge == kNone ? kNone : edges_[edge].target;
    }

    // Many such steps at once, from a run that occurs once: how many of the tokens follow it. Moves to the state of the
    // last one.
    std::size_t follow(std::uint32_t& state, std::span<const std::uint64_t> tokens) const {
        if (!once_[state]) return 0;
        const auto here = text_.subspan(states_[state].first_end + std::size_t{state != 0});
        const std::size_t many = common_begin(tokens, here);
        if (many != 0) state = prefixes_[text_.size() - here.size() + many - 1];
        return many;
    }

  private:
    struct Edge {
        std::uint64_t token;
        std::uint32_t from, target, next;
    };

    // The slot of an edge, or the empty slot where it would be stored.
    std::size_t slot(std::uint32_t state, std::uint64_t token) const {
        std::size_t at = mixed(token + state * 0x9E3779B97F4A7C15u) & mask_;
        while (slots_[at] != kNone) {
            const Edge& edge = edges_[slots_[at]];
            if (edge.token == token && edge.from == state) break;
            at = (at + 1) & mask_;
        }
        return at;
    }
    void add(std::size_t slot, std::uint32_t state, std::uint64_t token, std::uint32_t target) {
        slots_[slot] = static_cast<std::uint32_t>(edges_.size());
        edges_.push_back({token, state, target, states_[state].edges});
        states_[state].edges = slots_[slot];
    }

    std::uint32_t append(std::uint32_t last, std::uint64_t token, std::uint32_t end) {
        const auto fresh = static_cast<std::uint32_t>(states_.size());
        states_.push_back({states_[last].length + 1, 0, end, kNone});
        std::uint32_t at = last;
        std::size_t found = 0;
        for (; at != kNone; at = states_[at].link) {
            found = slot(at, token);
            if (slots_[found] != kNone) break;
            add(found, at, token, fresh);
        }
        if (at == kNone) return fresh;
        const std::uint32_t target = edges_[slots_[found]].target;
        if (states_[at].length + 1 == states_[target].length) {
            states_[fresh].link = target;
            return fresh;
        }
        // The shorter runs that lead to `target` now end in more places than the longer ones: they need a state of
        // their own.
        const auto shorter = static_cast<std::uint32_t>(states_.size());
        const State old = states_[target];
        states_.push_back({states_[at].length + 1, old.link, old.first_end, kNone});
        for (std::uint32_t edge = old.edges; edge != kNone; edge = edges_[edge].next) {
            const Edge copied = edges_[edge];
            add(slot(shorter, copied.token), shorter, copied.token, copied.target);
        }
        for (; at != kNone; at = states_[at].link) {
            found = slot(at, token);
            if (slots_[found] == kNone || edges_[slots_[found]].target != target) break;
            edges_[slots_[found]].target = shorter;
        }
        states_[target].link = states_[fresh].link = shorter;
        return fresh;
    }

    std::vector<State> states_;
    std::vector<Edge> edges_;
    std::vector<std::uint32_t> slots_;
    std::span<const std::uint64_t> text_;
    std::vector<std::uint32_t> prefixes_;  // the state of the text up to each place
    std::vector<bool> once_;               // no state links to it: its runs occur in one place
    std::size_t mask_ = 0;
};

constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15u;

// What the first of `width` tokens is multiplied with in the hash of the run behind it.
std::uint64_t power_of(std::size_t width) {
    std::uint64_t power = 1;
    for (std::size_t i = 0; i < width; ++i) power *= kBase;
    return power;
}

// Calls `run` with the hash of every run of `width` tokens.
template <class Run>
void for_each_run(std::span<const std::uint64_t> text, std::size_t width, Run run) {
    const std::uint64_t power = power_of(width);
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        hash = hash * kBase + text[i];
        if (i >= width) hash -= power * text[i - width];
        if (i + 1 >= width) run(mixed(hash));
    }
}

struct Match {
    std::int64_t begin, end, place;
    std::int64_t size() const { return end - begin; }
};

// One document in which passages of others are looked up.
class Whole {
  public:
    void assign(std::span<const std::uint64_t> text, std::size_t width) {
        width_ = width;
        power_ = power_of(width);
        text_ = text;
        built_ = false;
        const std::size_t bits = std::bit_ceil(16 * text.size() + 64);
        shift_ = 64 - std::countr_zero(bits);
        held_.assign(bits / 64, 0);
        for_each_run(text, width, [&](std::uint64_t hash) { held_[(hash >> shift_) / 64] |= bit(hash); });
    }

    // The passages of a part, none inside another, ascending. If their first places in this text do not matter, most
    // pairs of near copies need no automaton.
    void find(std::span<const std::uint64_t> part, bool placed, std::vector<Match>& out) {
        out.clear();
        if (!placed && side_by_side(part, out)) return;
        out.clear();
        if (!built_) automaton_.build(text_);
        built_ = true;
        // A passage begins with a run of `width` tokens that is held, and has no run that is not in the other text: the
        // automaton walks only there.
        for (std::size_t place = next_held(part, 0); place < part.size(); place = next_held(part, place))
            place = walk(part, place, out);
    }

  private:
    std::uint64_t bit(std::uint64_t hash) const { return std::uint64_t{1} << ((hash >> shift_) & 63); }

    // The first place from here on at which a run may be in the other text; the end of the part if there is none.
    std::size_t next_held(std::span<const std::uint64_t> part, std::size_t place) const {
        if (place + width_ > part.size()) return part.size();
        std::uint64_t hash = 0;
        for (std::size_t i = 0; i < width_; ++i) hash = hash * kBase + part[place + i];
        for (;; ++place) {
            const std::uint64_t found = mixed(hash);
            if (held_[(found >> shift_) / 64] & bit(found)) return place;
            if (place + width_ == part.size()) return part.size();
            hash = hash * kBase + part[place + width_] - power_ * part[place];
        }
    }

    // Adds the passages of a part that begins or ends as this text does, with the same number of tokens before or behind
    // each; false if there may be others. A run of which no neighbour is held cannot be longer elsewhere.
    bool side_by_side(std::span<const std::uint64_t> part, std::vector<Match>& out) const {
        std::size_t place = next_held(part, 0);
        while (place < part.size()) {
            std::size_t many = agreeing(part, place, place);
            if (many < width_) many = agreeing(part, place, place + text_.size() - part.size());
            if (many < width_) return false;
            out.push_back({static_cast<std::int64_t>(place), static_cast<std::int64_t>(place + many), 0});
            const std::size_t next = place + many - width_ + 1;
            place = next_held(part, next);
            if (place == next) return false;
        }
        return true;
    }

    // How many tokens of a part from one place on are those of this text from another.
    std::size_t agreeing(std::span<const std::uint64_t> part, std::size_t from, std::size_t here) const {
        if (here >= text_.size()) return 0;  // also below 0
        return common_begin(part.subspan(from), text_.subspan(here));
    }

    // Adds the matches from a place on, up to the first run that is not in the other text: the place behind that run's.
    std::size_t walk(std::span<const std::uint64_t> part, std::size_t from, std::vector<Match>& out) const {
        std::uint32_t state = 0, length = 0;
        for (std::size_t i = from;; ++i) {
            const std::size_t many = automaton_.follow(state, part.subspan(i));
            length += static_cast<std::uint32_t>(many);
            i += many;
            const std::uint32_t before = state, reached = length;
            if (i < part.size()) {
                std::uint32_t target;
                while ((target = automaton_.next(state, part[i])) == kNone && state != 0) {
                    state = automaton_[state].link;
                    length = automaton_[state].length;
                }
                state = target == kNone ? 0 : target;
                length = target == kNone ? 0 : length + 1;
            } else {
                length = 0;
            }
            if (reached >= width_ && length != reached + 1) {
                const auto end = static_cast<std::int64_t>(i);
                out.push_back({end - reached, end, std::int64_t{automaton_[before].first_end} + 1 - reached});
            }
            if (i == part.size()) return i;
            if (length < width_ && i + 1 >= from + width_) return i + 2 - width_;
        }
    }

    Automaton automaton_;
    bool built_ = false;
    std::span<const std::uint64_t> text_;
    std::vector<std::uint64_t> held_;
    std::size_t width_ = 0;
    std::uint64_t power_ = 1;
    int shift_ = 0;
};

// Of matches that overlap the longer keeps what they share. Begins and ends both ascend, so those that take from a
// match from the left take a beginning of it, and those from the right an end.
void share_out(std::vector<Match>& matches, std::vector<Match>& kept, std::vector<std::size_t>& longer) {
    kept = matches;
    longer.clear();
    for (std::size_t i = 0; i < matches.size(); ++i) {
        while (!longer.empty() && matches[longer.back()].size() < matches[i].size()) longer.pop_back();
        if (!longer.empty()) kept[i].begin = std::max(kept[i].begin, matches[longer.back()].end);
        longer.push_back(i);
    }
    longer.clear();
    for (std::size_t i = matches.size(); i-- > 0;) {
        while (!longer.empty() && matches[longer.back()].size() <= matches[i].size()) longer.pop_back();
        if (!longer.empty()) kept[i].end = std::min(kept[i].end, matches[longer.back()].begin);
        longer.push_back(i);
    }
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i].place += kept[i].begin - matches[i].begin;
    std::erase_if(kept, [](const Match& match) { return match.size() <= 0; });
}

}  // namespace

Passages shared_passages(TokenRows documents, std::span<const std::int64_t> parts,
                         std::span<const std::int64_t> wholes, std::size_t width, bool spelled,
                         unsigned threads) {
    Passages all;
    all.words.resize(parts.size());
    all.longest.resize(parts.size());
    std::vector<std::vector<Match>> each(spelled ? parts.size() : 0);
    // One thread handles all pairs of one whole, unless there are very many.
    constexpr std::size_t kMost = 4096;
    std::vector<std::size_t> groups;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (i == 0 || wholes[i] != wholes[i - 1] || i - groups.back() == kMost) groups.push_back(i);
    in_parallel(groups.size(), threads, 1, [&](std::size_t from, std::size_t to) {
        Whole whole;
        std::vector<Match> matches, kept;
        std::vector<std::size_t> longer;
        for (std::size_t group = from; group < to; ++group) {
            const std::size_t end = group + 1 < groups.size() ? groups[group + 1] : parts.size();
            whole.assign(documents[static_cast<std::size_t>(wholes[groups[group]])], width);
            for (std::size_t pair = groups[group]; pair < end; ++pair) {
                whole.find(documents[static_cast<std::size_t>(parts[pair])], spelled, matches);
                share_out(matches, kept, longer);
                for (const Match& match : kept) {
                    all.words[pair] += match.size();
                    all.longest[pair] = std::max(all.longest[pair], match.size());
                }
                if (spelled) each[pair] = kept;
            }
        }
    });
    if (!spelled) return all;
    all.offsets.assign(1, 0);
    for (const auto& matches : each) {
        for (const Match& match : matches) {
            all.in_part.push_back(match.begin);
            all.in_whole.push_back(match.place);
            all.lengths.push_back(match.size());
        }
        all.offsets.push_back(static_cast<std::int64_t>(all.lengths.size()));
    }
    return all;
}

}  // namespace neardup
