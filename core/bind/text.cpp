#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "bind/fingerprints.hpp"
#include "bind/texts.hpp"
#include "fingerprints/one_pass.hpp"
#include "text/features.hpp"
#include "text/hash.hpp"
#include "text/json_documents.hpp"
#include "text/json_values.hpp"
#include "text/jsonl.hpp"
#include "text/placed_texts.hpp"
#include "text/select.hpp"
#include "text/utf8.hpp"
#include "text/vocabulary.hpp"

namespace neardup {

namespace {

template <class Value>
void bind_lookup(nb::module_& module, const char* name) {
    nb::class_<Lookup<Value>>(module, name)
        .def(
            "__init__",
            [](Lookup<Value>* self, Hashes keys, Column<Value> values) {
                check_that(keys.shape(0) == values.shape(0), "keys and values differ in length");
                construct(self, view(keys), view(values));
            },
            "keys"_array, "values"_array)
        .def("__len__", &Lookup<Value>::size);
}

using Tokens = nb::typed<nb::list, nb::typed<nb::list, nb::str>>;

Tokens tokens_of(std::span<const Text> texts, const Normalizer& how) {
    nb::list all;
    NormalText normal;
    for (const Text& text : texts) {
        normal.assign(text, how);
        const std::string_view bytes = normal.bytes();
        nb::list tokens;
        for_each_token(normal, [&](std::size_t begin, std::size_t end) {
            tokens.append(nb::str(bytes.data() + begin, end - begin));
        });
        all.append(tokens);
    }
    return nb::cast<Tokens>(all);
}

}  // namespace

void bind_text(nb::module_& module) {
    nb::enum_<Hash>(module, "Hash").value("xxh3", Hash::xxh3).value("murmur64a", Hash::murmur64a);
    nb::enum_<Unit>(module, "Unit")
        .value("words", Unit::words)
        .value("characters", Unit::characters)
        .value("sentences", Unit::sentences);
    nb::enum_<Space>(module, "Space")
        .value("collapse", Space::collapse)
        .value("keep", Space::keep)
        .value("drop", Space::drop);
    nb::enum_<Select>(module, "Select")
        .value("all", Select::all)
        .value("modulo", Select::modulo)
        .value("smallest", Select::smallest)
        .value("winnow", Select::winnow);
    nb::enum_<Count>(module, "Count")
        .value("constant", Count::constant)
        .value("linear", Count::linear)
        .value("logarithm", Count::logarithm);

    module.attr("unicode_version") = std::string(unicode_version());
    module.def(
        "hash_bytes",
        [](nb::bytes bytes, std::uint64_t seed, Hash kind) {
            return hash_bytes(kind, {bytes.c_str(), bytes.size()}, seed);
        },
        "bytes"_a, "seed"_a, "kind"_a = Hash::xxh3, "The seeded 64-bit hash of some bytes.");

    nb::class_<StreamDigest>(module, "StreamDigest", "128 bits of a stream of bytes; see core/text/hash.hpp.")
        .def(nb::init<>())
        .def(
            "add", [](StreamDigest& self, Bytes bytes) { without_gil([&] { self.add(bytes_of(bytes)); }); },
            "bytes"_array)
        .def("value", [](const StreamDigest& self) {
            const auto found = self.value();
            return std::make_tuple(found[0], found[1]);
        });

    bind_lookup<std::uint64_t>(module, "Words");
    bind_lookup<float>(module, "Weights");

    nb::class_<Normalizer>(module, "Normalizer")
        .def(nb::init<>())
        .def_rw("nfkc", &Normalizer::nfkc)
        .def_rw("casefold", &Normalizer::casefold)
        .def_rw("accents", &Normalizer::accents)
        .def_rw("digits", &Normalizer::digits)
        .def_rw("punctuation", &Normalizer::punctuation);
    nb::class_<Recipe>(module, "Recipe")
        .def(nb::init<>())
        .def_rw("normalizer", &Recipe::normalizer)
        .def_rw("unit", &Recipe::unit)
        .def_rw("width", &Recipe::width)
        .def_rw("space", &Recipe::space)
        .def_rw("hash", &Recipe::hash)
        .def_rw("seed", &Recipe::seed)
        .def_rw("words", &Recipe::words)
        .def_rw("phrases", &Recipe::phrases)
        .def_rw("select", &Recipe::select)
        .def_rw("select_by", &Recipe::select_by)
        .def_rw("select_floor", &Recipe::select_floor)
        .def_rw("count", &Recipe::count)
        .def_rw("idf", &Recipe::idf)
        .def_rw("unseen_idf", &Recipe::unseen_idf)
        .def_rw("unit_length", &Recipe::unit_length)
        .def_rw("common", &Recipe::common)
        .def_rw("common_floor", &Recipe::common_floor)
        .def_rw("ordered", &Recipe::ordered);

    nb::class_<Texts>(module, "Texts",
                      "A column of texts; keeps what it was made of alive and never copies it.")
        .def(nb::init<>())
        .def("add", &Texts::add, "items"_a, "Strings, bytes or None.")
        .def("add_spans", &Texts::add_spans, "data"_array, "begins"_array, "ends"_array,
             "UTF-8 texts anywhere in one buffer.")
        .def("add_arrow", &Texts::add_arrow<std::int32_t>, "data"_array, "offsets"_array,
             "validity"_array.none(), "first"_a)
        .def("add_arrow", &Texts::add_arrow<std::int64_t>, "data"_array, "offsets"_array,
             "validity"_array.none(), "first"_a)
        .def("add_texts", &Texts::add_texts, "others"_a, "The texts of another column behind these.")
        .def("take", &Texts::take, "rows"_array, "Some of the texts, in the order named.")
        .def(
            "sizes", [](const Texts& texts) { return computed([&] { return utf8_sizes(texts.views()); }); },
            "The bytes of each text as UTF-8, and whether all texts are well-formed.")
        .def(
            "utf8", [](const Texts& texts) { return computed([&] { return utf8_of(texts.views()); }); },
            "The texts as UTF-8, one after another, and where each ends.")
        .def(
            "same",
            [](const Texts& texts, Longs left, Longs right) {
                const std::size_t count = texts.views().size();
                const PairRows pairs = pairs_of(left, right, count, count);
                return computed([&] { return same_texts(texts.views(), pairs.left, pairs.right); });
            },
            "left"_array, "right"_array, "Whether the two texts of each pair have the same bytes as UTF-8.")
        .def("__len__", [](const Texts& texts) { return texts.views().size(); });

    nb::class_<Tally>(module, "Tally", "How often each key occurred.")
        .def(nb::init<>())
        .def("__len__", &Tally::size)
        .def_prop_ro("documents", &Tally::documents, "How many documents were counted.")
        .def(
            "add_documents",
            [](Tally& self, const Texts& texts, const Recipe& recipe, unsigned threads) {
                without_gil([&] { tally_documents(texts.views(), recipe, threads, self); });
            },
            "texts"_a, "recipe"_a, "threads"_a, "Count every distinct feature of each document once.")
        .def(
            "columns",
            [](const Tally& self, std::uint64_t least) {
                std::vector<std::uint64_t> keys, counts, first, second;
                for (const auto& entry : self.entries(least)) {
                    keys.push_back(entry.key);
                    counts.push_back(entry.count);
                    first.push_back(entry.first);
                    second.push_back(entry.second);
                }
                return to_columns(keys, counts, first, second);
            },
            "least"_a,
            "Keys counted at least `least` times, ascending, with counts and the two words of each.");
    module.def(
        "tally_pairs",
        [](const Texts& texts, const Recipe& recipe, Tally& words, Tally& pairs) {
            without_gil([&] { tally_pairs(texts.views(), recipe, words, pairs); });
        },
        "texts"_a, "recipe"_a, "words"_a, "pairs"_a, "Count words and pairs of neighbours.");
    module.def(
        "vocabulary",
        [](const Texts& texts, const Normalizer& how, Hash hash, std::uint64_t seed) {
            return computed([&] { return vocabulary(texts.views(), how, hash, seed); });
        },
        "texts"_a, "normalizer"_a, "hash"_a, "seed"_a,
        "The distinct words of some texts, with their hashes.");
    module.def(
        "winnow",
        [](Hashes sequence, std::size_t window) {
            check_that(window > 0, "the window must be at least 1");
            Buffer<std::uint64_t> kept;
            winnow(view(sequence), window, kept);
            return to_numpy(std::move(kept));
        },
        "sequence"_array, "window"_a, "The features that winnowing keeps of a sequence.");
    module.def(
        "hash_texts",
        [](const Texts& texts, std::uint64_t seed, Hash kind) {
            std::vector<std::uint64_t> hashes;
            for (const Text& text : texts.views()) {
                check_that(text.encoding == Encoding::utf8, "only UTF-8 can be hashed as it is");
                hashes.push_back(hash_bytes(kind, {static_cast<const char*>(text.data), text.size}, seed));
            }
            return to_numpy(std::move(hashes));
        },
        "texts"_a, "seed"_a, "kind"_a, "Each text's hash, bytes as they are.");

    module.def(
        "tokens", [](const Texts& texts, const Normalizer& how) { return tokens_of(texts.views(), how); },
        "texts"_a, "normalizer"_a, "Each text's tokens.");
    module.def(
        "extract",
        [](const Texts& texts, const Recipe& recipe, unsigned threads) {
            return computed([&] { return extract(texts.views(), recipe, threads); });
        },
        "texts"_a, "recipe"_a, "threads"_a,
        "Features of many texts: hashes, weights, offsets, and how many ill-formed sequences were replaced.");

    module.def(
        "extract_sets",
        [](const Texts& texts, const Recipe& recipe, Longs room,
           nb::ndarray<std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu> out, unsigned threads) {
            check_that(room.shape(0) == texts.views().size(), "columns differ in length");
            std::uint64_t total = 0;
            for (const std::int64_t one : view(room)) {
                check_that(one >= 0 && static_cast<std::uint64_t>(one) <= out.shape(0) - total,
                           "there is not that much room");
                total += static_cast<std::uint64_t>(one);
            }
            return computed([&] {
                return extract_sets(texts.views(), recipe, view(room), {out.data(), out.shape(0)}, threads);
            });
        },
        "texts"_a, "recipe"_a, "room"_array, "out"_array, "threads"_a,
        "Sorted feature sets of many texts into one array; returns their offsets. See "
        "core/text/features.hpp.");
    module.def(
        "token_bytes",
        [](const Texts& texts, const Recipe& recipe) {
            nb::typed<nb::list, nb::bytes> all;
            Extractor extractor(recipe);
            std::string bytes;
            for (const Text& text : texts.views()) {
                extractor.token_bytes(text, bytes);
                all.append(nb::bytes(bytes.data(), bytes.size()));
            }
            return all;
        },
        "texts"_a, "recipe"_a, "The tokens that same_tokens compares, joined; equal for equal tokens alone.");
    module.def(
        "same_tokens",
        [](const Texts& left, const Texts& right, const Recipe& recipe, unsigned threads) {
            check_that(left.views().size() == right.views().size(), "columns differ in length");
            return computed([&] { return same_tokens(left.views(), right.views(), recipe, threads); });
        },
        "left"_a, "right"_a, "recipe"_a, "threads"_a,
        "1 where two texts have the very same tokens, byte for byte, before stop words and stems.");
    module.def(
        "line_ends", [](Bytes block) { return computed([&] { return line_ends(view(block)); }); },
        "block"_array, "Where each line of a block ends, behind its line end.");
    module.def(
        "read_text_lines",
        [](Bytes lines) {
            auto found = without_gil([&] { return read_text_lines(view(lines)); });
            using Ids = nb::typed<nb::list, nb::str>;
            using Spans = decltype(to_numpy(std::move(found->text_begins)));
            using TextBytes = decltype(to_numpy(std::move(found->bytes)));
            std::optional<std::tuple<Ids, TextBytes, Spans, Spans>> columns;
            if (!found) return columns;
            Ids ids;
            for (std::size_t i = 0; i < found->id_ends.size(); ++i) {
                const std::int64_t begin = found->id_begins[i];
                ids.append(nb::str(reinterpret_cast<const char*>(found->bytes.data()) + begin,
                                   static_cast<std::size_t>(found->id_ends[i] - begin)));
            }
            columns.emplace(std::move(ids), to_numpy(std::move(found->bytes)),
                            to_numpy(std::move(found->text_begins)), to_numpy(std::move(found->text_ends)));
            return columns;
        },
        "lines"_array,
        "Ids, and texts as bytes with their begins and ends, of lines that hold nothing else; None if one "
        "holds more or less. See core/text/jsonl.hpp.");

    module.def(
        "pass_json_value",
        [](nb::bytes bytes, std::size_t at, std::uint64_t depth, bool in_string) {
            check_that(at <= bytes.size(), "the place is behind the bytes");
            check_that(depth > 0 || in_string, "the place is not within a value");
            const std::span data(reinterpret_cast<const unsigned char*>(bytes.c_str()), bytes.size());
            const JsonPlace found = pass_json_value(data, {at, depth, in_string});
            return std::make_tuple(found.at, found.depth, found.in_string);
        },
        "bytes"_a, "at"_a, "depth"_a, "in_string"_a,
        "The place behind the end of a JSON value, or at the end of the bytes. See "
        "core/text/json_values.hpp.");

    module.def(
        "json_depth",
        [](nb::bytes bytes) {
            return json_depth({reinterpret_cast<const unsigned char*>(bytes.c_str()), bytes.size()});
        },
        "bytes"_a, "The most brackets outside of strings that are open at once.");

    module.def(
        "read_documents",
        [](Bytes block, std::string text, std::optional<std::string> id, std::size_t longest_line,
           std::size_t longest_text) {
            JsonDocuments found = without_gil([&] {
                return read_documents(view(block),
                                      {std::move(text), std::move(id), longest_line, longest_text});
            });
            return std::make_tuple(found.count, to_columns(found.texts, found.text_ends),
                                   to_columns(found.ids, found.id_ends),
                                   to_columns(found.lines, found.begins, found.raws),
                                   to_columns(found.odd_lines, found.odd_begins, found.odd_ends));
        },
        "block"_array, "text"_a, "id"_a.none(), "longest_line"_a, "longest_text"_a,
        "The lines of a block of JSONL: how many, (texts, ends), (ids, ends), (line, begin, raw bytes) of "
        "the "
        "documents, and (line, begin, end) of lines that need a full parser. See "
        "core/text/json_documents.hpp.");
    module.def(
        "placed_texts",
        [](int file, Longs begins, Longs raws, Longs sizes, unsigned threads) {
            check_lengths(begins, raws, sizes);
            for (std::size_t i = 0; i < begins.shape(0); ++i) {
                const std::int64_t begin = begins.data()[i], raw = raws.data()[i], size = sizes.data()[i];
                check_that(begin >= 0 && size >= 0 && size <= raw && raw <= INT64_MAX - begin,
                           "a text is out of range");
            }
            std::optional<Buffer<unsigned char>> made;
            try {
                made = without_gil(
                    [&] { return placed_texts(file, view(begins), view(raws), view(sizes), threads); });
            } catch (const std::system_error& failure) {
                errno = failure.code().value();
                PyErr_SetFromErrno(PyExc_OSError);
                throw nb::python_error();
            }
            std::optional<decltype(to_numpy(std::move(*made)))> out;
            if (made) out.emplace(to_numpy(std::move(*made)));
            return out;
        },
        "file"_a, "begins"_array, "raws"_array, "sizes"_array, "threads"_a,
        "Texts in an open file as JSON writes them, to UTF-8; None if one is not what it was.");

    // Fused: text in, fingerprints out. Each returns its columns, then (empty, tokens, replaced, digests).
    const auto facts_of = [](Reading& reading) {
        return to_columns(reading.empty, reading.tokens, reading.replaced,
                          to_numpy(std::move(reading.digests), 2));
    };
    module.def(
        "simhash_texts",
        [facts_of](const Texts& texts, const Recipe& recipe, unsigned bits, Tie tie, bool gaussian,
                   Margins margins, std::size_t ranks, unsigned threads, bool digests) {
            check_simhash(bits, ranks);
            Reading reading(texts.views().size(), digests);
            auto out = without_gil([&] {
                return simhash_texts(texts.views(), recipe, {bits, tie, gaussian}, margins, ranks, threads,
                                     reading);
            });
            return to_columns(simhash_columns(out, bits, ranks), facts_of(reading));
        },
        "texts"_a, "recipe"_a, "bits"_a, "tie"_a, "gaussian"_a, "margins"_a, "ranks"_a, "threads"_a,
        "digests"_a = false,
        "Simhash of texts: codes, margins, margin bytes, their scales, ranks, and what was read.");
    module.def(
        "read_words",
        [facts_of](const Texts& texts, const Recipe& recipe, Tally* tally, unsigned threads, bool digests) {
            Reading reading(texts.views().size(), digests);
            without_gil([&] { read_words(texts.views(), recipe, threads, tally, reading); });
            return facts_of(reading);
        },
        "texts"_a, "recipe"_a, "tally"_a.none(), "threads"_a, "digests"_a = false,
        "What was read of texts; with a tally, the distinct features of each document are counted.");
    module.def(
        "minhash_texts",
        [facts_of](const Texts& texts, const Recipe& recipe, std::size_t values, std::uint64_t seed,
                   bool independent, unsigned threads, bool digests) {
            check_values(values);
            Reading reading(texts.views().size(), digests);
            auto out = without_gil([&] {
                return minhash_texts(texts.views(), recipe, values, seed, independent, threads, reading);
            });
            return to_columns(to_numpy(std::move(out), values), facts_of(reading));
        },
        "texts"_a, "recipe"_a, "values"_a, "seed"_a, "independent"_a, "threads"_a, "digests"_a = false,
        "MinHash of texts: sketches, and what was read.");
    module.def(
        "digest_texts",
        [facts_of](const Texts& texts, const Recipe& recipe, unsigned threads) {
            check_that(recipe.unit == Unit::words, "digests are made of words");
            Reading reading(texts.views().size());
            auto out = without_gil([&] { return digest_texts(texts.views(), recipe, threads, reading); });
            return to_columns(to_numpy(std::move(out), 2), facts_of(reading));
        },
        "texts"_a, "recipe"_a, "threads"_a, "128-bit digests of normalised texts, and what was read.");
}

}  // namespace neardup
