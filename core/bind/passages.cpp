#include "bind/texts.hpp"
#include "passages/suffix_array.hpp"
#include "passages/windows.hpp"
#include "text/lines.hpp"
#include "text/spans.hpp"

namespace neardup {

namespace {

using Places = Column<std::int64_t>;

Piece piece_of(const Column<std::uint64_t>& tokens, const Places& offsets, std::int64_t place,
               std::int64_t documents) {
    const auto n = static_cast<std::int64_t>(tokens.shape(0));
    if (offsets.shape(0) == 0 || offsets.data()[0] != 0 || offsets.data()[offsets.shape(0) - 1] != n)
        throw nb::value_error("offsets must run from 0 to the number of tokens");
    for (std::size_t i = 1; i < offsets.shape(0); ++i)
        if (offsets.data()[i] < offsets.data()[i - 1]) throw nb::value_error("offsets must ascend");
    return {view(tokens), view(offsets), place, documents};
}

WindowHash hash_of(std::size_t width, std::uint64_t seed, bool apart, int bits) {
    if (width < 2) throw nb::value_error("a window has at least 2 tokens");
    if (bits < 1 || bits > 64) throw nb::value_error("bits must be 1 to 64");
    return {width, seed, apart, bits};
}

// Places ascend and every window lies within so many tokens.
void check_windows(const Places& places, const Places& firsts, const Places& counts, std::size_t tokens,
                   std::size_t width) {
    if (places.shape(0) != firsts.shape(0) || places.shape(0) != counts.shape(0))
        throw nb::value_error("places, firsts and counts differ in length");
    for (std::size_t i = 0; i < places.shape(0); ++i) {
        const std::int64_t place = places.data()[i], first = firsts.data()[i];
        if (first < 0 || first > place || static_cast<std::size_t>(place) > tokens ||
            tokens - static_cast<std::size_t>(place) < width || (i > 0 && place <= places.data()[i - 1]))
            throw nb::value_error("places must ascend, each with its first window at or before it");
    }
}

void check_array(const Places& letters, const Column<std::uint32_t>& suffixes) {
    if (suffixes.shape(0) != letters.shape(0))
        throw nb::value_error("a suffix array has one entry for each letter");
    for (std::size_t i = 0; i < suffixes.shape(0); ++i)
        if (suffixes.data()[i] >= letters.shape(0)) throw nb::value_error("a suffix is out of range");
}

// What a kernel that runs without the interpreter's lock finds, as columns.
template <class Kernel>
auto columns_of(Kernel kernel) {
    Repeated found;
    {
        nb::gil_scoped_release nogil;
        found = kernel();
    }
    return std::make_tuple(to_numpy(std::move(found.places)), to_numpy(std::move(found.firsts)),
                           to_numpy(std::move(found.counts)));
}

}  // namespace

void bind_repeats(nb::module_& module) {
    nb::enum_<Part>(module, "Part").value("line", Part::line).value("paragraph", Part::paragraph);

    module.def(
        "parts_of",
        [](const Texts& texts, const Normalizer& how, Part part, std::size_t least, std::uint64_t seed,
           unsigned threads) {
            Parts found;
            {
                nb::gil_scoped_release nogil;
                found = parts_of(texts.views(), how, part, least, seed, threads);
            }
            return std::make_tuple(to_numpy(std::move(found.digests), 2), to_numpy(std::move(found.begins)),
                                   to_numpy(std::move(found.ends)), to_numpy(std::move(found.tokens)),
                                   to_numpy(std::move(found.offsets)));
        },
        "texts"_a, "normalizer"_a, "part"_a, "least"_a, "seed"_a, "threads"_a,
        "Lines or paragraphs of at least so many tokens: digests, begins, ends, tokens, and offsets by "
        "text.");
    module.def(
        "group_parts",
        [](Matrix<std::uint64_t> digests, Places numbers, std::size_t least, unsigned threads) {
            if (digests.shape(0) != numbers.shape(0) || digests.shape(1) != 2)
                throw nb::value_error("digests must be [numbers, 2]");
            return columns_of([&] { return group_parts(view(digests), view(numbers), least, threads); });
        },
        "digests"_a.noconvert(), "numbers"_a.noconvert(), "least"_a, "threads"_a,
        "Parts whose digest occurs at least so often, each with the first such part and their count.");
    module.def(
        "token_stream",
        [](const Texts& texts, const Normalizer& how, std::uint64_t seed, bool places, unsigned threads) {
            TokenStream found;
            {
                nb::gil_scoped_release nogil;
                found = token_stream(texts.views(), how, seed, places, threads);
            }
            return std::make_tuple(to_numpy(std::move(found.hashes)), to_numpy(std::move(found.offsets)),
                                   to_numpy(std::move(found.begins)), to_numpy(std::move(found.ends)));
        },
        "texts"_a, "normalizer"_a, "seed"_a, "places"_a, "threads"_a,
        "The tokens of texts in order: hashes, offsets by text, and if asked where each begins and ends.");

    nb::class_<WindowFilter>(module, "WindowFilter", "Which windows of tokens may occur more than once.")
        .def(
            "__init__",
            [](WindowFilter* self, int slot_bits) {
                if (slot_bits < 6 || slot_bits > 40) throw nb::value_error("slot_bits must be 6 to 40");
                new (self) WindowFilter(slot_bits);
            },
            "slot_bits"_a)
        .def(
            "mark",
            [](WindowFilter& self, Column<std::uint64_t> tokens, Places offsets, std::size_t width,
               std::uint64_t seed, bool apart, std::int64_t documents, int bits, unsigned threads) {
                const Piece piece = piece_of(tokens, offsets, 0, documents);
                const WindowHash how = hash_of(width, seed, apart, bits);
                nb::gil_scoped_release nogil;
                self.mark(piece, how, threads);
            },
            "tokens"_a.noconvert(), "offsets"_a.noconvert(), "width"_a, "seed"_a, "apart"_a, "documents"_a,
            "bits"_a, "threads"_a, "Remember the windows of some documents.")
        .def(
            "collect",
            [](const WindowFilter& self, Column<std::uint64_t> tokens, Places offsets, std::size_t width,
               std::uint64_t seed, bool apart, std::int64_t documents, int bits, std::int64_t place,
               unsigned threads) {
                const Piece piece = piece_of(tokens, offsets, place, documents);
                const WindowHash how = hash_of(width, seed, apart, bits);
                WindowFilter::Found found;
                {
                    nb::gil_scoped_release nogil;
                    found = self.collect(piece, how, threads);
                }
                return std::make_tuple(to_numpy(std::move(found.hashes)), to_numpy(std::move(found.places)));
            },
            "tokens"_a.noconvert(), "offsets"_a.noconvert(), "width"_a, "seed"_a, "apart"_a, "documents"_a,
            "bits"_a, "place"_a, "threads"_a, "Hashes and places of the windows that may be repeated.");
    module.def(
        "group_windows",
        [](Column<std::uint64_t> hashes, Places places, std::size_t least, unsigned threads) {
            if (hashes.shape(0) != places.shape(0))
                throw nb::value_error("hashes and places differ in length");
            return columns_of([&] { return group_windows(view(hashes), view(places), least, threads); });
        },
        "hashes"_a.noconvert(), "places"_a.noconvert(), "least"_a, "threads"_a,
        "Places whose hash occurs at least so often, each with the first such place and their count.");

    module.def(
        "in_order",
        [](Places places, Places firsts, Places counts, unsigned threads) {
            if (places.shape(0) != firsts.shape(0) || places.shape(0) != counts.shape(0))
                throw nb::value_error("places, firsts and counts differ in length");
            for (std::size_t i = 0; i < places.shape(0); ++i)
                if (places.data()[i] < 0) throw nb::value_error("a place is negative");
            return columns_of([&] { return in_order(view(places), view(firsts), view(counts), threads); });
        },
        "places"_a.noconvert(), "firsts"_a.noconvert(), "counts"_a.noconvert(), "threads"_a,
        "The same rows, places ascending.");

    nb::class_<Chains>(module, "Chains", "Repeated windows joined to letters.")
        .def(
            "__init__",
            [](Chains* self, std::size_t tokens, std::size_t width) {
                if (width < 2 || tokens > std::size_t{1} << 44)
                    throw nb::value_error("a window has at least 2 tokens, a corpus at most 2^44");
                new (self) Chains(tokens, width);
            },
            "tokens"_a, "width"_a)
        .def(
            "check",
            [](Chains& self, Places places, Places firsts, Places counts, Column<std::uint64_t> tokens) {
                if (tokens.shape(0) != self.tokens()) throw nb::value_error("these are not all the tokens");
                check_windows(places, firsts, counts, self.tokens(), self.width());
                nb::gil_scoped_release nogil;
                return self.check(view(places), view(firsts), view(counts), view(tokens));
            },
            "places"_a.noconvert(), "firsts"_a.noconvert(), "counts"_a.noconvert(), "tokens"_a.noconvert(),
            "First pass, places ascending: how many windows do not equal their first one.")
        .def(
            "join",
            [](Chains& self, Places places, Places firsts, Places counts, std::int64_t most) {
                check_windows(places, firsts, counts, self.tokens(), self.width());
                nb::gil_scoped_release nogil;
                self.join(view(places), view(firsts), view(counts), most);
            },
            "places"_a.noconvert(), "firsts"_a.noconvert(), "counts"_a.noconvert(), "most"_a,
            "Second pass over the same.")
        .def(
            "take",
            [](Chains& self) {
                Chains::Words words = self.take();
                return std::make_tuple(to_numpy(std::move(words.letters)), to_numpy(std::move(words.starts)),
                                       to_numpy(std::move(words.sizes)), to_numpy(std::move(words.cuts), 2));
            },
            "Letters, their places and sizes, and the stretches of tokens that go.");

    module.def(
        "suffix_array",
        [](Places letters) {
            if (letters.shape(0) > 0xFFFFFFFEu)
                throw nb::value_error("a suffix array has at most 2^32 - 2 letters");
            std::vector<std::uint32_t> suffixes, shared;
            {
                nb::gil_scoped_release nogil;
                suffixes = suffix_array(view(letters));
                shared = shared_prefixes(view(letters), suffixes);
            }
            return std::make_tuple(to_numpy(std::move(suffixes)), to_numpy(std::move(shared)));
        },
        "letters"_a.noconvert(),
        "All suffixes in order, and how many letters each shares with the one before.");
    module.def(
        "maximal_repeats",
        [](Places letters, Column<std::uint32_t> suffixes, Column<std::uint32_t> shared) {
            check_array(letters, suffixes);
            if (shared.shape(0) != letters.shape(0))
                throw nb::value_error("shared has one entry for each letter");
            MaximalRepeats found;
            {
                nb::gil_scoped_release nogil;
                found = maximal_repeats(view(letters), view(suffixes), view(shared));
            }
            return std::make_tuple(to_numpy(std::move(found.lows)), to_numpy(std::move(found.highs)),
                                   to_numpy(std::move(found.lengths)));
        },
        "letters"_a.noconvert(), "suffixes"_a.noconvert(), "shared"_a.noconvert(),
        "The maximal repeats: the stretch of the suffix array that holds each, and its length in letters.");
}

}  // namespace neardup
