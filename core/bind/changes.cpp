#include "compare/changes.hpp"

#include "bind/texts.hpp"

namespace neardup {

void bind_changes(nb::module_& module) {
    module.def(
        "changes_of",
        [](const Texts& texts, Column<std::int64_t> left, Column<std::int64_t> right, std::uint64_t seed,
           unsigned threads) {
            if (left.shape(0) != right.shape(0)) throw nb::value_error("left and right differ in length");
            const auto rows = static_cast<std::int64_t>(texts.views().size());
            for (const auto& column : {left, right})
                for (const std::int64_t row : view(column))
                    if (row < 0 || row >= rows) throw nb::value_error("there is no such row");
            std::vector<std::uint16_t> found;
            {
                nb::gil_scoped_release nogil;
                found = changes_of(texts.views(), view(left), view(right), seed, threads);
            }
            return to_numpy(std::move(found), kChanges);
        },
        "texts"_a, "left"_a.noconvert(), "right"_a.noconvert(), "seed"_a, "threads"_a,
        "What differs between pairs of texts: a row of counts for each pair.");
}

}  // namespace neardup
