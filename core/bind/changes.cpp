#include "compare/changes.hpp"

#include "bind/texts.hpp"

namespace neardup {

namespace {

void check_pairs(const TextFacts& facts, const Column<std::int64_t>& left,
                 const Column<std::int64_t>& right) {
    if (left.shape(0) != right.shape(0)) throw nb::value_error("left and right differ in length");
    const auto rows = static_cast<std::int64_t>(facts.size());
    for (const auto& column : {left, right})
        for (const std::int64_t row : view(column))
            if (row < 0 || row >= rows) throw nb::value_error("there is no such row");
}

}  // namespace

void bind_changes(nb::module_& module) {
    nb::class_<TextFacts>(module, "TextFacts",
                          "What a person checks in texts, and what differs between pairs of them: a row of "
                          "counts for each pair.")
        .def(
            "__init__",
            [](TextFacts* made, const Texts& texts, std::uint64_t seed, unsigned threads) {
                nb::gil_scoped_release nogil;
                new (made) TextFacts(texts.views(), seed, threads);
            },
            "texts"_a, "seed"_a, "threads"_a)
        .def("__len__", &TextFacts::size)
        .def(
            "changes",
            [](const TextFacts& facts, Column<std::int64_t> left, Column<std::int64_t> right,
               unsigned threads) {
                check_pairs(facts, left, right);
                return to_numpy(without_gil([&] { return facts.changes(view(left), view(right), threads); }),
                                kChanges);
            },
            "left"_a.noconvert(), "right"_a.noconvert(), "threads"_a)
        .def(
            "titles_and_languages",
            [](const TextFacts& facts, Column<std::int64_t> left, Column<std::int64_t> right,
               unsigned threads) {
                check_pairs(facts, left, right);
                return to_numpy(
                    without_gil([&] { return facts.titles_and_languages(view(left), view(right), threads); }),
                    kChanges);
            },
            "left"_a.noconvert(), "right"_a.noconvert(), "threads"_a,
            "Only the title and the language are compared; bit 16 of the first count says so.");
}

}  // namespace neardup
