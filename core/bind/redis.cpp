#include <algorithm>

#include "bind/checks.hpp"
#include "search/buckets.hpp"

namespace neardup {

namespace {

std::string_view text(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

char check_kind(const nb::bytes& kind) {
    check_that(kind.size() == 1, "a kind is one character");
    return kind.c_str()[0];
}

void check_keys(const Words& keys, const Longs& firsts, std::size_t words) {
    check_that(words >= 1 && words <= 2, "a key in an entry has one or two words");
    for (const auto first : view(firsts))
        check_that(first >= 0 && static_cast<std::size_t>(first) + words <= keys.shape(1),
                   "a table has words that the keys do not have");
}

// A search of entries in buckets: its arguments fit together.
void check_search(const Words& keys, const Longs& firsts, std::size_t words,
                  const Matrix<std::int64_t>& place, const Words& entries, const Longs& starts) {
    check_keys(keys, firsts, words);
    check_that(place.shape(0) == keys.shape(0) && place.shape(1) == firsts.shape(0),
               "keys and probes differ in length");
    check_that(entries.shape(1) == words + 1, "an entry is a key and a row");
    check_offsets(view(starts), entries.shape(0));
    const auto buckets = static_cast<std::int64_t>(starts.shape(0)) - 1;
    for (const auto bucket : view(place))
        check_that(bucket >= 0 && bucket < buckets, "a probe is of no bucket");
}

nb::bytes to_bytes(const std::string& packed) { return nb::bytes(packed.data(), packed.size()); }

// The commands that a kernel writes without the interpreter's lock, and how many they are.
template <class Kernel>
auto commands_of(Kernel&& kernel) {
    const Commands made = without_gil(kernel);
    return std::make_tuple(to_bytes(made.packed), made.count);
}

// A kernel that compares keys with the entries of the buckets that their probes have read.
template <class Kernel>
void bind_near(nb::module_& module, const char* name, Kernel kernel, const char* doc) {
    module.def(
        name,
        [kernel](const Words& keys, const Longs& firsts, std::size_t words, const Matrix<std::int64_t>& place,
                 const Words& entries, const Longs& starts, int radius) {
            check_search(keys, firsts, words, place, entries, starts);
            return computed([&] {
                return kernel({view(keys), keys.shape(1), words, view(firsts)}, view(place), view(entries),
                              view(starts), radius);
            });
        },
        "keys"_array, "firsts"_array, "words"_a, "place"_array, "entries"_array, "starts"_array, "radius"_a,
        doc);
}

}  // namespace

void bind_shared(nb::module_& module) {
    module.def(
        "bucket_appends",
        [](const nb::bytes& name, const nb::bytes& kind, const Words& homes, const Words& keys,
           const Longs& firsts, std::size_t words, const Longs& rows) {
            const char of_kind = check_kind(kind);
            check_keys(keys, firsts, words);
            check_that(homes.shape(0) == keys.shape(0) && rows.shape(0) == keys.shape(0) &&
                           homes.shape(1) == firsts.shape(0),
                       "homes, keys and rows differ in length, or homes and tables");
            const std::string_view named = text(name);
            return commands_of([&] {
                return bucket_appends(named, of_kind, view(homes),
                                      {view(keys), keys.shape(1), words, view(firsts)}, view(rows));
            });
        },
        "name"_a, "kind"_a, "homes"_array, "keys"_array, "firsts"_array, "words"_a, "rows"_array,
        "APPEND commands that put rows into their buckets, and how many they are.");
    module.def(
        "bucket_drops",
        [](const nb::bytes& name, const nb::bytes& kind, const Words& homes, const Longs& rows,
           const nb::bytes& script, const nb::bytes& last) {
            const char of_kind = check_kind(kind);
            check_that(homes.shape(0) == rows.shape(0), "homes and rows differ in length");
            const std::string_view named = text(name), said = text(script), end = text(last);
            return commands_of([&] {
                return bucket_drops(named, of_kind, view(homes), homes.shape(1), view(rows), said, end);
            });
        },
        "name"_a, "kind"_a, "homes"_array, "rows"_array, "script"_a, "last"_a,
        "EVAL commands that take rows out of their buckets, and how many they are.");
    module.def(
        "id_claims",
        [](const nb::bytes& name, const nb::bytes& digests, std::uint64_t buckets, const Longs& rows) {
            const std::size_t width = rows.shape(0) == 0 ? 0 : digests.size() / rows.shape(0);
            check_that(rows.shape(0) == 0 || (width >= 6 && width * rows.shape(0) == digests.size()),
                       "a digest for each row, of six bytes or more, all of one length");
            check_that(buckets > 0, "there must be buckets");
            const std::string_view named = text(name), digested = text(digests);
            return commands_of([&] { return id_claims(named, digested, width, buckets, view(rows)); });
        },
        "name"_a, "digests"_a, "buckets"_a, "rows"_array,
        "HSETNX commands that give ids, by their digests, to rows, and how many they are.");
    module.def(
        "bucket_entries",
        [](const nb::typed<nb::list, nb::object>& values, std::size_t width) {
            check_that(width >= 2 && width <= 3, "an entry is a key of one or two words, and a row");
            std::vector<std::int64_t> starts{0};
            std::size_t bytes = 0;
            for (const nb::handle value : values) {
                if (nb::isinstance<nb::bytes>(value))
                    bytes += nb::borrow<nb::bytes>(value).size();
                else if (!value.is_none())
                    throw nb::type_error("a bucket is bytes or None");
            }
            std::vector<std::uint64_t> entries(bytes / 8);
            bytes = 0;
            for (const nb::handle value : values) {
                if (!value.is_none()) {
                    const std::string_view data = text(nb::borrow<nb::bytes>(value));
                    if (data.size() % (8 * width) != 0)
                        throw nb::index_error(std::to_string(starts.size() - 1).c_str());
                    std::copy(data.begin(), data.end(), reinterpret_cast<char*>(entries.data()) + bytes);
                    bytes += data.size();
                }
                starts.push_back(static_cast<std::int64_t>(bytes / (8 * width)));
            }
            return to_columns(to_numpy(std::move(entries), width), starts);
        },
        "values"_a, "width"_a,
        "Entries of so many words in buckets, and from where to where each bucket has its own. IndexError, "
        "with the number of a bucket, if its bytes are no entries.");
    module.def(
        "bucket_reads",
        [](const nb::bytes& name, const nb::bytes& kind, const Words& probes, const Longs& tables) {
            const char of_kind = check_kind(kind);
            check_that(probes.shape(1) == tables.shape(0), "probes and tables differ in length");
            for (const auto table : view(tables)) check_that(table >= 0, "tables are numbered from 0");
            const std::string_view named = text(name);
            auto out = without_gil([&] { return bucket_reads(named, of_kind, view(probes), view(tables)); });
            return to_columns(to_bytes(out.commands.packed), out.commands.count, out.buckets,
                              to_numpy(std::move(out.place), probes.shape(1)));
        },
        "name"_a, "kind"_a, "probes"_array, "tables"_array,
        "MGET commands for the buckets that are probed, how many they are and how many buckets they ask for, "
        "and which of these each probe needs.");
    bind_near(module, "bucket_matches", &bucket_matches,
              "Query, probe, entry and distance of the entries within the radius, by query and probe.");
    bind_near(module, "bucket_touched", &bucket_touched,
              "For each entry 1 if it is within the radius of any query, else 0.");
}

}  // namespace neardup
