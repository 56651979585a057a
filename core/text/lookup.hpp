#pragma once
// A read-only map from 64-bit hashes to values: open addressing, a third full at most.
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "text/hash.hpp"

namespace neardup {

template <class Value>
class Lookup {
  public:
    Lookup() : Lookup({}, {}) {}
    // Of equal keys the last one counts.
    Lookup(std::span<const std::uint64_t> keys, std::span<const Value> values)
        : slots_(std::bit_ceil(keys.size() * 3 + 2)), shift_(64 - std::countr_zero(slots_.size())) {
        for (std::size_t i = 0; i < keys.size(); ++i) {
            Slot& slot = slots_[place(keys[i])];
            size_ += !slot.used;
            slot = {keys[i], values[i], true};
        }
    }

    std::size_t size() const { return size_; }
    KERNEL const Value* find(std::uint64_t key) const {
        const Slot& slot = slots_[place(key)];
        return slot.used ? &slot.value : nullptr;
    }
    KERNEL void prefetch(std::uint64_t key) const { __builtin_prefetch(&slots_[home(key)]); }

  private:
    struct Slot {
        std::uint64_t key = 0;
        Value value = {};
        bool used = false;
    };
    // Keys may come from anyone, so the place is a mix of them rather than their own bits.
    KERNEL std::size_t home(std::uint64_t key) const { return (key * 0x9E3779B97F4A7C15u) >> shift_; }
    KERNEL std::size_t place(std::uint64_t key) const {
        std::size_t i = home(key);
        while (slots_[i].used && slots_[i].key != key) i = (i + 1) & (slots_.size() - 1);
        return i;
    }

    std::vector<Slot> slots_;
    int shift_;
    std::size_t size_ = 0;
};

}  // namespace neardup
