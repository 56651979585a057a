#include "text/placed_texts.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

#include "parallel.hpp"
#include "text/json_string.hpp"

namespace neardup {

namespace {

constexpr std::int64_t kGap = 1 << 14;       // bytes that are read between two texts rather than passed over
constexpr std::int64_t kTogether = 1 << 18;  // bytes of several texts that are read in one call
constexpr std::size_t kTexts = 64;           // handed to a thread at a time

// Whether the file has all these bytes.
bool read_bytes(int file, unsigned char* to, std::int64_t begin, std::int64_t size) {
    while (size > 0) {
        const ssize_t got = ::pread(file, to, static_cast<std::size_t>(size), static_cast<off_t>(begin));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw std::system_error(errno, std::generic_category());
        if (got == 0) return false;
        to += got;
        begin += got;
        size -= got;
    }
    return true;
}

}  // namespace

std::optional<Buffer<unsigned char>> placed_texts(int file, std::span<const std::int64_t> begins,
                                                  std::span<const std::int64_t> raws,
                                                  std::span<const std::int64_t> sizes, unsigned threads) {
    const std::size_t count = begins.size();
    std::vector<std::int64_t> places(count + 1);
    for (std::size_t i = 0; i < count; ++i) places[i + 1] = places[i] + sizes[i];
    Buffer<unsigned char> out(static_cast<std::size_t>(places.back()));
    std::atomic<bool> sound{true};
    struct Own {
        Buffer<unsigned char> raw, text;
    };
    const auto read = [&](Own& own, std::size_t first, std::size_t last, std::int64_t stop) {
        const std::int64_t start = begins[first];
        own.raw.resize(static_cast<std::size_t>(stop - start));
        if (!read_bytes(file, own.raw.data(), start, stop - start)) return false;
        return on_best_level([&]<Cpu level>() KERNEL {
            for (std::size_t i = first; i < last; ++i) {
                const unsigned char* at = own.raw.data() + (begins[i] - start);
                const unsigned char* const end = at + raws[i];
                own.text.resize(static_cast<std::size_t>(raws[i]) + kStringStep);
                unsigned char* to = own.text.data();
                if (!read_string<level>(at, end, to) || at != end || to - own.text.data() != sizes[i])
                    return false;
                std::copy(own.text.data(), to, out.data() + places[i]);
            }
            return true;
        });
    };
    in_parallel_with(
        count, threads, kTexts, [] { return Own(); },
        [&](Own& own, std::size_t from, std::size_t to) {
            for (std::size_t first = from, last; first < to && sound; first = last) {
                // Texts near each other are read in one call; the bytes between them cost less than another call.
                std::int64_t stop = begins[first] + raws[first];
                for (last = first + 1; last < to; ++last) {
                    const std::int64_t end = begins[last] + raws[last];
                    if (begins[last] < stop || begins[last] - stop > kGap || end - begins[first] > kTogether)
                        break;
                    stop = end;
                }
                if (!read(own, first, last, stop)) sound = false;
            }
        });
    if (!sound) return std::nullopt;
    return out;
}

}  // namespace neardup
