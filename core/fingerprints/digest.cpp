#include "fingerprints/digest.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "parallel.hpp"

namespace neardup {

namespace {

// The first 8 bytes as a number that orders as they do; shorter digests are padded with zeros.
std::uint64_t leading(const std::uint8_t* digest, std::size_t width) {
    std::uint64_t key = 0;
    std::memcpy(&key, digest, std::min<std::size_t>(width, 8));
    return std::endian::native == std::endian::little ? __builtin_bswap64(key) : key;
}

struct Sorted {
    const std::uint8_t* digests;
    std::size_t width, count;

    bool below(std::size_t place, const std::uint8_t* wanted) const {
        return std::memcmp(digests + place * width, wanted, width) < 0;
    }
    bool equal(std::size_t place, const std::uint8_t* wanted) const {
        return std::memcmp(digests + place * width, wanted, width) == 0;
    }

    // The first place not below `wanted`. Guessed from its value, as digests are spread evenly; then steps double
    // away from the guess until the place is enclosed, so that uneven digests cost O(log n) all the same.
    std::size_t first_place(const std::uint8_t* wanted) const {
        std::size_t low = 0, high = count;  // the place is in [low, high]
        const auto product = static_cast<unsigned __int128>(leading(wanted, width)) * count;
        const auto guess = static_cast<std::size_t>(product >> 64);
        if (guess < count && below(guess, wanted)) {
            low = guess + 1;
            for (std::size_t step = 1; low < count && high == count; step *= 2) {
                const std::size_t place = std::min(low + step, count) - 1;
                if (!below(place, wanted))
                    high = place;
                else
                    low = place + 1;
            }
        } else {
            high = std::min(guess, count);
            for (std::size_t step = 1; high > 0 && low == 0; step *= 2) {
                const std::size_t place = high - std::min(step, high);
                if (below(place, wanted))
                    low = place + 1;
                else
                    high = place;
            }
        }
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (below(middle, wanted))
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }
};

}  // namespace

std::vector<std::int64_t> sort_digests(std::span<const std::uint8_t> digests, std::size_t width) {
    struct Entry {
        std::uint64_t key;
        std::int64_t row;
    };
    std::vector<Entry> entries(digests.size() / width);
    for (std::size_t i = 0; i < entries.size(); ++i)
        entries[i] = {leading(digests.data() + i * width, width), static_cast<std::int64_t>(i)};
    std::sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
        if (a.key != b.key) return a.key < b.key;
        const int order = std::memcmp(digests.data() + static_cast<std::size_t>(a.row) * width,
                                      digests.data() + static_cast<std::size_t>(b.row) * width, width);
        return order != 0 ? order < 0 : a.row < b.row;
    });
    std::vector<std::int64_t> order(entries.size());
    std::transform(entries.begin(), entries.end(), order.begin(),
                   [](const Entry& entry) { return entry.row; });
    return order;
}

Places find_digests(std::span<const std::uint8_t> sorted, std::span<const std::uint8_t> wanted,
                    std::size_t width, unsigned threads) {
    const Sorted table{sorted.data(), width, sorted.size() / width};
    const std::size_t count = wanted.size() / width;
    Places out{std::vector<std::int64_t>(count), std::vector<std::int64_t>(count)};
    in_parallel(count, threads, 1024, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint8_t* digest = wanted.data() + i * width;
            std::size_t last = table.first_place(digest);
            out.first[i] = static_cast<std::int64_t>(last);
            while (last < table.count && table.equal(last, digest)) ++last;
            out.last[i] = static_cast<std::int64_t>(last);
        }
    });
    return out;
}

}  // namespace neardup
