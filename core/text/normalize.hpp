#pragma once
// Text to normalised text: UTF-8 bytes in which the tokens are marked.
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/text.hpp"
#include "text/unicode.hpp"

namespace neardup {

struct Normalizer {
    bool nfkc = true;          // compatibility composition; invisible format characters are dropped
    bool casefold = true;      // full case folding
    bool accents = true;       // keep accents
    bool digits = true;        // keep digits; else every run of them is one 0
    bool punctuation = false;  // keep punctuation: each such character is a token
};

// One normalised document. Two bits for each byte: does it belong to a token, and does it begin one although the byte
// before belongs to a token too (scripts without spaces). Buffers are kept from document to document.
class NormalText {
  public:
    // Replaces what was here; returns how many ill-formed sequences were replaced by U+FFFD.
    std::size_t assign(const Text& text, const Normalizer& how);

    // Eight bytes before the first and behind the last may be read: hashing need not look where a token ends.
    std::string_view bytes() const { return {bytes_.data() + kFront, size_}; }
    // The same to be changed; each block of 64 bytes may be written whole.
    char* data() { return bytes_.data() + kFront; }

    // Bits of bytes 64 * block to 64 * block + 63; blocks() is one more than the text fills, so the last is zero.
    std::size_t blocks() const { return size_ / 64 + 1; }
    std::uint64_t in_token(std::size_t block) const { return in_token_[block]; }
    std::uint64_t begins(std::size_t block) const { return begins_[block]; }

  private:
    static constexpr std::size_t kFront = 8, kSlack = 64;  // blocks are written whole

    char* place() { return bytes_.data() + kFront + size_; }
    void reserve(std::size_t more) {
        const std::size_t need = kFront + size_ + more + kSlack;
        if (need > bytes_.size()) grow(need);
    }
    void grow(std::size_t need);
    void mark(std::vector<std::uint64_t>& bits, std::size_t place, std::uint64_t mask);
    void ascii(const char* p, std::size_t n);
    void emit(char32_t c, Properties what);
    void unaccented(char32_t c, Properties what);
    void put(char32_t c, Properties what);
    std::size_t utf8(const char* p, const char* end);
    // Reads plain characters, many at a time; returns where it stops, before one that composed() has to read.
    const char* plain(const char* p, const char* end);
    // Reads one character and the unsafe ones behind it, and brings them to NFKC together.
    const char* composed(const char* p, const char* end, std::size_t& replaced);

    Normalizer how_;
    std::vector<char> bytes_, transcoded_;
    std::vector<std::uint64_t> in_token_, begins_;
    std::vector<char32_t> segment_;
    std::size_t size_ = 0;
    bool after_single_ = false, after_digit_ = false;
};

}  // namespace neardup
