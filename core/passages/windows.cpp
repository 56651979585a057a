#include "passages/windows.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>

#include "parallel.hpp"
#include "text/shingle.hpp"

namespace neardup {

namespace {

constexpr std::size_t kAtOnce = 64;  // windows whose slots are fetched together

// Calls body(hashes, count, place) with the hashes of up to kAtOnce windows that follow each other.
template <class Body>
void each_window(const Piece& piece, const WindowHash& how, std::size_t document, Body body) {
    const std::uint64_t base = shingle_base(how.seed);
    std::uint64_t leading = 1;
    for (std::size_t i = 1; i < how.width; ++i) leading *= base;
    const auto begin = static_cast<std::size_t>(piece.offsets[document]);
    const auto end = static_cast<std::size_t>(piece.offsets[document + 1]);
    if (end - begin < how.width) return;
    const std::uint64_t owner =
        how.apart ? mix(how.seed + static_cast<std::uint64_t>(piece.documents) + document + 1) : 0;
    const std::uint64_t* tokens = piece.tokens.data();
    std::uint64_t sum = 0;
    for (std::size_t i = begin; i < begin + how.width - 1; ++i) sum = sum * base + tokens[i];
    std::array<std::uint64_t, kAtOnce> hashes;
    const std::size_t windows = end - begin - how.width + 1;
    for (std::size_t from = 0; from < windows; from += kAtOnce) {
        const std::size_t count = std::min(kAtOnce, windows - from);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t at = begin + from + i;
            sum = sum * base + tokens[at + how.width - 1];
            hashes[i] = mix(shingle_hash(sum, how.width) + owner) >> (64 - how.bits) << (64 - how.bits);
            sum -= leading * tokens[at];
        }
        body(hashes.data(), count, piece.place + static_cast<std::int64_t>(begin + from));
    }
}

}  // namespace

WindowFilter::WindowFilter(int slot_bits)
    : shift_(64 - slot_bits), words_((std::size_t{1} << slot_bits) / 32 + 1) {}

void WindowFilter::mark(const Piece& piece, const WindowHash& how, unsigned threads) {
    const std::size_t documents = piece.offsets.size() - 1;
    std::uint64_t* words = words_.data();
    in_parallel(documents, threads, 16, [&](std::size_t from, std::size_t to) {
        for (std::size_t document = from; document < to; ++document)
            each_window(
                piece, how, document, [&](const std::uint64_t* hashes, std::size_t count, std::int64_t) {
                    for (std::size_t i = 0; i < count; ++i)
                        __builtin_prefetch(words + slot(hashes[i]) / 32, 1);
                    for (std::size_t i = 0; i < count; ++i) {
                        const std::size_t at = slot(hashes[i]);
                        const std::uint64_t seen = std::uint64_t{1} << (at % 32 * 2), again = seen << 1;
                        std::uint64_t& word = words[at / 32];
                        if (threads <= 1) {
                            word |= (word & seen) << 1 | seen;
                            continue;
                        }
                        // The second thread finds the first bit set, so their order does not matter.
                        const std::atomic_ref shared(word);
                        const std::uint64_t now = shared.load(std::memory_order_relaxed);
                        if (now & again) continue;
                        if ((now & seen) || (shared.fetch_or(seen, std::memory_order_relaxed) & seen))
                            shared.fetch_or(again, std::memory_order_relaxed);
                    }
                });
    });
}

WindowFilter::Found WindowFilter::collect(const Piece& piece, const WindowHash& how, unsigned threads) const {
    const std::size_t documents = piece.offsets.size() - 1, chunk = 16;
    std::vector<Found> parts((documents + chunk - 1) / chunk);
    const std::uint64_t* words = words_.data();
    in_parallel(documents, threads, chunk, [&](std::size_t from, std::size_t to) {
        for (std::size_t document = from; document < to; ++document) {
            Found& out = parts[document / chunk];
            each_window(piece, how, document,
                        [&](const std::uint64_t* hashes, std::size_t count, std::int64_t place) {
                            for (std::size_t i = 0; i < count; ++i)
                                __builtin_prefetch(words + slot(hashes[i]) / 32);
                            for (std::size_t i = 0; i < count; ++i) {
                                const std::size_t at = slot(hashes[i]);
                                if (!(words[at / 32] >> (at % 32 * 2 + 1) & 1)) continue;
                                out.hashes.push_back(hashes[i]);
                                out.places.push_back(place + static_cast<std::int64_t>(i));
                            }
                        });
        }
    });
    Found all;
    for (Found& part : parts) {
        all.hashes.insert(all.hashes.end(), part.hashes.begin(), part.hashes.end());
        all.places.insert(all.places.end(), part.places.begin(), part.places.end());
        part = {};
    }
    return all;
}

Repeated group_windows(std::span<const std::uint64_t> hashes, std::span<const std::int64_t> places,
                       std::size_t least, unsigned threads) {
    struct Item {
        std::uint64_t hash;
        std::int64_t place;
        bool same(const Item& other) const { return hash == other.hash; }
        bool less(const Item& other) const {
            return hash != other.hash ? hash < other.hash : place < other.place;
        }
    };
    Buffer<Item> items(hashes.size());
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = {hashes[i], places[i]};
    return group(items, least, threads);
}

Repeated in_order(std::span<const std::int64_t> places, std::span<const std::int64_t> firsts,
                  std::span<const std::int64_t> counts, unsigned threads) {
    struct Item {
        std::int64_t place, first, count;
    };
    Repeated out;
    if (places.empty()) return out;
    Buffer<Item> items(places.size());
    for (std::size_t i = 0; i < items.size(); ++i) items[i] = {places[i], firsts[i], counts[i]};
    const auto [low, high] = std::minmax_element(places.begin(), places.end());
    const int shift = std::countl_zero(static_cast<std::uint64_t>(*high - *low) | 1);
    sort_in_buckets(
        items, threads,
        [from = *low, shift](const Item& item) {
            return static_cast<std::uint64_t>(item.place - from) << shift;
        },
        [](const Item& a, const Item& b) { return a.place < b.place; });
    out.places.reserve(items.size());
    out.firsts.reserve(items.size());
    out.counts.reserve(items.size());
    for (const Item& item : items) {
        out.places.push_back(item.place);
        out.firsts.push_back(item.first);
        out.counts.push_back(item.count);
    }
    return out;
}

std::size_t Chains::check(std::span<const std::int64_t> places, std::span<const std::int64_t> firsts,
                          std::span<const std::int64_t> counts, std::span<const std::uint64_t> tokens) {
    std::size_t wrong = 0;
    Last& last = checked_;
    for (std::size_t i = 0; i < places.size(); ++i) {
        const bool follows = places[i] == last.place + 1 && firsts[i] == last.first + 1;
        if (last.place >= 0 && !(follows && counts[i] == last.count)) end_chain(last.first);
        // Behind a window that equals its first, the next one does so if its last token does.
        const std::size_t from = follows ? width_ - 1 : 0;
        const std::uint64_t* here = tokens.data() + places[i];
        const std::uint64_t* there = tokens.data() + firsts[i];
        wrong += !std::equal(here + from, here + width_, there + from);
        last = {places[i], firsts[i], counts[i]};
    }
    return wrong;
}

void Chains::join(std::span<const std::int64_t> places, std::span<const std::int64_t> firsts,
                  std::span<const std::int64_t> counts, std::int64_t most) {
    Last& last = joined_;
    Words& out = words_;
    if (last.place < 0 && checked_.place >= 0) end_chain(checked_.first);
    const auto width = static_cast<std::int64_t>(width_);
    const auto letter = [&](std::int64_t name, std::int64_t place) {
        out.letters.push_back(name);
        out.starts.push_back(place);
        out.sizes.push_back(0);
    };
    for (std::size_t i = 0; i < places.size(); ++i) {
        const bool beside = places[i] == last.place + 1;
        if (!beside) letter(-++stretches_, places[i]);
        if (!beside || broken(last.first)) letter(firsts[i], places[i]);
        ++out.sizes.back();
        if (places[i] != firsts[i] || (most > 0 && counts[i] > most)) {
            if (out.cuts.empty() || out.cuts.back() <= places[i]) {
                out.cuts.push_back(places[i]);
                out.cuts.push_back(places[i] + width);
            } else {
                out.cuts.back() = places[i] + width;
            }
        }
        last = {places[i], firsts[i], counts[i]};
    }
}

}  // namespace neardup
