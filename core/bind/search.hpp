#pragma once
// What the bindings of the searches share: codes, rows and designs in, columns of hits out.
#include <nanobind/stl/optional.h>

#include "bind/module.hpp"
#include "search/tables.hpp"

namespace neardup {

// The columns of a matrix of codes; a wrong width or a stray bit beyond it is the caller's mistake.
inline std::span<const std::uint64_t> codes_of(const Matrix<std::uint64_t>& codes, unsigned bits) {
    const std::size_t words = bits > 64 ? 2 : 1;
    if (codes.shape(1) != words) throw nb::value_error("codes must be uint64[n, words] of the index's width");
    const auto out = view(codes);
    if (bits == 32)
        for (const std::uint64_t code : out)
            if (code >> 32) throw nb::value_error("a 32-bit code uses the low half of its word only");
    return out;
}

inline std::span<const std::uint32_t> rows_of(const std::optional<Column<std::uint32_t>>& rows,
                                              std::size_t codes) {
    if (!rows) return {};
    if (rows->shape(0) != codes) throw nb::value_error("one row number per code");
    return view(*rows);
}

inline Design design_of(unsigned bits, unsigned radius, const Matrix<std::uint64_t>& masks,
                        const Column<std::uint8_t>& flips, unsigned header_bits) {
    Design design{bits, radius, {}, header_bits};
    if (bits != 32 && bits != 64 && bits != 128) throw nb::value_error("codes have 32, 64 or 128 bits");
    const unsigned words = design.words();
    if (masks.shape(1) != words || masks.shape(0) != flips.shape(0))
        throw nb::value_error("masks must be uint64[tables, words] with one number of flips each");
    for (std::size_t z = 0; z < masks.shape(0); ++z) {
        Key key{{}, flips.data()[z], true};
        for (unsigned w = 0; w < words; ++w) key.mask[w] = masks.data()[z * words + w];
        design.keys.push_back(key);
    }
    design.check();
    return design;
}

template <class T>
using Numbers = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
using HitColumns = std::tuple<Numbers<std::int64_t>, Numbers<std::int64_t>, Numbers<std::uint8_t>>;
using GroupColumns =
    std::tuple<Numbers<std::int64_t>, Numbers<std::int64_t>, Numbers<std::uint8_t>, Numbers<std::int64_t>>;

inline HitColumns columns(Hits&& hits) {
    return {to_numpy(std::move(hits.query)), to_numpy(std::move(hits.row)),
            to_numpy(std::move(hits.distance))};
}
inline GroupColumns group_columns(Hits&& hits) {
    return {to_numpy(std::move(hits.query)), to_numpy(std::move(hits.row)),
            to_numpy(std::move(hits.distance)), to_numpy(std::move(hits.size))};
}

}  // namespace neardup
