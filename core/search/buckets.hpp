#pragma once
// Buckets of a table on a server: what a batch writes to them and reads from them, as commands of the server's protocol
// ("*3\r\n$6\r\nAPPEND\r\n..."), and which of the entries that come back are near.
//
// A bucket is a string under {NAME:s}k:t:b, with the shard s, the table t and the bucket b in hexadecimal. An entry is
// `words` words of a key, then its row, each eight bytes, the lowest first.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace neardup {

constexpr std::uint64_t bucket_shards = 128, shard_stride = 37;
// In one command, as a server does nothing else meanwhile. Buckets of followers ('f') may have a megabyte each.
constexpr std::size_t keys_at_once = 1000, follower_keys_at_once = 4;
// In a script that removes rows: so many buckets, and so many rows of all of them, unless one bucket alone has more.
constexpr std::size_t drop_buckets = 100, drop_rows = 250;

// Keys of rows, and which of their words a table has: from firsts[t] on `words` of them.
struct TableKeys {
    std::span<const std::uint64_t> keys;
    std::size_t width, words;  // words of a key, and of an entry
    std::span<const std::int64_t> firsts;
};

struct Commands {
    std::string packed;
    std::int64_t count = 0;
};

// One APPEND a bucket, with the entries of all rows that belong there; `homes` has the bucket of each row in each table.
Commands bucket_appends(std::string_view name, char kind, std::span<const std::uint64_t> homes,
                        TableKeys keys, std::span<const std::int64_t> rows);

// EVAL of a script for a few buckets each, with the rows, eight bytes each and ascending, that are to be taken out of
// every one, and `last` as the last word.
Commands bucket_drops(std::string_view name, char kind, std::span<const std::uint64_t> homes,
                      std::size_t tables, std::span<const std::int64_t> rows, std::string_view script,
                      std::string_view last);

// HSETNX of the row of each id, six bytes, under its digest of `width` bytes; an id is in bucket (its digest's first six
// bytes) mod `buckets`, the hash {NAME:s}i:b.
Commands id_claims(std::string_view name, std::string_view digests, std::size_t width, std::uint64_t buckets,
                   std::span<const std::int64_t> rows);

struct Reads {
    Commands commands;
    std::vector<std::int64_t> place;  // of each probe: which of the buckets that are read
    std::int64_t buckets = 0;
};

// MGET of the buckets that are probed, each once; probes are in columns by table, and tables[p] is the table of
// column p.
Reads bucket_reads(std::string_view name, char kind, std::span<const std::uint64_t> probes,
                   std::span<const std::int64_t> tables);

struct NearEntries {
    std::vector<std::int64_t> query, probe, entry, distance;
};

// The entries within the radius of each query, in the buckets that its probes have read; bucket b has the entries from
// starts[b] to starts[b + 1]. `keys.firsts` has one word for each probe.
NearEntries bucket_matches(TableKeys keys, std::span<const std::int64_t> place,
                           std::span<const std::uint64_t> entries, std::span<const std::int64_t> starts,
                           int radius);

// Of each entry: 1 if it is within the radius of any query that has read its bucket. Where many queries are near the
// same entries, this takes much less than the list of all their pairs.
std::vector<std::uint8_t> bucket_touched(TableKeys keys, std::span<const std::int64_t> place,
                                         std::span<const std::uint64_t> entries,
                                         std::span<const std::int64_t> starts, int radius);

}  // namespace neardup
