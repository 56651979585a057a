#pragma once
// What the binding files share. They are the border: check, release the GIL, call one kernel. No algorithm here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <memory>
#include <span>
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

inline auto operator""_array(const char* name, std::size_t) { return nb::arg(name).noconvert(); }

// Runs a kernel without the interpreter's lock.
template <class Kernel>
auto without_gil(Kernel&& kernel) {
    const nb::gil_scoped_release release;
    return kernel();
}

// Hands a kernel's result to numpy without copying it.
template <class T, class Allocator>
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

// A tuple for Python: vectors become numpy arrays, other values are passed on.
template <class T, class Allocator>
    requires std::is_arithmetic_v<T>
auto to_column(std::vector<T, Allocator>& values) {
    return to_numpy(std::move(values));
}
template <class T>
T to_column(T& value) {
    return std::move(value);
}
template <class... Values>
auto to_columns(Values&&... values) {
    return std::make_tuple(to_column(values)...);
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
