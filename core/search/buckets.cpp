#include "search/buckets.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <utility>

#include "search/hamming.hpp"

namespace neardup {

static_assert(std::endian::native == std::endian::little, "entries are written as they are in memory");

namespace {

constexpr std::size_t row_bytes = 6;  // of a row's number where it is the value of an id

void number(std::string& out, std::uint64_t value, int base = 10) {
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, base).ptr;
    out.append(digits.data(), end);
}

void head(std::string& out, char kind, std::uint64_t value) {
    out.push_back(kind);
    number(out, value);
    out.append("\r\n");
}

void word(std::string& out, std::string_view text) {
    head(out, '$', text.size());
    out.append(text).append("\r\n");
}

void word(std::string& out, const void* data, std::size_t bytes) {
    word(out, {static_cast<const char*>(data), bytes});
}

class Names {
  public:
    Names(std::string_view name, char kind) : name_(name), kind_(kind) {}

    std::string_view of(std::uint64_t table, std::uint64_t bucket) {
        key_.assign(1, '{').append(name_).push_back(':');
        number(key_, (bucket + shard_stride * table) % bucket_shards, 16);
        key_.append("}").push_back(kind_);
        key_.push_back(':');
        number(key_, table, 16);
        key_.push_back(':');
        number(key_, bucket, 16);
        return key_;
    }

  private:
    std::string_view name_;
    char kind_;
    std::string key_;
};

using Homes = std::vector<std::pair<std::uint64_t, std::size_t>>;

// Calls with the rows of each bucket of a table, in their order.
template <class Call>
void each_bucket(std::span<const std::uint64_t> homes, std::size_t tables, std::size_t table, Homes& sorted,
                 Call call) {
    const std::size_t rows = homes.size() / tables;
    sorted.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) sorted[i] = {homes[i * tables + table], i};
    std::sort(sorted.begin(), sorted.end());
    for (std::size_t first = 0; first < rows;) {
        std::size_t last = first + 1;
        while (last < rows && sorted[last].first == sorted[first].first) ++last;
        call(sorted[first].first, std::span(sorted).subspan(first, last - first));
        first = last;
    }
}

}  // namespace

Commands bucket_appends(std::string_view name, char kind, std::span<const std::uint64_t> homes,
                        TableKeys keys, std::span<const std::int64_t> rows) {
    Commands out;
    Names names(name, kind);
    Homes sorted;
    std::vector<std::uint64_t> entries;
    const std::size_t tables = keys.firsts.size();
    for (std::size_t table = 0; table < tables; ++table) {
        const auto first = static_cast<std::size_t>(keys.firsts[table]);
        each_bucket(homes, tables, table, sorted,
                    [&](std::uint64_t bucket, std::span<const Homes::value_type> members) {
                        entries.clear();
                        for (const auto& [home, row] : members) {
                            const auto key = keys.keys.subspan(row * keys.width + first, keys.words);
                            entries.insert(entries.end(), key.begin(), key.end());
                            entries.push_back(static_cast<std::uint64_t>(rows[row]));
                        }
                        out.packed.append("*3\r\n$6\r\nAPPEND\r\n");
                        word(out.packed, names.of(table, bucket));
                        word(out.packed, entries.data(), entries.size() * 8);
                        ++out.count;
                    });
    }
    return out;
}

Commands bucket_drops(std::string_view name, char kind, std::span<const std::uint64_t> homes,
                      std::size_t tables, std::span<const std::int64_t> rows, std::string_view script,
                      std::string_view last) {
    Commands out;
    Names names(name, kind);
    Homes sorted;
    std::string keys, values;
    std::size_t buckets = 0, many = 0;
    std::vector<std::int64_t> dead;
    const auto flush = [&] {
        if (buckets == 0) return;
        head(out.packed, '*', 4 + 2 * buckets);
        word(out.packed, "EVAL");
        word(out.packed, script);
        std::string counted;
        number(counted, buckets);
        word(out.packed, counted);
        out.packed.append(keys).append(values);
        word(out.packed, last);
        ++out.count;
        keys.clear();
        values.clear();
        buckets = many = 0;
    };
    for (std::size_t table = 0; table < tables; ++table)
        each_bucket(homes, tables, table, sorted,
                    [&](std::uint64_t bucket, std::span<const Homes::value_type> members) {
                        dead.clear();
                        for (const auto& [home, row] : members) dead.push_back(rows[row]);
                        std::sort(dead.begin(), dead.end());
                        if (many + dead.size() > drop_rows) flush();
                        word(keys, names.of(table, bucket));
                        word(values, dead.data(), dead.size() * 8);
                        many += dead.size();
                        if (++buckets == drop_buckets) flush();
                    });
    flush();
    return out;
}

Commands id_claims(std::string_view name, std::string_view digests, std::size_t width, std::uint64_t buckets,
                   std::span<const std::int64_t> rows) {
    Commands out;
    std::string key;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto digest = digests.substr(i * width, width);
        std::uint64_t bucket = 0;
        std::memcpy(&bucket, digest.data(), row_bytes);
        bucket %= buckets;
        key.assign(1, '{').append(name).push_back(':');
        number(key, bucket % bucket_shards, 16);
        key.append("}i:");
        number(key, bucket, 16);
        out.packed.append("*4\r\n$6\r\nHSETNX\r\n");
        word(out.packed, key);
        word(out.packed, digest);
        word(out.packed, &rows[i], row_bytes);
        ++out.count;
    }
    return out;
}

Reads bucket_reads(std::string_view name, char kind, std::span<const std::uint64_t> probes,
                   std::span<const std::int64_t> tables) {
    Reads out;
    Names names(name, kind);
    std::string keys;
    std::size_t waiting = 0;
    const std::size_t most = kind == 'f' ? follower_keys_at_once : keys_at_once;
    out.place.resize(probes.size());
    const auto flush = [&] {
        if (waiting == 0) return;
        head(out.commands.packed, '*', 1 + waiting);
        out.commands.packed.append("$4\r\nMGET\r\n").append(keys);
        ++out.commands.count;
        keys.clear();
        waiting = 0;
    };
    const std::size_t columns = tables.size(), queries = columns == 0 ? 0 : probes.size() / columns;
    Homes sorted;
    for (std::size_t first = 0; first < columns;) {
        std::size_t last = first + 1;
        while (last < columns && tables[last] == tables[first]) ++last;
        sorted.clear();
        for (std::size_t i = 0; i < queries; ++i)
            for (std::size_t p = first; p < last; ++p)
                sorted.emplace_back(probes[i * columns + p], i * columns + p);
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            if (i == 0 || sorted[i].first != sorted[i - 1].first) {
                word(keys, names.of(static_cast<std::uint64_t>(tables[first]), sorted[i].first));
                ++out.buckets;
                if (++waiting == most) flush();
            }
            out.place[sorted[i].second] = out.buckets - 1;
        }
        first = last;
    }
    flush();
    return out;
}

NearEntries bucket_matches(TableKeys keys, std::span<const std::int64_t> place,
                           std::span<const std::uint64_t> entries, std::span<const std::int64_t> starts,
                           int radius) {
    NearEntries out;
    const std::size_t probes = keys.firsts.size(), queries = probes == 0 ? 0 : place.size() / probes;
    const std::size_t width = keys.words + 1;
    on_best_cpu([&]() KERNEL {
        for (std::size_t query = 0; query < queries; ++query)
            for (std::size_t probe = 0; probe < probes; ++probe) {
                const auto bucket = static_cast<std::size_t>(place[query * probes + probe]);
                const auto* key =
                    &keys.keys[query * keys.width + static_cast<std::size_t>(keys.firsts[probe])];
                for (std::int64_t entry = starts[bucket]; entry < starts[bucket + 1]; ++entry) {
                    const int far =
                        distance(key, &entries[static_cast<std::size_t>(entry) * width], keys.words);
                    if (far > radius) continue;
                    out.query.push_back(static_cast<std::int64_t>(query));
                    out.probe.push_back(static_cast<std::int64_t>(probe));
                    out.entry.push_back(entry);
                    out.distance.push_back(far);
                }
            }
    });
    return out;
}

std::vector<std::uint8_t> bucket_touched(TableKeys keys, std::span<const std::int64_t> place,
                                         std::span<const std::uint64_t> entries,
                                         std::span<const std::int64_t> starts, int radius) {
    const std::size_t probes = keys.firsts.size(), queries = probes == 0 ? 0 : place.size() / probes;
    const std::size_t width = keys.words + 1;
    std::vector<std::uint8_t> touched(entries.size() / width);
    std::vector<std::int64_t> left(starts.size());  // entries of each bucket that are not touched yet
    for (std::size_t bucket = 0; bucket + 1 < starts.size(); ++bucket)
        left[bucket] = starts[bucket + 1] - starts[bucket];
    on_best_cpu([&]() KERNEL {
        for (std::size_t query = 0; query < queries; ++query)
            for (std::size_t probe = 0; probe < probes; ++probe) {
                const auto bucket = static_cast<std::size_t>(place[query * probes + probe]);
                if (left[bucket] == 0) continue;
                const auto* key =
                    &keys.keys[query * keys.width + static_cast<std::size_t>(keys.firsts[probe])];
                for (auto entry = static_cast<std::size_t>(starts[bucket]);
                     entry < static_cast<std::size_t>(starts[bucket + 1]); ++entry) {
                    if (touched[entry] != 0) continue;
                    if (distance(key, &entries[entry * width], keys.words) > radius) continue;
                    touched[entry] = 1;
                    --left[bucket];
                }
            }
    });
    return touched;
}

}  // namespace neardup
