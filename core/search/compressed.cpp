#include "search/compressed.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>

#include "parallel.hpp"
#include "text/hash.hpp"

namespace neardup {

namespace {

constexpr std::size_t kPad = 32;       // bytes a decoder may read beyond a block's last bit
constexpr std::size_t kQueries = 256;  // queries a thread takes at a time

KERNEL inline unsigned highest(Code64 x) { return 63u - static_cast<unsigned>(std::countl_zero(x)); }
KERNEL inline unsigned highest(Code128 x) {
    const auto high = static_cast<Code64>(x >> 64);
    return high != 0 ? 64 + highest(high) : highest(static_cast<Code64>(x));
}

template <class Code>
std::vector<std::uint64_t> leading_as(CodeColumn<Code> codes, unsigned bits) {
    std::vector<std::uint64_t> counts(bits + 1, 0);
    for (std::size_t i = 1; i < codes.size(); ++i) {
        const Code before = codes[i - 1], code = codes[i];
        if (code < before) throw std::invalid_argument("codes must ascend");
        const unsigned place = code == before ? bits : highest(static_cast<Code>(code ^ before));
        if (place > bits) throw std::invalid_argument("a code has bits beyond its width");
        ++counts[place];
    }
    return counts;
}

// What to do for each possible beginning of a bit string: take `length` bits, then `below` more; `one` is the bit
// above those, 0 for equal codes.
struct DecodeStep {
    std::uint8_t length = 0, below = 0, one = 0;
};
using DecodeSteps = std::array<DecodeStep, 1 << kHuffmanLimit>;

DecodeSteps decoding_steps(std::span<const std::uint8_t> lengths, unsigned bits) {
    const auto table = huffman_table(lengths);
    DecodeSteps steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const bool equal = table[i].symbol == bits;
        steps[i] = {table[i].length, equal ? std::uint8_t{0} : table[i].symbol,
                    static_cast<std::uint8_t>(equal ? 0 : 1)};
    }
    return steps;
}

// The 64 bits from bit `at` on; the first 57 of them hold, the rest may be zeros.
KERNEL inline std::uint64_t peek57(const char* bytes, std::size_t at) {
    return __builtin_bswap64(read64(bytes + at / 8)) << (at % 8);
}
KERNEL inline std::uint64_t peek64(const char* bytes, std::size_t at) {
    const auto next = static_cast<unsigned char>(bytes[at / 8 + 8]);
    return peek57(bytes, at) | (std::uint64_t{next} >> (8 - at % 8));
}
// The `count` bits from bit `at` on, as a number; count at most 8 * sizeof(Code).
template <class Code>
KERNEL inline Code take(const char* bytes, std::size_t at, unsigned count) {
    if constexpr (sizeof(Code) == 16) {
        if (count > 64)
            return static_cast<Code>(peek64(bytes, at) >> (128 - count)) << 64 |
                   (peek64(bytes, at + count - 64));
    }
    return count == 0 ? 0 : peek64(bytes, at) >> (64 - count);
}

// Decodes one block of `count` codes from `bytes` (padded by kPad); false when its bits make no sense. Of any
// bytes, no more than limit / 8 + kPad of them are read.
template <class Code>
KERNEL inline bool decode(const char* bytes, std::size_t limit, unsigned bits, const DecodeSteps& steps,
                          std::size_t count, Code* out) {
    std::size_t at = bits;
    Code code = take<Code>(bytes, 0, bits);
    out[0] = code;
    for (std::size_t i = 1; i < count; ++i) {
        if (at > limit) return false;
        const std::uint64_t window = peek57(bytes, at);
        const DecodeStep step = steps[window >> (64 - kHuffmanLimit)];
        if (step.length == 0) return false;
        // Two shifts: below may be 0, and a shift by 64 has no meaning.
        Code low = ((window << step.length) >> 1) >> ((63 - step.below) & 63);
        if (step.length + step.below > 57) low = take<Code>(bytes, at + step.length, step.below);
        code ^= static_cast<Code>(step.one) << step.below | low;
        out[i] = code;
        at += std::size_t{step.length} + step.below;
    }
    return at <= limit;
}

// Unpacks blocks one at a time into a buffer of its own.
template <class Code>
class BlockReader {
  public:
    BlockReader(const CompressedColumns& columns, const DecodeSteps& steps)
        : columns_(columns), steps_(steps), padded_(columns.block + kPad, 0) {}

    // The codes of a block; empty when it is damaged.
    std::span<const Code> read(std::size_t index) {
        if (index == held_) return codes_;
        held_ = index;
        const std::size_t block = columns_.block;
        const std::string_view bytes = columns_.blocks.substr(index * block, block);
        const std::uint64_t start = columns_.starts[index];
        const std::uint64_t end =
            index + 1 < columns_.starts.size() ? columns_.starts[index + 1] : columns_.count;
        codes_.clear();
        // Each code after the first takes a bit or more, so a larger count cannot be true.
        if (end <= start || end - start > 8 * block || end > columns_.count) return codes_;
        if (xxh3(bytes, columns_.seed + index) != columns_.checksums[index]) return codes_;
        std::copy(bytes.begin(), bytes.end(), padded_.begin());
        codes_.resize(end - start);
        const bool whole = on_best_cpu([this]() KERNEL {
            return decode<Code>(padded_.data(), 8 * columns_.block, columns_.bits, steps_, codes_.size(),
                                codes_.data());
        });
        if (!whole || codes_.back() != CodeColumn<Code>{columns_.keys}[index]) codes_.clear();
        return codes_;
    }

  private:
    const CompressedColumns& columns_;
    const DecodeSteps& steps_;
    std::vector<char> padded_;
    std::vector<Code> codes_;
    std::size_t held_ = SIZE_MAX;
};

template <class Code>
DecodedCodes decode_as(const CompressedColumns& columns, std::size_t first, std::size_t last,
                       unsigned threads) {
    constexpr std::size_t words = sizeof(Code) / 8;
    DecodedCodes result;
    const auto start = [&](std::size_t index) {
        return index < columns.starts.size() ? columns.starts[index] : columns.count;
    };
    for (std::size_t i = first; i < last; ++i)  // so that what follows writes inside its own place
        if (start(i + 1) <= start(i) || start(i + 1) - start(i) > 8 * columns.block) {
            result.damaged = static_cast<std::int64_t>(i);
            return result;
        }
    const DecodeSteps steps = decoding_steps(columns.lengths, columns.bits);
    const std::uint64_t origin = start(first);
    result.codes.resize(words * (start(last) - origin));
    std::atomic<std::size_t> damaged{last};
    in_parallel(last - first, threads, 64, [&](std::size_t begin, std::size_t end) {
        BlockReader<Code> reader(columns, steps);
        for (std::size_t i = first + begin; i < first + end; ++i) {
            const std::span<const Code> codes = reader.read(i);
            if (codes.empty()) {  // the lowest damaged block is reported, whichever thread finds it
                std::size_t known = damaged;
                while (i < known && !damaged.compare_exchange_weak(known, i)) {
                }
                return;
            }
            std::uint64_t* out = result.codes.data() + words * (start(i) - origin);
            for (const Code code : codes) {
                *out++ = static_cast<std::uint64_t>(code);
                if constexpr (words == 2) *out++ = static_cast<std::uint64_t>(code >> 64);
            }
        }
    });
    if (damaged < last) result = {{}, static_cast<std::int64_t>(damaged.load())};
    return result;
}

template <class Code>
CompressedHits search_as(const CompressedColumns& columns, CodeColumn<Code> queries, unsigned prefix,
                         unsigned radius, Seek seek, unsigned threads) {
    constexpr std::size_t words = sizeof(Code) / 8;
    const DecodeSteps steps = decoding_steps(columns.lengths, columns.bits);
    const CodeColumn<Code> keys{columns.keys};
    // In the order of their codes, neighbours mostly need the block that is unpacked already.
    std::vector<std::uint32_t> order(queries.size());
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {}, [&](std::uint32_t q) { return queries[q]; });

    std::vector<CompressedHits> parts((queries.size() + kQueries - 1) / kQueries);
    in_parallel(queries.size(), threads, kQueries, [&](std::size_t begin, std::size_t end) {
        CompressedHits& part = parts[begin / kQueries];
        BlockReader<Code> reader(columns, steps);
        std::uint64_t probes = 0;
        std::size_t unpacked = SIZE_MAX;
        for (std::size_t i = begin; i < end; ++i) {
            const Code query = queries[order[i]];
            const Prefix<Code> range(query, columns.bits, prefix);
            // A key is its block's last code: the first block with a key not below `low` is the first that can hold
            // the prefix, and the first with a key above `high` is the last.
            for (std::size_t b = bound(keys, range.low, false, seek, probes); b < keys.size(); ++b) {
                const std::span<const Code> codes = reader.read(b);
                if (b != unpacked) ++part.decoded, unpacked = b;
                if (codes.empty()) {
                    part.damaged = static_cast<std::int64_t>(b);
                    return;
                }
                auto at = std::ranges::lower_bound(codes, range.low);
                for (; at != codes.end() && *at <= range.high; ++at) {
                    const unsigned distance = ones(static_cast<Code>(*at ^ query));
                    if (distance > radius) continue;
                    part.hits.query.push_back(order[i]);
                    part.hits.position.push_back(static_cast<std::int64_t>(
                        columns.starts[b] + static_cast<std::size_t>(at - codes.begin())));
                    part.hits.distance.push_back(static_cast<std::uint8_t>(distance));
                    part.codes.push_back(static_cast<std::uint64_t>(*at));
                    if constexpr (words == 2) part.codes.push_back(static_cast<std::uint64_t>(*at >> 64));
                }
                if (keys[b] > range.high) break;
            }
        }
    });

    CompressedHits all;
    std::size_t hits = 0;
    for (const CompressedHits& part : parts) {
        hits += part.hits.query.size();
        all.decoded += part.decoded;
        if (part.damaged != kNoDamage && (all.damaged == kNoDamage || part.damaged < all.damaged))
            all.damaged = part.damaged;
    }
    if (all.damaged != kNoDamage) return all;
    // Back to the order of the queries by counting; the places of one query are in order already.
    std::vector<std::size_t> next(queries.size() + 1, 0);
    for (const CompressedHits& part : parts)
        for (const std::int64_t q : part.hits.query) ++next[static_cast<std::size_t>(q) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    all.hits = {std::vector<std::int64_t>(hits), std::vector<std::int64_t>(hits),
                std::vector<std::uint8_t>(hits)};
    all.codes.resize(words * hits);
    for (const CompressedHits& part : parts)
        for (std::size_t i = 0; i < part.hits.query.size(); ++i) {
            const std::size_t to = next[static_cast<std::size_t>(part.hits.query[i])]++;
            all.hits.query[to] = part.hits.query[i];
            all.hits.position[to] = part.hits.position[i];
            all.hits.distance[to] = part.hits.distance[i];
            for (std::size_t w = 0; w < words; ++w) all.codes[words * to + w] = part.codes[words * i + w];
        }
    return all;
}

}  // namespace

std::vector<std::uint64_t> leading_counts(std::span<const std::uint64_t> codes, unsigned bits) {
    return bits <= 64 ? leading_as<Code64>({codes}, bits) : leading_as<Code128>({codes}, bits);
}

BlockEncoder::BlockEncoder(unsigned bits, std::size_t block, std::span<const std::uint8_t> lengths)
    : bits_(bits),
      block_(block),
      lengths_(lengths.begin(), lengths.end()),
      words_(huffman_words(lengths)),
      bytes_(block + kPad, 0) {}

void BlockEncoder::put(std::uint64_t value, unsigned count) {
    // At most 8 bits a turn: simple, and encoding is bound by the disk anyway.
    while (count > 0) {
        const auto room = static_cast<unsigned>(8 - used_ % 8);
        const unsigned now = std::min(room, count);
        const auto part = static_cast<unsigned>(value >> (count - now)) & ((1u << now) - 1);
        bytes_[used_ / 8] = static_cast<std::uint8_t>(bytes_[used_ / 8] | part << (room - now));
        used_ += now;
        count -= now;
    }
}

void BlockEncoder::begin(Code128 code) {
    if (bits_ > 64) put(static_cast<std::uint64_t>(code >> 64), bits_ - 64);
    put(static_cast<std::uint64_t>(code), std::min(bits_, 64u));
    count_ = 1;
}

void BlockEncoder::close(Blocks& out) {
    if (count_ == 0) return;
    out.bytes.insert(out.bytes.end(), bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(block_));
    out.keys.push_back(static_cast<std::uint64_t>(previous_));
    if (bits_ > 64) out.keys.push_back(static_cast<std::uint64_t>(previous_ >> 64));
    out.starts.push_back(start_);
    start_ += count_;
    count_ = 0;
    used_ = 0;
    std::ranges::fill(bytes_, std::uint8_t{0});
}

template <class Code>
void BlockEncoder::add_as(CodeColumn<Code> codes, Blocks& out) {
    for (std::size_t i = 0; i < codes.size(); ++i) {
        const Code code = codes[i];
        if (bits_ < 8 * sizeof(Code) && code >> bits_ != 0)
            throw std::invalid_argument("a code has bits beyond its width");
        if (count_ > 0 || start_ > 0) {
            const auto before = static_cast<Code>(previous_);
            if (code < before) throw std::invalid_argument("codes must ascend");
            const Code change = code ^ before;
            const unsigned symbol = change == 0 ? bits_ : highest(change);
            const unsigned below = change == 0 ? 0 : symbol;
            const unsigned length = lengths_[symbol];
            if (length == 0)
                throw std::invalid_argument("a place of the highest differing bit has no code word");
            if (used_ + length + below > 8 * block_) {
                close(out);
                begin(code);
            } else {
                put(words_[symbol], length);
                if constexpr (sizeof(Code) == 16)
                    if (below > 64) put(static_cast<std::uint64_t>(change >> 64), below - 64);
                put(static_cast<std::uint64_t>(change), std::min(below, 64u));
                ++count_;
            }
        } else {
            begin(code);
        }
        previous_ = code;
    }
}

Blocks BlockEncoder::add(std::span<const std::uint64_t> codes) {
    Blocks out;
    if (bits_ <= 64)
        add_as(CodeColumn<Code64>{codes}, out);
    else
        add_as(CodeColumn<Code128>{codes}, out);
    return out;
}

Blocks BlockEncoder::finish() {
    Blocks out;
    close(out);
    return out;
}

DecodedCodes decode_blocks(const CompressedColumns& columns, std::size_t first, std::size_t last,
                           unsigned threads) {
    return columns.bits <= 64 ? decode_as<Code64>(columns, first, last, threads)
                              : decode_as<Code128>(columns, first, last, threads);
}

CompressedHits search_compressed(const CompressedColumns& columns, std::span<const std::uint64_t> queries,
                                 unsigned prefix, unsigned radius, Seek seek, unsigned threads) {
    return columns.bits <= 64 ? search_as<Code64>(columns, {queries}, prefix, radius, seek, threads)
                              : search_as<Code128>(columns, {queries}, prefix, radius, seek, threads);
}

}  // namespace neardup
