#pragma once
// What the bindings of fingerprints share, whether they are made of features or straight from texts.
#include "bind/checks.hpp"
#include "fingerprints/minhash.hpp"
#include "fingerprints/simhash.hpp"

namespace neardup {

inline void check_simhash(unsigned bits, std::size_t ranks) {
    check_bits(bits);
    check_that(ranks >= 1 && ranks <= bits, "ranks must be 1 to bits");
}

inline void check_values(std::size_t values) {
    check_that(values >= 1 && values <= kMostValues, "values must be 1 to 65536");
}

inline auto simhash_columns(SimhashColumns& out, unsigned bits, std::size_t ranks) {
    return to_columns(to_numpy(std::move(out.codes), words_of(bits)), to_numpy(std::move(out.margins), bits),
                      to_numpy(std::move(out.bytes), bits), out.scales,
                      to_numpy(std::move(out.ranks), ranks));
}

}  // namespace neardup
