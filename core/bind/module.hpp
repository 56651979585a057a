#pragma once
// What the binding files share. They are the border: check, release the GIL, call one kernel. No algorithm here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace neardup {

namespace nb = nanobind;
using namespace nb::literals;

// Array arguments: C-contiguous, on the CPU, and named by _array: without .noconvert() nanobind would silently copy an
// array of another type or stride.
template <class T>
using Column = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

using Bytes = Column<std::uint8_t>;
using Floats = Column<float>;
using Hashes = Column<std::uint64_t>;
using Longs = Column<std::int64_t>;
using Words = Matrix<std::uint64_t>;  // codes or keys, one or more words a row

template <class T>
std::span<const T> view(const Column<T>& column) {
    return {column.data(), column.shape(0)};
}
template <class T>
std::span<const T> view(const Matrix<T>& matrix) {
    return {matrix.data(), matrix.shape(0) * matrix.shape(1)};
}

// Nothing for an array that was not given.
template <class T>
std::span<const T> view(const std::optional<Column<T>>& column) {
    return column ? view(*column) : std::span<const T>{};
}

inline std::string_view bytes_of(const Bytes& column) {
    return {reinterpret_cast<const char*>(column.data()), column.shape(0)};
}

inline auto operator""_array(const char* name, std::size_t) { return nb::arg(name).noconvert(); }

// Runs a kernel without the interpreter's lock.
template <class Kernel>
auto without_gil(Kernel&& kernel) {
    const nb::gil_scoped_release release;
    return kernel();
}

// Hands a kernel's result to numpy without copying it.
template <class T, class Allocator>
    requires std::is_arithmetic_v<T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T, Allocator>&& values) {
    auto owned = std::make_unique<std::vector<T, Allocator>>(std::move(values));
    auto* held = owned.release();
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T, Allocator>*>(p); });
    return {held->data(), {held->size()}, owner};
}
template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<2>> to_numpy(std::vector<T>&& values, std::size_t columns) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    auto* held = owned.release();
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {held->data(), {columns == 0 ? 0 : held->size() / columns, columns}, owner};
}

// How many fields a struct has: as many values of any type as can initialise it.
struct AnyField {
    template <class T>
    operator T() const;
};
template <class Struct, class... Fields>
consteval std::size_t field_count() {
    if constexpr (requires { Struct{Fields{}..., AnyField{}}; })
        return field_count<Struct, Fields..., AnyField>();
    else
        return sizeof...(Fields);
}

// What a kernel returns, for Python: vectors of numbers become numpy arrays, and structs become tuples of their fields.
template <class... Values>
auto to_columns(Values&&... values);
template <class T>
auto to_python(T& value) {
    if constexpr (std::is_aggregate_v<T>) {
        constexpr std::size_t fields = field_count<T>();
        static_assert(2 <= fields && fields <= 6);
        if constexpr (fields == 2) {
            auto& [a, b] = value;
            return to_columns(a, b);
        } else if constexpr (fields == 3) {
            auto& [a, b, c] = value;
            return to_columns(a, b, c);
        } else if constexpr (fields == 4) {
            auto& [a, b, c, d] = value;
            return to_columns(a, b, c, d);
        } else if constexpr (fields == 5) {
            auto& [a, b, c, d, e] = value;
            return to_columns(a, b, c, d, e);
        } else {
            auto& [a, b, c, d, e, f] = value;
            return to_columns(a, b, c, d, e, f);
        }
    } else if constexpr (requires { to_numpy(std::move(value)); }) {
        return to_numpy(std::move(value));
    } else {
        return T(std::move(value));
    }
}
template <class... Values>
auto to_columns(Values&&... values) {
    return std::make_tuple(to_python(values)...);
}

// Runs a kernel without the interpreter's lock, and gives what it returns to Python.
template <class Kernel>
auto computed(Kernel&& kernel) {
    auto found = without_gil(kernel);
    return to_python(found);
}
// The same for a vector of rows of so many values.
template <class Kernel>
auto computed_rows(std::size_t columns, Kernel&& kernel) {
    return to_numpy(without_gil(kernel), columns);
}

// Constructs an object for `__init__`.
template <class T, class... Arguments>
void construct(T* self, Arguments&&... arguments) {
    without_gil([&] { new (self) T(std::forward<Arguments>(arguments)...); });
}

void bind_text(nb::module_& module);
void bind_prints(nb::module_& module);
void bind_search(nb::module_& module);
void bind_join(nb::module_& module);
void bind_segments(nb::module_& module);
void bind_sorted(nb::module_& module);
void bind_stages(nb::module_& module);
void bind_repeats(nb::module_& module);
void bind_shared(nb::module_& module);
void bind_changes(nb::module_& module);

}  // namespace neardup
