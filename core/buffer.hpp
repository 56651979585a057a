#pragma once
// A vector whose new elements hold whatever was there: for buffers that are overwritten document after document.
#include <memory>
#include <utility>
#include <vector>

namespace neardup {

template <class T>
struct Uninitialized : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = Uninitialized<U>;
    };
    template <class U, class... Args>
    void construct(U* place, Args&&... args) {
        if constexpr (sizeof...(Args) == 0)
            ::new (static_cast<void*>(place)) U;
        else
            ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
    }
};

template <class T>
using Buffer = std::vector<T, Uninitialized<T>>;

}  // namespace neardup
