#pragma once
// Texts that stayed in their file, read again from where they are. The only kernel that reads a file: a call from
// Python for each text would cost more than the text.
#include <cstdint>
#include <optional>
#include <span>

#include "buffer.hpp"

namespace neardup {

// The texts that lie in a file from byte `begins[i]` on, in `raws[i]` bytes, as JSON writes them between quotes, one
// behind the other. Text i must have `sizes[i]` bytes; returns none if one has not, or is no text, or if the file ends
// before it. `file` is an open descriptor; std::system_error if it cannot be read.
std::optional<Buffer<unsigned char>> placed_texts(int file, std::span<const std::int64_t> begins,
                                                  std::span<const std::int64_t> raws,
                                                  std::span<const std::int64_t> sizes, unsigned threads);

}  // namespace neardup
