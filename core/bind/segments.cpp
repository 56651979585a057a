#include "search/segments.hpp"
#include "bind/search.hpp"
#include "search/compressed.hpp"
#include "search/header_psm.hpp"

#include <limits>

namespace neardup {

namespace {

unsigned words_in(const Words& codes) {
    check_that(codes.shape(1) == 1 || codes.shape(1) == 2, "a code has one word or two");
    return static_cast<unsigned>(codes.shape(1));
}

void check_words(const Words& codes, unsigned bits) {
    check_that(codes.shape(1) == check_bits(bits), "codes must have one word, or two for 128 bits");
}

void check_prefix(unsigned prefix, unsigned bits) {
    check_that(prefix <= bits, "a prefix cannot be longer than the code");
}

void check_header(std::size_t header_bits, std::size_t bits) {
    check_that(header_bits >= 1 && header_bits <= std::min<std::size_t>(bits, kMostHeaderBits),
               "a header has 1 to 30 bits");
}

void check_block(std::size_t block) {
    check_that(block >= 64 && block <= 65536 && block % 8 == 0,
               "a compressed block has 64 to 65536 bytes, in multiples of 8");
}

void check_code_lengths(std::span<const std::uint8_t> lengths, unsigned bits) {
    check_that(lengths.size() == bits + 1 && is_huffman(lengths),
               "these are not the code lengths of a Huffman code for bits + 1 symbols");
}

auto to_tuple(Blocks&& blocks, unsigned words) {
    return to_columns(blocks.bytes, to_numpy(std::move(blocks.keys), words), blocks.starts);
}

// Keeps the arrays it reads alive.
struct CompressedBlocks {
    Bytes blocks, lengths;
    Words keys;
    Hashes starts, checksums;
    CompressedColumns columns;

    CompressedBlocks(unsigned bits, std::size_t block, std::uint64_t count, Bytes lengths_, Bytes blocks_,
                     Words keys_, Hashes starts_, Hashes checksums_, std::uint64_t seed)
        : blocks(std::move(blocks_)),
          lengths(std::move(lengths_)),
          keys(std::move(keys_)),
          starts(std::move(starts_)),
          checksums(std::move(checksums_)),
          columns{bits,         block,           count, bytes_of(blocks), view(keys),
                  view(starts), view(checksums), seed,  view(lengths)} {
        check_words(keys, bits);
        check_block(block);
        check_code_lengths(view(lengths), bits);
        const std::size_t n = starts.shape(0);
        check_that(keys.shape(0) == n && checksums.shape(0) == n && blocks.shape(0) / block == n &&
                       blocks.shape(0) % block == 0,
                   "each block needs its key, start and checksum");
        check_that((n == 0) == (count == 0), "blocks and count disagree");
    }
};

unsigned check_flips(const Matrix<float>& costs, std::size_t header_bits, unsigned radius, std::size_t sets) {
    const std::size_t bits = costs.shape(1);
    check_that(bits == 32 || bits == 64 || bits == 128, "costs must be float32[queries, bits]");
    check_header(header_bits, bits);
    check_that(radius <= most_flips, "at most 16 bits flip at once");
    check_that(sets <= kMostSets, "at most 16384 flip sets");
    return static_cast<unsigned>(bits);
}

// Keeps the codes it reads alive.
struct ChunkHeaders {
    Words codes;
    HeaderTable table;

    ChunkHeaders(Words codes_, unsigned bits, unsigned header_bits)
        : codes(std::move(codes_)), table(checked(codes, bits, header_bits)) {}

    static HeaderTable checked(const Words& codes, unsigned bits, unsigned header_bits) {
        check_words(codes, bits);
        check_header(header_bits, bits);
        check_that(codes.shape(0) < UINT32_MAX, "too many codes in one chunk");
        return without_gil([&] { return HeaderTable(view(codes), bits, header_bits); });
    }
};

}  // namespace

void bind_segments(nb::module_& module) {
    nb::enum_<Seek>(module, "Seek").value("binary", Seek::binary).value("interpolation", Seek::interpolation);

    module.def(
        "block_checksums",
        [](Bytes bytes, std::size_t block, std::uint64_t seed, Longs which, unsigned threads) {
            check_that(block > 0, "a block has at least one byte");
            const std::size_t blocks = bytes.shape(0) / block + (bytes.shape(0) % block != 0);
            for (const std::int64_t index : view(which))
                check_that(index >= 0 && static_cast<std::size_t>(index) < blocks, "there is no such block");
            return computed(
                [&] { return block_checksums(bytes_of(bytes), block, seed, view(which), threads); });
        },
        "bytes"_array, "block"_a, "seed"_a, "which"_array, "threads"_a = 1,
        "XXH3 of each listed block of some bytes, seeded with seed + its number.");

    module.def(
        "sort_codes",
        [](Words codes, Longs rows) {
            const unsigned words = words_in(codes);
            check_that(codes.shape(0) == rows.shape(0), "each code needs its row");
            auto sorted = without_gil([&] { return sort_codes(view(codes), words, view(rows)); });
            return to_columns(to_numpy(std::move(sorted.codes), words), sorted.rows);
        },
        "codes"_array, "rows"_array, "Codes in ascending order, equal ones by row, and their rows.");

    module.def(
        "is_ascending",
        [](Words codes) {
            const unsigned words = words_in(codes);
            return without_gil([&] { return is_ascending(view(codes), words); });
        },
        "codes"_array, "True when no code is below the one before it.");

    module.def(
        "bounds",
        [](Words codes, Words values, bool after, Seek seek, unsigned threads) {
            const unsigned words = words_in(codes);
            check_that(words_in(values) == words, "codes and values differ in width");
            return computed([&] { return bounds(view(codes), words, view(values), after, seek, threads); });
        },
        "codes"_array, "values"_array, "after"_a = false, "seek"_a = Seek::interpolation, "threads"_a = 1,
        "For each value the first place in ascending codes that is not below it (after: above it), and how "
        "many codes were looked at in all.");

    module.def(
        "search_prefix",
        [](Words codes, Words queries, Longs from, Longs to, unsigned bits, unsigned prefix, unsigned radius,
           unsigned threads) {
            check_words(codes, bits);
            check_words(queries, bits);
            check_prefix(prefix, bits);
            check_that(from.shape(0) == queries.shape(0) && to.shape(0) == queries.shape(0),
                       "each query needs its range");
            for (std::size_t q = 0; q < queries.shape(0); ++q)
                check_that(
                    from(q) >= 0 && from(q) <= to(q) && static_cast<std::size_t>(to(q)) <= codes.shape(0),
                    "a range is outside the codes");
            return computed([&] {
                return search_prefix(view(codes), check_bits(bits), view(queries), view(from), view(to), bits,
                                     prefix, radius, threads);
            });
        },
        "codes"_array, "queries"_array, "first"_array, "last"_array, "bits"_a, "prefix"_a, "radius"_a,
        "threads"_a = 1,
        "Query, place and distance of all ascending codes in places first to last - 1 that share a query's "
        "top prefix bits and lie within radius.");

    module.def(
        "leading_counts",
        [](Words codes, unsigned bits) {
            check_words(codes, bits);
            return computed([&] { return leading_counts(view(codes), bits); });
        },
        "codes"_array, "bits"_a,
        "How often each place is that of the highest differing bit of successive codes; the last count is of "
        "equal ones.");

    module.def(
        "huffman_lengths",
        [](Hashes counts) {
            check_that(counts.shape(0) <= (std::size_t{1} << kHuffmanLimit), "too many symbols");
            return to_numpy(huffman_lengths(view(counts)));
        },
        "counts"_array, "The bounded code lengths that code symbols with these counts in the fewest bits.");

    module.def(
        "huffman_words",
        [](Bytes lengths) {
            check_that(is_huffman(view(lengths)), "these are not the lengths of a Huffman code");
            return to_numpy(huffman_words(view(lengths)));
        },
        "lengths"_array, "The canonical code words of these lengths, in the low bits.");

    nb::class_<BlockEncoder>(module, "BlockEncoder", "Packs ascending codes into compressed blocks.")
        .def(
            "__init__",
            [](BlockEncoder* self, unsigned bits, std::size_t block, Bytes lengths) {
                check_bits(bits);
                check_block(block);
                check_code_lengths(view(lengths), bits);
                construct(self, bits, block, view(lengths));
            },
            "bits"_a, "block"_a, "lengths"_array)
        .def(
            "add",
            [](BlockEncoder& self, Words codes) {
                check_that(codes.shape(1) == self.words(), "codes and encoder differ in width");
                return to_tuple(without_gil([&] { return self.add(view(codes)); }), self.words());
            },
            "codes"_array, "The bytes, keys and starts of the blocks that became full.")
        .def(
            "finish", [](BlockEncoder& self) { return to_tuple(self.finish(), self.words()); },
            "The bytes, key and start of the last block.");

    nb::class_<CompressedBlocks>(
        module, "CompressedBlocks",
        "The columns of a compressed segment; a search unpacks only the blocks it needs.")
        .def(nb::init<unsigned, std::size_t, std::uint64_t, Bytes, Bytes, Words, Hashes, Hashes,
                      std::uint64_t>(),
             "bits"_a, "block"_a, "count"_a, "lengths"_array, "blocks"_array, "keys"_array, "starts"_array,
             "checksums"_array, "seed"_a)
        .def(
            "decode",
            [](const CompressedBlocks& self, std::size_t first, std::size_t last, unsigned threads) {
                check_that(first <= last && last <= self.columns.starts.size(), "there is no such block");
                auto decoded = without_gil([&] { return decode_blocks(self.columns, first, last, threads); });
                return to_columns(to_numpy(std::move(decoded.codes), check_bits(self.columns.bits)),
                                  decoded.damaged);
            },
            "first"_a, "last"_a, "threads"_a = 1,
            "The codes of blocks first to last - 1, and the number of the first damaged block, or -1.")
        .def(
            "search",
            [](const CompressedBlocks& self, Words queries, unsigned prefix, unsigned radius, Seek seek,
               unsigned threads) {
                check_words(queries, self.columns.bits);
                check_prefix(prefix, self.columns.bits);
                check_that(queries.shape(0) <= UINT32_MAX, "too many queries in one batch");
                auto found = without_gil([&] {
                    return search_compressed(self.columns, view(queries), prefix, radius, seek, threads);
                });
                return to_columns(found.hits.query, found.hits.position, found.hits.distance,
                                  to_numpy(std::move(found.codes), check_bits(self.columns.bits)),
                                  found.decoded, found.damaged);
            },
            "queries"_array, "prefix"_a, "radius"_a, "seek"_a = Seek::interpolation, "threads"_a = 1,
            "Query, place, distance and code of all codes that share a query's top prefix bits and lie "
            "within radius; how many blocks were unpacked; and the number of a damaged block, or -1.");

    module.def(
        "heap_flips",
        [](Matrix<float> costs, unsigned header_bits, unsigned radius, std::size_t sets, unsigned threads,
           double limit) {
            const unsigned bits = check_flips(costs, header_bits, radius, sets);
            return computed_rows(sets, [&] {
                return heap_flips(view(costs), bits, header_bits, radius, sets, limit, threads);
            });
        },
        "costs"_array, "header_bits"_a, "radius"_a, "sets"_a, "threads"_a = 1,
        "limit"_a = std::numeric_limits<double>::infinity(),
        "Each query's cheapest sets of at most radius header bits, as masks, none that costs more than "
        "limit; costs "
        "are float32[queries, bits].");

    module.def(
        "template_flips",
        [](Matrix<float> costs, Floats expected, unsigned radius, std::size_t sets, unsigned threads) {
            const auto header_bits = static_cast<unsigned>(std::min<std::size_t>(expected.shape(0), 256));
            const unsigned bits = check_flips(costs, header_bits, radius, sets);
            for (unsigned r = 0; r < header_bits; ++r)
                check_that(expected(r) >= (r == 0 ? 0.0f : expected(r - 1)),
                           "expected costs ascend and are not negative");
            const auto steps = without_gil([&] { return flip_template(view(expected), radius, sets); });
            return computed_rows(
                steps.size(), [&] { return template_flips(view(costs), bits, header_bits, steps, threads); });
        },
        "costs"_array, "expected"_array, "radius"_a, "sets"_a, "threads"_a = 1,
        "The same sets of ranks for every query, as masks of its header: the cheapest if rank r cost "
        "expected[r].");

    nb::class_<ChunkHeaders>(module, "HeaderTable", "PSM over one chunk of ascending codes.")
        .def(nb::init<Words, unsigned, unsigned>(), "codes"_array, "bits"_a, "header_bits"_a)
        .def_prop_ro("bytes", [](const ChunkHeaders& self) { return self.table.bytes(); })
        .def(
            "search",
            [](const ChunkHeaders& self, Words queries, Matrix<std::uint32_t> flips, unsigned radius,
               unsigned threads) {
                const auto column = codes_of(queries, self.table.bits());
                check_that(flips.shape(0) == queries.shape(0), "each query needs its flips");
                for (const std::uint32_t flip : view(flips))
                    check_that(!(flip >> self.table.header_bits()), "a flip is outside the header");
                return computed(
                    [&] { return self.table.search(column, view(flips), flips.shape(1), radius, threads); });
            },
            "queries"_array, "flips"_array, "radius"_a, "threads"_a = 1,
            "Query, place and distance of all codes within radius whose headers are the query's or a flip of "
            "it.");
}

}  // namespace neardup
