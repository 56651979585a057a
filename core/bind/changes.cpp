#include "compare/changes.hpp"

#include "bind/checks.hpp"
#include "bind/texts.hpp"

namespace neardup {

namespace {

// One of the ways to compare pairs of texts, as a method: a row of counts for each pair.
template <class Method>
auto counts_by(Method method) {
    return [method](const TextFacts& facts, const Longs& left, const Longs& right, unsigned threads) {
        const PairRows pairs = pairs_of(left, right, facts.size(), facts.size());
        return computed_rows(kChanges, [&] { return (facts.*method)(pairs.left, pairs.right, threads); });
    };
}

}  // namespace

void bind_changes(nb::module_& module) {
    nb::class_<TextFacts>(module, "TextFacts",
                          "What a person checks in texts, and what differs between pairs of them: a row of "
                          "counts for each pair.")
        .def(
            "__init__",
            [](TextFacts* made, const Texts& texts, std::uint64_t seed, unsigned threads) {
                construct(made, texts.views(), seed, threads);
            },
            "texts"_a, "seed"_a, "threads"_a)
        .def("__len__", &TextFacts::size)
        .def("changes", counts_by(&TextFacts::changes), "left"_array, "right"_array, "threads"_a)
        .def("titles_and_languages", counts_by(&TextFacts::titles_and_languages), "left"_array, "right"_array,
             "threads"_a, "Only the title and the language are compared; bit 16 of the first count says so.");
}

}  // namespace neardup
