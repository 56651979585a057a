#include "search/segments.hpp"
#include "bind/module.hpp"
#include "search/compressed.hpp"
#include "search/header_psm.hpp"

namespace neardup {

namespace {

unsigned words_of(unsigned bits) {
    if (bits != 32 && bits != 64 && bits != 128) throw nb::value_error("bits must be 32, 64 or 128");
    return bits > 64 ? 2 : 1;
}

unsigned words_in(const Matrix<std::uint64_t>& codes) {
    if (codes.shape(1) != 1 && codes.shape(1) != 2) throw nb::value_error("a code has one word or two");
    return static_cast<unsigned>(codes.shape(1));
}

void check_words(const Matrix<std::uint64_t>& codes, unsigned bits) {
    if (codes.shape(1) != words_of(bits))
        throw nb::value_error("codes must have one word, or two for 128 bits");
}

void check_prefix(unsigned prefix, unsigned bits) {
    if (prefix > bits) throw nb::value_error("a prefix cannot be longer than the code");
}

void check_block(std::size_t block) {
    if (block < 64 || block > 65536 || block % 8 != 0)
        throw nb::value_error("a compressed block has 64 to 65536 bytes, in multiples of 8");
}

void check_lengths(std::span<const std::uint8_t> lengths, unsigned bits) {
    if (lengths.size() != bits + 1 || !is_huffman(lengths))
        throw nb::value_error("these are not the code lengths of a Huffman code for bits + 1 symbols");
}

std::string_view bytes_of(const Column<std::uint8_t>& column) {
    return {reinterpret_cast<const char*>(column.data()), column.shape(0)};
}

auto to_tuple(PrefixHits&& hits) {
    return std::make_tuple(to_numpy(std::move(hits.query)), to_numpy(std::move(hits.position)),
                           to_numpy(std::move(hits.distance)));
}

auto to_tuple(Blocks&& blocks, unsigned words) {
    return std::make_tuple(to_numpy(std::move(blocks.bytes)), to_numpy(std::move(blocks.keys), words),
                           to_numpy(std::move(blocks.starts)));
}

// Keeps the arrays it reads alive.
struct CompressedBlocks {
    Column<std::uint8_t> blocks, lengths;
    Matrix<std::uint64_t> keys;
    Column<std::uint64_t> starts, checksums;
    CompressedColumns columns;

    CompressedBlocks(unsigned bits, std::size_t block, std::uint64_t count, Column<std::uint8_t> lengths_,
                     Column<std::uint8_t> blocks_, Matrix<std::uint64_t> keys_, Column<std::uint64_t> starts_,
                     Column<std::uint64_t> checksums_, std::uint64_t seed)
        : blocks(std::move(blocks_)),
          lengths(std::move(lengths_)),
          keys(std::move(keys_)),
          starts(std::move(starts_)),
          checksums(std::move(checksums_)),
          columns{bits,         block,           count, bytes_of(blocks), view(keys),
                  view(starts), view(checksums), seed,  view(lengths)} {
        check_words(keys, bits);
        check_block(block);
        check_lengths(view(lengths), bits);
        const std::size_t n = starts.shape(0);
        if (keys.shape(0) != n || checksums.shape(0) != n || blocks.shape(0) / block != n ||
            blocks.shape(0) % block != 0)
            throw nb::value_error("each block needs its key, start and checksum");
        if ((n == 0) != (count == 0)) throw nb::value_error("blocks and count disagree");
    }
};

unsigned check_flips(const Matrix<float>& costs, unsigned header_bits, unsigned radius, std::size_t sets) {
    const std::size_t bits = costs.shape(1);
    if (bits != 32 && bits != 64 && bits != 128)
        throw nb::value_error("costs must be float32[queries, bits]");
    if (header_bits < 1 || header_bits > std::min<std::size_t>(bits, kMostHeaderBits))
        throw nb::value_error("a header has 1 to 30 bits");
    if (radius > most_flips) throw nb::value_error("at most 16 bits flip at once");
    if (sets > 16384) throw nb::value_error("at most 16384 flip sets");
    return static_cast<unsigned>(bits);
}

// Keeps the codes it reads alive.
struct ChunkHeaders {
    Matrix<std::uint64_t> codes;
    HeaderTable table;

    ChunkHeaders(Matrix<std::uint64_t> codes_, unsigned bits, unsigned header_bits)
        : codes(std::move(codes_)), table(checked(codes, bits, header_bits)) {}

    static HeaderTable checked(const Matrix<std::uint64_t>& codes, unsigned bits, unsigned header_bits) {
        check_words(codes, bits);
        if (header_bits < 1 || header_bits > std::min(bits, kMostHeaderBits))
            throw nb::value_error("a header has 1 to 30 bits");
        if (codes.shape(0) >= UINT32_MAX) throw nb::value_error("too many codes in one chunk");
        nb::gil_scoped_release free;
        return {view(codes), bits, header_bits};
    }
};

}  // namespace

void bind_segments(nb::module_& module) {
    nb::enum_<Seek>(module, "Seek").value("binary", Seek::binary).value("interpolation", Seek::interpolation);

    module.def(
        "block_checksums",
        [](Column<std::uint8_t> bytes, std::size_t block, std::uint64_t seed, Column<std::int64_t> which,
           unsigned threads) {
            if (block == 0) throw nb::value_error("a block has at least one byte");
            const std::size_t blocks = bytes.shape(0) / block + (bytes.shape(0) % block != 0);
            for (const std::int64_t index : view(which))
                if (index < 0 || static_cast<std::size_t>(index) >= blocks)
                    throw nb::value_error("there is no such block");
            std::vector<std::uint64_t> sums;
            {
                nb::gil_scoped_release free;
                sums = block_checksums(bytes_of(bytes), block, seed, view(which), threads);
            }
            return to_numpy(std::move(sums));
        },
        "bytes"_a.noconvert(), "block"_a, "seed"_a, "which"_a.noconvert(), "threads"_a = 1,
        "XXH3 of each listed block of some bytes, seeded with seed + its number.");

    module.def(
        "sort_codes",
        [](Matrix<std::uint64_t> codes, Column<std::int64_t> rows) {
            const unsigned words = words_in(codes);
            if (codes.shape(0) != rows.shape(0)) throw nb::value_error("each code needs its row");
            SortedCodes sorted;
            {
                nb::gil_scoped_release free;
                sorted = sort_codes(view(codes), words, view(rows));
            }
            return std::make_tuple(to_numpy(std::move(sorted.codes), words),
                                   to_numpy(std::move(sorted.rows)));
        },
        "codes"_a.noconvert(), "rows"_a.noconvert(),
        "Codes in ascending order, equal ones by row, and their rows.");

    module.def(
        "is_ascending",
        [](Matrix<std::uint64_t> codes) {
            const unsigned words = words_in(codes);
            nb::gil_scoped_release free;
            return is_ascending(view(codes), words);
        },
        "codes"_a.noconvert(), "True when no code is below the one before it.");

    module.def(
        "bounds",
        [](Matrix<std::uint64_t> codes, Matrix<std::uint64_t> values, bool after, Seek seek,
           unsigned threads) {
            const unsigned words = words_in(codes);
            if (words_in(values) != words) throw nb::value_error("codes and values differ in width");
            Positions found;
            {
                nb::gil_scoped_release free;
                found = bounds(view(codes), words, view(values), after, seek, threads);
            }
            return std::make_tuple(to_numpy(std::move(found.positions)), found.probes);
        },
        "codes"_a.noconvert(), "values"_a.noconvert(), "after"_a = false, "seek"_a = Seek::interpolation,
        "threads"_a = 1,
        "For each value the first place in ascending codes that is not below it (after: above it), and how "
        "many codes "
        "were looked at in all.");

    module.def(
        "search_prefix",
        [](Matrix<std::uint64_t> codes, Matrix<std::uint64_t> queries, Column<std::int64_t> from,
           Column<std::int64_t> to, unsigned bits, unsigned prefix, unsigned radius, unsigned threads) {
            check_words(codes, bits);
            check_words(queries, bits);
            check_prefix(prefix, bits);
            if (from.shape(0) != queries.shape(0) || to.shape(0) != queries.shape(0))
                throw nb::value_error("each query needs its range");
            for (std::size_t q = 0; q < queries.shape(0); ++q)
                if (from(q) < 0 || from(q) > to(q) || static_cast<std::size_t>(to(q)) > codes.shape(0))
                    throw nb::value_error("a range is outside the codes");
            PrefixHits hits;
            {
                nb::gil_scoped_release free;
                hits = search_prefix(view(codes), words_of(bits), view(queries), view(from), view(to), bits,
                                     prefix, radius, threads);
            }
            return to_tuple(std::move(hits));
        },
        "codes"_a.noconvert(), "queries"_a.noconvert(), "first"_a.noconvert(), "last"_a.noconvert(), "bits"_a,
        "prefix"_a, "radius"_a, "threads"_a = 1,
        "Query, place and distance of all ascending codes in places first to last - 1 that share a query's "
        "top prefix "
        "bits and lie within radius.");

    module.def(
        "leading_counts",
        [](Matrix<std::uint64_t> codes, unsigned bits) {
            check_words(codes, bits);
            std::vector<std::uint64_t> counts;
            {
                nb::gil_scoped_release free;
                counts = leading_counts(view(codes), bits);
            }
            return to_numpy(std::move(counts));
        },
        "codes"_a.noconvert(), "bits"_a,
        "How often each place is that of the highest differing bit of successive codes; the last count is of "
        "equal ones.");

    module.def(
        "huffman_lengths",
        [](Column<std::uint64_t> counts) {
            if (counts.shape(0) > (std::size_t{1} << kHuffmanLimit))
                throw nb::value_error("too many symbols");
            return to_numpy(huffman_lengths(view(counts)));
        },
        "counts"_a.noconvert(),
        "The bounded code lengths that code symbols with these counts in the fewest bits.");

    module.def(
        "huffman_words",
        [](Column<std::uint8_t> lengths) {
            if (!is_huffman(view(lengths)))
                throw nb::value_error("these are not the lengths of a Huffman code");
            return to_numpy(huffman_words(view(lengths)));
        },
        "lengths"_a.noconvert(), "The canonical code words of these lengths, in the low bits.");

    nb::class_<BlockEncoder>(module, "BlockEncoder", "Packs ascending codes into compressed blocks.")
        .def(
            "__init__",
            [](BlockEncoder* self, unsigned bits, std::size_t block, Column<std::uint8_t> lengths) {
                words_of(bits);
                check_block(block);
                check_lengths(view(lengths), bits);
                std::construct_at(self, bits, block, view(lengths));
            },
            "bits"_a, "block"_a, "lengths"_a.noconvert())
        .def(
            "add",
            [](BlockEncoder& self, Matrix<std::uint64_t> codes) {
                if (codes.shape(1) != self.words())
                    throw nb::value_error("codes and encoder differ in width");
                Blocks blocks;
                {
                    nb::gil_scoped_release free;
                    blocks = self.add(view(codes));
                }
                return to_tuple(std::move(blocks), self.words());
            },
            "codes"_a.noconvert(), "The bytes, keys and starts of the blocks that became full.")
        .def(
            "finish", [](BlockEncoder& self) { return to_tuple(self.finish(), self.words()); },
            "The bytes, key and start of the last block.");

    nb::class_<CompressedBlocks>(module, "CompressedBlocks",
                                 "The columns of a compressed segment, searchable as they lie.")
        .def(nb::init<unsigned, std::size_t, std::uint64_t, Column<std::uint8_t>, Column<std::uint8_t>,
                      Matrix<std::uint64_t>, Column<std::uint64_t>, Column<std::uint64_t>, std::uint64_t>(),
             "bits"_a, "block"_a, "count"_a, "lengths"_a.noconvert(), "blocks"_a.noconvert(),
             "keys"_a.noconvert(), "starts"_a.noconvert(), "checksums"_a.noconvert(), "seed"_a)
        .def(
            "decode",
            [](const CompressedBlocks& self, std::size_t first, std::size_t last, unsigned threads) {
                if (first > last || last > self.columns.starts.size())
                    throw nb::value_error("there is no such block");
                DecodedCodes decoded;
                {
                    nb::gil_scoped_release free;
                    decoded = decode_blocks(self.columns, first, last, threads);
                }
                return std::make_tuple(to_numpy(std::move(decoded.codes), words_of(self.columns.bits)),
                                       decoded.damaged);
            },
            "first"_a, "last"_a, "threads"_a = 1,
            "The codes of blocks first to last - 1, and the number of the first damaged block, or -1.")
        .def(
            "search",
            [](const CompressedBlocks& self, Matrix<std::uint64_t> queries, unsigned prefix, unsigned radius,
               Seek seek, unsigned threads) {
                check_words(queries, self.columns.bits);
                check_prefix(prefix, self.columns.bits);
                if (queries.shape(0) > UINT32_MAX) throw nb::value_error("too many queries in one batch");
                CompressedHits found;
                {
                    nb::gil_scoped_release free;
                    found = search_compressed(self.columns, view(queries), prefix, radius, seek, threads);
                }
                return std::make_tuple(to_numpy(std::move(found.hits.query)),
                                       to_numpy(std::move(found.hits.position)),
                                       to_numpy(std::move(found.hits.distance)),
                                       to_numpy(std::move(found.codes), words_of(self.columns.bits)),
                                       found.decoded, found.damaged);
            },
            "queries"_a.noconvert(), "prefix"_a, "radius"_a, "seek"_a = Seek::interpolation, "threads"_a = 1,
            "Query, place, distance and code of all codes that share a query's top prefix bits and lie "
            "within radius; "
            "how many blocks were unpacked; and the number of a damaged block, or -1.");

    module.def(
        "heap_flips",
        [](Matrix<float> costs, unsigned header_bits, unsigned radius, std::size_t sets, unsigned threads) {
            const unsigned bits = check_flips(costs, header_bits, radius, sets);
            std::vector<std::uint32_t> masks;
            {
                nb::gil_scoped_release free;
                masks = heap_flips(view(costs), bits, header_bits, radius, sets, threads);
            }
            return to_numpy(std::move(masks), sets);
        },
        "costs"_a.noconvert(), "header_bits"_a, "radius"_a, "sets"_a, "threads"_a = 1,
        "Each query's cheapest sets of at most radius header bits, as masks; costs are float32[queries, "
        "bits].");

    module.def(
        "template_flips",
        [](Matrix<float> costs, Column<float> expected, unsigned radius, std::size_t sets, unsigned threads) {
            const auto header_bits = static_cast<unsigned>(std::min<std::size_t>(expected.shape(0), 256));
            const unsigned bits = check_flips(costs, header_bits, radius, sets);
            for (unsigned r = 0; r < header_bits; ++r)
                if (!(expected(r) >= (r == 0 ? 0.0f : expected(r - 1))))
                    throw nb::value_error("expected costs ascend and are not negative");
            std::vector<std::uint32_t> masks;
            std::size_t given = 0;
            {
                nb::gil_scoped_release free;
                const std::vector<Step> steps = flip_template(view(expected), radius, sets);
                given = steps.size();
                masks = template_flips(view(costs), bits, header_bits, steps, threads);
            }
            return to_numpy(std::move(masks), given);
        },
        "costs"_a.noconvert(), "expected"_a.noconvert(), "radius"_a, "sets"_a, "threads"_a = 1,
        "The same sets of ranks for every query, as masks of its header: the cheapest if rank r cost "
        "expected[r].");

    nb::class_<ChunkHeaders>(module, "HeaderTable", "PSM over one chunk of ascending codes.")
        .def(nb::init<Matrix<std::uint64_t>, unsigned, unsigned>(), "codes"_a.noconvert(), "bits"_a,
             "header_bits"_a)
        .def_prop_ro("bytes", [](const ChunkHeaders& self) { return self.table.bytes(); })
        .def(
            "search",
            [](const ChunkHeaders& self, Matrix<std::uint64_t> queries, Matrix<std::uint32_t> flips,
               unsigned radius, unsigned threads) {
                check_words(queries, self.table.bits());
                if (flips.shape(0) != queries.shape(0)) throw nb::value_error("each query needs its flips");
                for (const std::uint32_t flip : view(flips))
                    if (flip >> self.table.header_bits())
                        throw nb::value_error("a flip is outside the header");
                if (self.table.bits() == 32)
                    for (const std::uint64_t query : view(queries))
                        if (query >> 32) throw nb::value_error("a query has bits beyond its width");
                PrefixHits hits;
                {
                    nb::gil_scoped_release free;
                    hits = self.table.search(view(queries), view(flips), flips.shape(1), radius, threads);
                }
                return to_tuple(std::move(hits));
            },
            "queries"_a.noconvert(), "flips"_a.noconvert(), "radius"_a, "threads"_a = 1,
            "Query, place and distance of all codes within radius whose headers are the query's or a flip of "
            "it.");
}

}  // namespace neardup
