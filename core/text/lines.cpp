#include "text/lines.hpp"

#include <stdexcept>

#include "parallel.hpp"
#include "text/tokens.hpp"

namespace neardup {

namespace {

bool ends_line(char32_t c) { return c == '\n' || c == '\r'; }

// A line by its place in the source. `blank`: only white space and invisible characters. `half`: the empty line between
// \r and \n.
struct Line {
    std::size_t begin, end;
    bool blank = true, half = false;
};

// Cut at every \n and every \r, so that the k-th of them here is the k-th in the normalised text.
template <class Next>
void split(std::size_t size, Next next, std::vector<Line>& lines) {
    lines.assign(1, {0, 0});
    char32_t before = 0;
    for (std::size_t i = 0; i < size;) {
        const char32_t c = next(i);
        lines.back().end = i;
        if (ends_line(c)) {
            if (c == '\n' && before == '\r') lines.back().half = true;
            lines.push_back({i, i});
        } else {
            const Class klass = properties(c).klass();
            if (klass != Class::space && klass != Class::ignored) lines.back().blank = false;
        }
        before = c;
    }
}

void split(const Text& text, std::vector<Line>& lines) {
    const auto units = [&]<class Unit>(const Unit* p) {
        split(
            text.size,
            [p](std::size_t& i) {
                const char32_t c = p[i++];
                return c > 0x10FFFF ? kReplacement : c;
            },
            lines);
    };
    switch (text.encoding) {
        case Encoding::utf8: {
            const auto* p = static_cast<const char*>(text.data);
            return split(
                text.size,
                [p, end = p + text.size](std::size_t& i) {
                    const Decoded d = decode_utf8(p + i, end);
                    i += d.bytes;
                    return d.c;
                },
                lines);
        }
        case Encoding::latin1: return units(static_cast<const std::uint8_t*>(text.data));
        case Encoding::ucs2: return units(static_cast<const std::uint16_t*>(text.data));
        case Encoding::ucs4: return units(static_cast<const std::uint32_t*>(text.data));
    }
}

struct One {
    std::vector<std::uint64_t> digests;
    std::vector<std::int64_t> begins, ends, tokens;
};

class Parting {
  public:
    Parting(const Normalizer& how, Part part, std::size_t least, std::uint64_t seed)
        : how_(how), part_(part), least_(least), seed_(seed) {}

    void operator()(const Text& text, One& out) {
        normal_.assign(text, how_);
        split(text, lines_);
        merge();
        const std::string_view bytes = normal_.bytes();
        std::size_t behind = 0, cut = 0, now = none;
        TokenDigest digest(seed_);
        std::size_t count = 0;
        const auto finish = [&] {
            if (now != none && count >= least_) {
                const Digest128 value = digest.value();
                out.digests.push_back(value.low);
                out.digests.push_back(value.high);
                out.begins.push_back(static_cast<std::int64_t>(parts_[now].begin));
                out.ends.push_back(static_cast<std::int64_t>(parts_[now].end));
                out.tokens.push_back(static_cast<std::int64_t>(count));
            }
            digest = TokenDigest(seed_);
            count = 0;
        };
        for_each_token(normal_, [&](std::size_t begin, std::size_t end) {
            for (; behind < begin; ++behind) cut += ends_line(static_cast<unsigned char>(bytes[behind]));
            behind = end;
            if (cut >= part_of_.size()) throw std::logic_error("lines were lost in normalising");
            if (part_of_[cut] != now) {
                finish();
                now = part_of_[cut];
            }
            digest.add(bytes.data() + begin, end - begin);
            ++count;
        });
        finish();
        for (; behind < bytes.size(); ++behind) cut += ends_line(static_cast<unsigned char>(bytes[behind]));
        if (cut + 1 != part_of_.size()) throw std::logic_error("lines were lost in normalising");
    }

  private:
    static constexpr std::size_t none = ~std::size_t{0};

    // Lines to parts: which part each line belongs to, and where the parts begin and end.
    void merge() {
        parts_.clear();
        part_of_.clear();
        bool open = false;
        for (const Line& line : lines_) {
            const bool fresh =
                part_ == Part::line ? !line.half || parts_.empty() : !line.blank && !open && !line.half;
            if (fresh) parts_.push_back({line.begin, line.end});
            if (!parts_.empty()) parts_.back().end = line.end;
            if (!line.half) open = !line.blank;
            part_of_.push_back(parts_.empty() ? none : parts_.size() - 1);
        }
    }

    const Normalizer how_;
    const Part part_;
    const std::size_t least_;
    const std::uint64_t seed_;
    NormalText normal_;
    std::vector<Line> lines_;
    struct Place {
        std::size_t begin, end;
    };
    std::vector<Place> parts_;
    std::vector<std::size_t> part_of_;
};

}  // namespace

Parts parts_of(std::span<const Text> texts, const Normalizer& how, Part part, std::size_t least,
               std::uint64_t seed, unsigned threads) {
    std::vector<One> each(texts.size());
    in_parallel(texts.size(), threads, 16, [&](std::size_t from, std::size_t to) {
        Parting parting(how, part, least, seed);
        for (std::size_t row = from; row < to; ++row) parting(texts[row], each[row]);
    });
    Parts all;
    all.offsets.assign(1, 0);
    const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    for (const One& one : each) {
        append(all.digests, one.digests);
        append(all.begins, one.begins);
        append(all.ends, one.ends);
        append(all.tokens, one.tokens);
        all.offsets.push_back(static_cast<std::int64_t>(all.begins.size()));
    }
    return all;
}

Repeated group_parts(std::span<const std::uint64_t> digests, std::span<const std::int64_t> numbers,
                     std::size_t least, unsigned threads) {
    struct Item {
        std::uint64_t hash, rest;
        std::int64_t place;
        bool same(const Item& other) const { return hash == other.hash && rest == other.rest; }
        bool less(const Item& other) const {
            if (hash != other.hash) return hash < other.hash;
            return rest != other.rest ? rest < other.rest : place < other.place;
        }
    };
    Buffer<Item> items(numbers.size());
    for (std::size_t i = 0; i < items.size(); ++i)
        items[i] = {digests[2 * i], digests[2 * i + 1], numbers[i]};
    return group(items, least, threads);
}

}  // namespace neardup
