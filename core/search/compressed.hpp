#pragma once
// Sorted codes in compressed blocks (Manku, Jain, Das Sarma 2007, section 3.2). docs/reference/format.md has the bits.
//
// Each block decodes on its own, so a search unpacks only the blocks that can contain a prefix, which their keys show.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "search/huffman.hpp"
#include "search/segments.hpp"

namespace neardup {

// How often each place is that of the highest differing bit of two successive codes: bits + 1 counts, the last one
// for equal codes. Throws std::invalid_argument when the codes do not ascend.
std::vector<std::uint64_t> leading_counts(std::span<const std::uint64_t> codes, unsigned bits);

struct Blocks {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint64_t> keys, starts;
};

// Takes ascending codes in any number of pieces and returns blocks when they are full.
class BlockEncoder {
  public:
    BlockEncoder(unsigned bits, std::size_t block, std::span<const std::uint8_t> lengths);

    // The blocks that became full. Throws std::invalid_argument when codes do not ascend or a symbol has no word.
    Blocks add(std::span<const std::uint64_t> codes);
    // The last block, if any code is left.
    Blocks finish();
    unsigned words() const { return bits_ > 64 ? 2 : 1; }

  private:
    template <class Code>
    void add_as(CodeColumn<Code> codes, Blocks& out);
    void put(std::uint64_t value, unsigned count);  // the low `count` bits, at most 64
    void begin(Code128 code);
    void close(Blocks& out);

    unsigned bits_;
    std::size_t block_;
    std::vector<std::uint8_t> lengths_;
    std::vector<std::uint16_t> words_;
    std::vector<std::uint8_t> bytes_;  // the open block
    std::size_t used_ = 0;             // bits of it
    std::uint64_t count_ = 0, start_ = 0;
    Code128 previous_ = 0;
};

// The columns of a compressed file in memory. Nothing in them is trusted beyond its size.
struct CompressedColumns {
    unsigned bits;
    std::size_t block;
    std::uint64_t count;
    std::string_view blocks;
    std::span<const std::uint64_t> keys, starts, checksums;
    std::uint64_t seed;  // block i's checksum is XXH3 with seed + i
    std::span<const std::uint8_t> lengths;
};

inline constexpr std::int64_t kNoDamage = -1;

struct DecodedCodes {
    std::vector<std::uint64_t> codes;
    std::int64_t damaged = kNoDamage;  // the first damaged block, if any
};

// The codes of blocks [first, last), each checked against its checksum and its key.
DecodedCodes decode_blocks(const CompressedColumns& columns, std::size_t first, std::size_t last,
                           unsigned threads);

struct CompressedHits {
    PrefixHits hits;
    std::vector<std::uint64_t> codes;  // of the hits
    std::uint64_t decoded = 0;         // blocks unpacked
    std::int64_t damaged = kNoDamage;
};

// All (query, place) that share the top `prefix` bits and are at most `radius` apart; by query, then place.
CompressedHits search_compressed(const CompressedColumns& columns, std::span<const std::uint64_t> queries,
                                 unsigned prefix, unsigned radius, Seek seek, unsigned threads);

}  // namespace neardup
