#include "text/features.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "simd.hpp"
#include "sort.hpp"
#include "text/select.hpp"
#include "text/shingle.hpp"

namespace neardup {

namespace {

// The table is nearly empty, so that almost every feature is decided at its first slot: a second lookup costs a
// mispredicted branch.
constexpr std::size_t kSlots = 4096, kSlotsPerFeature = 4;

// Features are hashes, so any of their bits can be used.
KERNEL inline std::size_t home(std::uint64_t hash, std::size_t mask) { return hash & mask; }

// Does a sentence end between two tokens? At a line break, an ideographic full stop, or . ! ? before white space.
bool ends_sentence(std::string_view gap) {
    for (std::size_t i = 0; i < gap.size(); ++i) {
        const char c = gap[i];
        if (c == '\n' || gap.substr(i, 3) == "\xE3\x80\x82") return true;
        const bool stop = c == '.' || c == '!' || c == '?';
        if (stop && i + 1 < gap.size() && (gap[i + 1] == ' ' || gap[i + 1] == '\t' || gap[i + 1] == '\r'))
            return true;
    }
    return false;
}

}  // namespace

Extractor::Extractor(const Recipe& recipe)
    : recipe_(recipe), slots_(kSlots), base_(shingle_base(recipe.seed)), base_power_(1) {
    for (unsigned i = 0; i < recipe.width; ++i) base_power_ *= base_;
}

void Extractor::replace_words() {
    std::size_t kept = 0;
    for (const auto token : tokens_) {
        const auto* other = recipe_.words->find(token);
        tokens_[kept] = other == nullptr ? token : *other;
        kept += other == nullptr || *other != 0;
    }
    tokens_.resize(kept);
}

// From left to right, a pair that is a phrase becomes one token; its second word can not begin another.
void Extractor::join_phrases() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i, ++kept) {
        tokens_[kept] = tokens_[i];
        if (i + 1 == tokens_.size()) continue;
        const std::uint64_t pair = pair_hash(tokens_[i], tokens_[i + 1], base_);
        if (recipe_.phrases->find(pair) == nullptr) continue;
        tokens_[kept] = pair;
        ++i;
    }
    tokens_.resize(kept);
}

// Equal for equal sequences of tokens. Two seeds make 128 bits; the tokens' own hashes have 64, like every feature.
void Extractor::digest_tokens() {
    const std::string_view bytes(reinterpret_cast<const char*>(tokens_.data()), tokens_.size() * 8);
    token_digest_ = {xxh3(bytes, draw(recipe_.seed, 0)), xxh3(bytes, draw(recipe_.seed, 1))};
}

void Extractor::read_sentences() {
    hash_tokens(normal_, recipe_.hash, recipe_.seed, tokens_);
    if (remember_) digest_tokens();
    const std::string_view bytes = normal_.bytes();
    std::size_t place = 0, last_end = 0, kept = 0, words = 0;
    std::uint64_t sum = 0;
    const auto close = [&] {
        if (words > 0) tokens_[kept++] = shingle_hash(sum, words);
        sum = words = 0;
    };
    for_each_token(normal_, [&](std::size_t begin, std::size_t end) KERNEL {
        if (ends_sentence(bytes.substr(last_end, begin - last_end))) close();
        const std::uint64_t token = tokens_[place++];
        const auto* other = recipe_.words ? recipe_.words->find(token) : nullptr;
        if (other == nullptr || *other != 0) {
            sum = sum * base_ + (other == nullptr ? token : *other);
            ++words;
        }
        last_end = end;
    });
    close();
    tokens_.resize(kept);
}

void Extractor::read_characters() {
    tokens_.clear();
    const std::string_view bytes = normal_.bytes();
    const char* p = bytes.data();
    const char* end = p + bytes.size();
    bool gap = false;
    while (p < end) {
        const Decoded d = decode_utf8(p, end);
        p += d.bytes;
        const Class klass = properties(d.c).klass();
        const bool dropped = klass == Class::punctuation && !recipe_.normalizer.punctuation;
        const bool space = klass == Class::space || klass == Class::ignored;
        if (recipe_.space == Space::collapse && (space || dropped)) {
            gap = true;
            continue;
        }
        if (dropped || (space && recipe_.space == Space::drop)) continue;
        if (gap && !tokens_.empty()) tokens_.push_back(draw(recipe_.seed, ' '));
        gap = false;
        tokens_.push_back(draw(recipe_.seed, d.c));
    }
}

// Shingle i is the sum of base^(width-1-j) * token[i+j]. A text shorter than a shingle is one shingle.
void Extractor::roll() {
    const std::size_t n = tokens_.size(), width = recipe_.width;
    if (width == 1) {
        shingles_.swap(tokens_);
        if (recipe_.unit == Unit::characters)
            for (auto& shingle : shingles_) shingle = shingle_hash(shingle, 1);
        tokens_.resize(n);  // only its size is asked for from here on
        return;
    }
    shingles_.resize(n == 0 ? 0 : n < width ? 1 : n - width + 1);
    if (n == 0) return;
    if (n < width) {
        std::uint64_t sum = 0;
        for (const std::uint64_t token : tokens_) sum = sum * base_ + token;
        shingles_[0] = shingle_hash(sum, n);
        return;
    }
    on_best_level([this]<Cpu level>() KERNEL {
        // Sums of their own are more products but wait for nothing: faster where a CPU has products of 64 bits side by side.
        if (level == Cpu::avx512 && recipe_.width <= 8)
            separate_sums(tokens_, recipe_.width, base_, shingles_);
        else
            rolling_sums(tokens_, recipe_.width, base_, base_power_, shingles_);
    });
}

std::span<const std::uint64_t> Extractor::sequence(const Text& text) {
    replaced_ = normal_.assign(text, recipe_.normalizer);
    switch (recipe_.unit) {
        case Unit::words:
            hash_tokens(normal_, recipe_.hash, recipe_.seed, tokens_);
            if (remember_) digest_tokens();
            if (recipe_.words) replace_words();
            if (recipe_.phrases) join_phrases();
            break;
        case Unit::sentences: read_sentences(); break;
        case Unit::characters:
            read_characters();
            if (remember_) digest_tokens();
            break;
    }
    roll();
    if (recipe_.select == Select::winnow) {
        winnow(shingles_, recipe_.select_by, scratch_);
        shingles_.swap(scratch_);
    }
    return shingles_;
}

// Distinct features in no particular order, counted in a small table that fits the cache. Seen and unseen features
// take the same path, because a branch could not be predicted: a free slot holds 0, and place 0 is made equal to the
// current feature.
void Extractor::count() {
    counted_.resize(shingles_.size() + 2);
    Counted* const counted = counted_.data();
    std::fill(slots_.begin(), slots_.end(), 0);
    std::uint32_t* slots = slots_.data();
    std::size_t mask = slots_.size() - 1, room = slots_.size() / kSlotsPerFeature;
    std::uint32_t many = 1;
    for (const std::uint64_t hash : shingles_) {
        counted[0].hash = hash;
        std::size_t i = home(hash, mask);
        std::uint32_t slot = slots[i];
        while (counted[slot].hash != hash) slot = slots[i = (i + 1) & mask];
        counted[many] = {hash, 0};
        const std::uint32_t place = slot == 0 ? many : slot;
        ++counted[place].count;
        slots[i] = place;
        many += slot == 0;
        if (many <= room) continue;
        slots_.assign(slots_.size() * 2, 0);
        slots = slots_.data();
        mask = slots_.size() - 1;
        room = slots_.size() / kSlotsPerFeature;
        for (std::uint32_t j = 1; j < many; ++j) {
            std::size_t k = home(counted[j].hash, mask);
            while (slots[k] != 0) k = (k + 1) & mask;
            slots[k] = j;
        }
    }
    counted_.resize(many);
    counted_[0] = counted_.back();  // order is the sorter's business
    counted_.pop_back();
    // A long document must not leave a large table to be cleared for each short one after it.
    if (slots_.size() > kSlots && many * 8 * kSlotsPerFeature < slots_.size()) slots_.resize(kSlots);
}

void Extractor::select() {
    const auto by_hash = [](const Counted& a, const Counted& b) { return a.hash < b.hash; };
    const auto keep_smallest = [&](std::size_t many) {
        if (counted_.size() <= many) return;
        std::nth_element(counted_.begin(), counted_.begin() + static_cast<std::ptrdiff_t>(many),
                         counted_.end(), by_hash);
        counted_.resize(many);
    };
    if (recipe_.select == Select::smallest) return keep_smallest(recipe_.select_by);
    const auto chosen = std::partition(counted_.begin(), counted_.end(),
                                       [&](const Counted& c) { return c.hash % recipe_.select_by == 0; });
    const auto many = static_cast<std::size_t>(chosen - counted_.begin());
    if (many >= recipe_.select_floor || many == counted_.size()) return counted_.resize(many);
    // Too few: the smallest of the others make up the floor.
    std::sort(chosen, counted_.end(), by_hash);
    counted_.resize(std::min<std::size_t>(counted_.size(), recipe_.select_floor));
}

void Extractor::drop_common() {
    const auto rare = std::stable_partition(counted_.begin(), counted_.end(), [&](const Counted& c) {
        return recipe_.common->find(c.hash) == nullptr;
    });
    const auto many = static_cast<std::size_t>(rare - counted_.begin());
    if (many >= recipe_.common_floor || many == counted_.size()) return counted_.resize(many);
    // Nothing else would be left: keep the least common ones.
    std::sort(rare, counted_.end(), [&](const Counted& a, const Counted& b) {
        const auto x = *recipe_.common->find(a.hash), y = *recipe_.common->find(b.hash);
        return x != y ? x < y : a.hash < b.hash;
    });
    counted_.resize(std::min<std::size_t>(counted_.size(), recipe_.common_floor));
}

void Extractor::weigh() {
    const std::size_t n = counted_.size();
    hashes_.resize(n);
    weights_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        hashes_[i] = counted_[i].hash;
        weights_[i] = recipe_.count == Count::constant ? 1 : static_cast<float>(counted_[i].count);
    }
    if (recipe_.count == Count::logarithm)
        for (float& weight : weights_) weight = static_cast<float>(1 + std::log(static_cast<double>(weight)));
    if (recipe_.idf) {
        constexpr std::size_t kAhead = 16;
        const Lookup<float>& idf = *recipe_.idf;
        for (std::size_t i = 0; i < std::min(n, kAhead); ++i) idf.prefetch(hashes_[i]);
        for (std::size_t i = 0; i < n; ++i) {
            if (i + kAhead < n) idf.prefetch(hashes_[i + kAhead]);
            const float* known = idf.find(hashes_[i]);
            weights_[i] *= known == nullptr ? recipe_.unseen_idf : *known;
        }
    }
    if (!recipe_.unit_length) return;
    // Squares are summed as whole numbers of 2^-40, so that the norm does not depend on the order of the features.
    unsigned __int128 squares = 0;
    for (const float weight : weights_) {
        const auto fixed = static_cast<std::uint64_t>(static_cast<double>(weight) * 0x1p20 + 0.5);
        squares += static_cast<unsigned __int128>(fixed) * fixed;
    }
    if (squares == 0) return;
    const double scale = 0x1p20 / std::sqrt(static_cast<double>(squares));
    for (float& weight : weights_) weight = static_cast<float>(weight * scale);
}

Digest128 Extractor::digest(const Text& text) {
    replaced_ = normal_.assign(text, recipe_.normalizer);
    TokenDigest digest(recipe_.seed);
    std::size_t tokens = 0;
    const char* bytes = normal_.bytes().data();
    on_best_cpu([this, &digest, &tokens, bytes]() KERNEL {
        TokenDigest local = digest;
        std::size_t many = 0;
        for_each_token(normal_, [&local, &many, bytes](std::size_t begin, std::size_t end) KERNEL {
            local.add(bytes + begin, end - begin);
            ++many;
        });
        digest = local;
        tokens = many;
    });
    tokens_.resize(tokens);
    return digest.value();
}

void Extractor::token_bytes(const Text& text, std::string& out) {
    constexpr char kEnd = '\xFF';  // never a byte of UTF-8
    out.clear();
    normal_.assign(text, recipe_.normalizer);
    if (recipe_.unit == Unit::characters) {
        read_characters();  // one number for each character, and no two characters have the same
        out.assign(reinterpret_cast<const char*>(tokens_.data()), tokens_.size() * 8);
        return;
    }
    const char* bytes = normal_.bytes().data();
    for_each_token(normal_, [&out, bytes](std::size_t begin, std::size_t end) KERNEL {
        out.append(bytes + begin, end - begin);
        out.push_back(kEnd);
    });
}

void Extractor::count_and_select() {
    count();
    if (recipe_.common) drop_common();
    if (recipe_.select == Select::modulo || recipe_.select == Select::smallest) select();
}

std::span<const std::uint64_t> Extractor::set(const Text& text) {
    sequence(text);
    const bool plain = recipe_.select == Select::all || recipe_.select == Select::winnow;
    if (plain && !recipe_.common) return shingles_;
    count_and_select();
    hashes_.resize(counted_.size());
    for (std::size_t i = 0; i < counted_.size(); ++i) hashes_[i] = counted_[i].hash;
    return hashes_;
}

std::span<const std::uint64_t> Extractor::sorted_set(const Text& text) {
    const auto features = set(text);
    // set() gives one of these two; either may be sorted in place.
    auto& hashes = features.data() == hashes_.data() && !hashes_.empty() ? hashes_ : shingles_;
    sort_by_hash(hashes, scratch_, starts_, [](std::uint64_t hash) { return hash; });
    hashes.resize(static_cast<std::size_t>(std::unique(hashes.begin(), hashes.end()) - hashes.begin()));
    return hashes;
}

// The first places alone if a text has more than can be numbered.
Row Extractor::in_order() {
    hashes_.resize(std::min(shingles_.size(), std::size_t{1} << (64 - kSymbolBits)));
    weights_.resize(hashes_.size());
    for (std::size_t i = 0; i < hashes_.size(); ++i) {
        hashes_[i] = std::uint64_t{i} << kSymbolBits | shingles_[i] >> (64 - kSymbolBits);
        weights_[i] = 1;
    }
    return {hashes_, weights_};
}

Row Extractor::row(const Text& text, bool sorted) {
    sequence(text);
    if (recipe_.ordered) return in_order();
    count_and_select();
    if (sorted) sort_by_hash(counted_, counted_scratch_, starts_, [](const Counted& c) { return c.hash; });
    weigh();
    return {hashes_, weights_};
}

std::vector<std::int64_t> extract_sets(std::span<const Text> texts, const Recipe& recipe,
                                       std::span<const std::int64_t> room, std::span<std::uint64_t> out,
                                       unsigned threads) {
    std::vector<std::int64_t> begins(texts.size() + 1), sizes(texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) begins[i + 1] = begins[i] + room[i];
    for_each_document(texts, recipe, threads, [&](Extractor& extractor, std::size_t row) {
        const auto features = extractor.sorted_set(texts[row]);
        if (features.size() > static_cast<std::size_t>(room[row]))
            throw std::length_error("a document has more features than there is room for");
        std::copy(features.begin(), features.end(), out.begin() + begins[row]);
        sizes[row] = static_cast<std::int64_t>(features.size());
    });
    // Close the gaps: every set moves towards the front, in order, so none runs over another.
    std::int64_t end = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        std::copy(out.begin() + begins[i], out.begin() + begins[i] + sizes[i], out.begin() + end);
        begins[i] = end;
        end += sizes[i];
    }
    begins.back() = end;
    return begins;
}

std::vector<std::uint8_t> same_tokens(std::span<const Text> left, std::span<const Text> right,
                                      const Recipe& recipe, unsigned threads) {
    std::vector<std::uint8_t> same(left.size());
    for_each_document(left, recipe, threads, [&](Extractor& extractor, std::size_t row) {
        std::string one, other;
        extractor.token_bytes(left[row], one);
        extractor.token_bytes(right[row], other);
        same[row] = one == other;
    });
    return same;
}

Ragged extract(std::span<const Text> texts, const Recipe& recipe, unsigned threads) {
    constexpr std::size_t kBlock = 256;
    struct Block {
        std::vector<std::uint64_t> hashes;
        std::vector<float> weights;
        std::size_t replaced = 0;
    };
    Ragged all;
    all.offsets.assign(texts.size() + 1, 0);
    std::vector<Block> blocks((texts.size() + kBlock - 1) / kBlock);
    in_parallel_with(
        texts.size(), threads, kBlock, [&] { return Extractor(recipe); },
        [&](Extractor& extractor, std::size_t begin, std::size_t end) {
            Block& block = blocks[begin / kBlock];
            for (std::size_t i = begin; i < end; ++i) {
                const Row row = extractor.row(texts[i], true);
                block.hashes.insert(block.hashes.end(), row.hashes.begin(), row.hashes.end());
                block.weights.insert(block.weights.end(), row.weights.begin(), row.weights.end());
                block.replaced += extractor.replaced();
                all.offsets[i + 1] = static_cast<std::int64_t>(row.hashes.size());
            }
        });
    for (std::size_t i = 0; i < texts.size(); ++i) all.offsets[i + 1] += all.offsets[i];
    all.hashes.reserve(static_cast<std::size_t>(all.offsets.back()));
    all.weights.reserve(static_cast<std::size_t>(all.offsets.back()));
    for (Block& block : blocks) {
        all.hashes.insert(all.hashes.end(), block.hashes.begin(), block.hashes.end());
        all.weights.insert(all.weights.end(), block.weights.begin(), block.weights.end());
        all.replaced += block.replaced;
        block = {};
    }
    return all;
}

}  // namespace neardup
