#include "bind.hpp"
#include "hash.hpp"

namespace neardup {

void bind_text(nb::module_& module) {
    nb::enum_<Hash>(module, "Hash").value("xxh3", Hash::xxh3).value("murmur64a", Hash::murmur64a);
    module.def(
        "hash_bytes",
        [](nb::bytes bytes, std::uint64_t seed, Hash kind) {
            return hash_bytes(kind, {bytes.c_str(), bytes.size()}, seed);
        },
        "bytes"_a, "seed"_a, "kind"_a = Hash::xxh3, "The seeded 64-bit hash of some bytes.");
}

}  // namespace neardup
