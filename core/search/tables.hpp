#pragma once
// Tables over one set of codes: find every stored code within the radius of a query, or the first in probe order.
//
// The design makes the search exact: it promises that any difference of at most `radius` bits
// leaves a table with at most `flips` of them in its key. Nothing more is assumed here.
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "search/probes.hpp"
#include "search/rows.hpp"
#include "search/table.hpp"

namespace neardup {

struct Key {
    Code mask;
    unsigned flips;
    bool lists_flips = true;  // false: the caller's own prober lists the headers to probe
};
struct Design {
    unsigned bits, radius;
    std::vector<Key> keys;
    unsigned header_bits = 0;  // of every table; 0: from the number of codes

    unsigned words() const { return bits > 64 ? 2 : 1; }
    void check() const;
};

// Columns of a search's result, by query, then row.
struct Hits {
    std::vector<std::int64_t> query, row, size;
    std::vector<std::uint8_t> distance;
};

struct Request {
    Mode mode = Mode::all;
    bool expand = true;  // list every row of a group, or its lowest with the group's size
    unsigned threads = 1;
    bool hidden = true;           // live tables: also find rows that are hidden
    std::size_t most = SIZE_MAX;  // rows listed of one group in one segment, the lowest ones
};

// Lists the probes of one round of a batch; the default asks the flip sets of the table's shape.
struct Prober {
    virtual ~Prober() = default;
    virtual std::size_t probes(const Table& table) const { return table.shape().flip_sets().size(); }
    virtual void list(const Table& table, Batch& batch, std::size_t from, std::size_t to) {
        list_probes(table.shape(), table.presence(), batch, from, to);
    }
};

class Tables {
  public:
    Tables() = default;
    // `codes` has one code per row; rows are numbered by `rows`, or 0, 1, 2, ... when that is empty.
    Tables(const Design& design, std::span<const std::uint64_t> codes, std::span<const std::uint32_t> rows,
           unsigned threads);

    const Design& design() const { return design_; }
    std::size_t rows() const { return row_count_; }
    std::size_t codes() const { return rows_.codes(); }
    std::size_t bytes() const;
    std::size_t row_bytes() const { return rows_.bytes(); }
    std::vector<unsigned> header_bits() const;

    // One batch: adds to batch.found, marks batch.done. Rows get `base` added; dead ones do not exist.
    void search(Batch& batch, const Request& request, Prober& prober, std::int64_t base = 0,
                const Tombstones* dead = nullptr) const;
    // Adds every code with its row, plus `shift`, to the columns, in no special order. Dead ones (by row plus `base`) are
    // left out.
    void append(std::vector<std::uint64_t>& codes, std::vector<std::uint32_t>& rows, std::int64_t base,
                std::uint32_t shift, const Tombstones& dead) const;

  private:
    void confirm(Batch& batch, std::size_t table, const Request& request, std::int64_t base,
                 const Tombstones* dead) const;
    void resolve(Batch& batch, const Request& request, std::int64_t base, const Tombstones* dead) const;

    Design design_;
    std::size_t row_count_ = 0;
    std::vector<Table> tables_;  // the first one's order is the order of codes
    std::vector<Claim> claims_;  // of each table
    Rows rows_;
};

// Splits queries into batches, runs `body` on them in threads, and joins the hits in the order of queries.
Hits search_batches(std::span<const std::uint64_t> queries, unsigned words, const Request& request,
                    const std::function<void(Batch&, std::size_t first)>& body);
Hits search(const Tables& tables, std::span<const std::uint64_t> queries, const Request& request);

// Adds rows of one hit to batch.found.
void emit(Batch& batch, const Hit& hit, std::span<const std::uint32_t> rows, const Request& request,
          std::int64_t base, const Tombstones* dead);
bool any_alive(std::span<const std::uint32_t> rows, std::int64_t base, const Tombstones* dead);

// Header bits for a number of codes: buckets of 7 to 14 codes are one or two cache lines, and the table of buckets is
// small compared with the codes. One bit more when that saves a byte of every code.
unsigned header_bits_for(unsigned bits, std::size_t codes, bool with_presence);

}  // namespace neardup
