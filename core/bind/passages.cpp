#include "bind/checks.hpp"
#include "bind/texts.hpp"
#include "passages/suffix_array.hpp"
#include "passages/windows.hpp"
#include "text/lines.hpp"
#include "text/spans.hpp"

namespace neardup {

namespace {

Piece piece_of(const Hashes& tokens, const Longs& offsets, std::int64_t place, std::int64_t documents) {
    check_offsets(view(offsets), tokens.shape(0));
    return {view(tokens), view(offsets), place, documents};
}

WindowHash hash_of(std::size_t width, std::uint64_t seed, bool apart, int bits) {
    check_that(width >= 2, "a window has at least 2 tokens");
    check_that(bits >= 1 && bits <= 64, "bits must be 1 to 64");
    return {width, seed, apart, bits};
}

// Places ascend, and every window is within `tokens` tokens.
void check_windows(const Longs& places, const Longs& firsts, const Longs& counts, std::size_t tokens,
                   std::size_t width) {
    check_lengths(places, firsts, counts);
    for (std::size_t i = 0; i < places.shape(0); ++i) {
        const std::int64_t place = places.data()[i], first = firsts.data()[i];
        check_that(first >= 0 && first <= place && static_cast<std::size_t>(place) <= tokens &&
                       tokens - static_cast<std::size_t>(place) >= width &&
                       (i == 0 || place > places.data()[i - 1]),
                   "places must ascend, each with its first window at or before it");
    }
}

void check_array(const Longs& letters, const Column<std::uint32_t>& suffixes) {
    check_that(suffixes.shape(0) == letters.shape(0), "a suffix array has one entry for each letter");
    for (const std::uint32_t suffix : view(suffixes))
        check_that(suffix < letters.shape(0), "a suffix is out of range");
}

}  // namespace

void bind_repeats(nb::module_& module) {
    nb::enum_<Part>(module, "Part").value("line", Part::line).value("paragraph", Part::paragraph);

    module.def(
        "parts_of",
        [](const Texts& texts, const Normalizer& how, Part part, std::size_t least, std::uint64_t seed,
           unsigned threads) {
            auto found =
                without_gil([&] { return parts_of(texts.views(), how, part, least, seed, threads); });
            return to_columns(to_numpy(std::move(found.digests), 2), found.begins, found.ends, found.tokens,
                              found.offsets);
        },
        "texts"_a, "normalizer"_a, "part"_a, "least"_a, "seed"_a, "threads"_a,
        "Lines or paragraphs of at least `least` tokens: digests, begins, ends, tokens, and offsets by "
        "text.");
    module.def(
        "group_parts",
        [](Words digests, Longs numbers, std::size_t least, unsigned threads) {
            check_that(digests.shape(0) == numbers.shape(0) && digests.shape(1) == 2,
                       "digests must be [numbers, 2]");
            return computed([&] { return group_parts(view(digests), view(numbers), least, threads); });
        },
        "digests"_array, "numbers"_array, "least"_a, "threads"_a,
        "Parts whose digest occurs at least `least` times, each with the first such part and their count.");
    module.def(
        "token_stream",
        [](const Texts& texts, const Normalizer& how, std::uint64_t seed, bool places, unsigned threads) {
            return computed([&] { return token_stream(texts.views(), how, seed, places, threads); });
        },
        "texts"_a, "normalizer"_a, "seed"_a, "places"_a, "threads"_a,
        "The tokens of texts in order: hashes, offsets by text, and if asked where each begins and ends.");

    nb::class_<WindowFilter>(module, "WindowFilter", "Which windows of tokens may occur more than once.")
        .def(
            "__init__",
            [](WindowFilter* self, int slot_bits) {
                check_that(slot_bits >= 6 && slot_bits <= 40, "slot_bits must be 6 to 40");
                construct(self, slot_bits);
            },
            "slot_bits"_a)
        .def(
            "mark",
            [](WindowFilter& self, Hashes tokens, Longs offsets, std::size_t width, std::uint64_t seed,
               bool apart, std::int64_t documents, int bits, unsigned threads) {
                const Piece piece = piece_of(tokens, offsets, 0, documents);
                const WindowHash how = hash_of(width, seed, apart, bits);
                without_gil([&] { self.mark(piece, how, threads); });
            },
            "tokens"_array, "offsets"_array, "width"_a, "seed"_a, "apart"_a, "documents"_a, "bits"_a,
            "threads"_a, "Remember the windows of some documents.")
        .def(
            "collect",
            [](const WindowFilter& self, Hashes tokens, Longs offsets, std::size_t width, std::uint64_t seed,
               bool apart, std::int64_t documents, int bits, std::int64_t place, unsigned threads) {
                const Piece piece = piece_of(tokens, offsets, place, documents);
                const WindowHash how = hash_of(width, seed, apart, bits);
                return computed([&] { return self.collect(piece, how, threads); });
            },
            "tokens"_array, "offsets"_array, "width"_a, "seed"_a, "apart"_a, "documents"_a, "bits"_a,
            "place"_a, "threads"_a, "Hashes and places of the windows that may be repeated.");
    module.def(
        "group_windows",
        [](Hashes hashes, Longs places, std::size_t least, unsigned threads) {
            check_lengths(hashes, places);
            return computed([&] { return group_windows(view(hashes), view(places), least, threads); });
        },
        "hashes"_array, "places"_array, "least"_a, "threads"_a,
        "Places whose hash occurs at least `least` times, each with the first such place and their count.");

    module.def(
        "in_order",
        [](Longs places, Longs firsts, Longs counts, unsigned threads) {
            check_lengths(places, firsts, counts);
            for (const std::int64_t place : view(places)) check_that(place >= 0, "a place is negative");
            return computed([&] { return in_order(view(places), view(firsts), view(counts), threads); });
        },
        "places"_array, "firsts"_array, "counts"_array, "threads"_a, "The same rows, places ascending.");

    nb::class_<Chains>(module, "Chains", "Repeated windows joined to letters.")
        .def(
            "__init__",
            [](Chains* self, std::size_t tokens, std::size_t width) {
                check_that(width >= 2 && tokens <= std::size_t{1} << 44,
                           "a window has at least 2 tokens, a corpus at most 2^44");
                construct(self, tokens, width);
            },
            "tokens"_a, "width"_a)
        .def(
            "check",
            [](Chains& self, Longs places, Longs firsts, Longs counts, Hashes tokens) {
                check_that(tokens.shape(0) == self.tokens(), "these are not all the tokens");
                check_windows(places, firsts, counts, self.tokens(), self.width());
                return without_gil(
                    [&] { return self.check(view(places), view(firsts), view(counts), view(tokens)); });
            },
            "places"_array, "firsts"_array, "counts"_array, "tokens"_array,
            "First pass, places ascending: how many windows do not equal their first one.")
        .def(
            "join",
            [](Chains& self, Longs places, Longs firsts, Longs counts, std::int64_t most) {
                check_windows(places, firsts, counts, self.tokens(), self.width());
                without_gil([&] { self.join(view(places), view(firsts), view(counts), most); });
            },
            "places"_array, "firsts"_array, "counts"_array, "most"_a, "Second pass over the same.")
        .def(
            "take",
            [](Chains& self) {
                Chains::Words words = self.take();
                return to_columns(words.letters, words.starts, words.sizes,
                                  to_numpy(std::move(words.cuts), 2));
            },
            "Letters, their places and sizes, and the ranges of tokens to remove.");

    module.def(
        "suffix_array",
        [](Longs letters) {
            check_that(letters.shape(0) <= 0xFFFFFFFEu, "a suffix array has at most 2^32 - 2 letters");
            auto suffixes = without_gil([&] { return suffix_array(view(letters)); });
            auto shared = without_gil([&] { return shared_prefixes(view(letters), suffixes); });
            return to_columns(suffixes, shared);
        },
        "letters"_array, "All suffixes in order, and how many letters each shares with the one before.");
    module.def(
        "maximal_repeats",
        [](Longs letters, Column<std::uint32_t> suffixes, Column<std::uint32_t> shared) {
            check_array(letters, suffixes);
            check_that(shared.shape(0) == letters.shape(0), "shared has one entry for each letter");
            return computed([&] { return maximal_repeats(view(letters), view(suffixes), view(shared)); });
        },
        "letters"_array, "suffixes"_array, "shared"_array,
        "The maximal repeats: the stretch of the suffix array that holds each, and its length in letters.");
}

}  // namespace neardup
