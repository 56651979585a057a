#pragma once
// A column of texts as Python hands it over; shared by the binding files that take texts.
#include <nanobind/stl/optional.h>

#include <optional>

#include "bind/checks.hpp"
#include "text/text.hpp"

namespace neardup {

// A column of texts: views into Python strings, bytes or Arrow buffers, which it keeps alive.
class Texts {
  public:
    void add(nb::typed<nb::tuple, nb::object, nb::ellipsis> items) {
        views_.reserve(views_.size() + items.size());
        for (nb::handle item : items) views_.push_back(view_of(item.ptr()));
        owners_.append(items);
    }
    template <class Offset>
    void add_arrow(Bytes data, Column<Offset> offsets, std::optional<Bytes> validity, std::size_t first) {
        const std::size_t n = offsets.shape(0) == 0 ? 0 : offsets.shape(0) - 1;
        check_that(!validity || validity->shape(0) * 8 >= first + n, "validity bitmap too short");
        views_.reserve(views_.size() + n);
        for (std::size_t i = 0; i < n; ++i) {
            const auto begin = static_cast<std::int64_t>(offsets.data()[i]);
            const auto end = static_cast<std::int64_t>(offsets.data()[i + 1]);
            check_that(begin >= 0 && end >= begin && static_cast<std::size_t>(end) <= data.shape(0),
                       "text offsets are out of range");
            const std::size_t bit = first + i;
            const bool present = !validity || (validity->data()[bit / 8] >> (bit % 8) & 1);
            views_.push_back(
                {data.data() + begin, present ? static_cast<std::size_t>(end - begin) : 0, Encoding::utf8});
        }
        owners_.append(data);
    }
    // Texts anywhere in one buffer, in the order named.
    void add_spans(Bytes data, Longs begins, Longs ends) {
        const std::size_t n = begins.shape(0);
        check_lengths(begins, ends);
        views_.reserve(views_.size() + n);
        for (std::size_t i = 0; i < n; ++i) {
            const std::int64_t begin = begins.data()[i], end = ends.data()[i];
            check_that(begin >= 0 && end >= begin && static_cast<std::size_t>(end) <= data.shape(0),
                       "text offsets are out of range");
            views_.push_back({data.data() + begin, static_cast<std::size_t>(end - begin), Encoding::utf8});
        }
        owners_.append(data);
    }
    // The texts of another column behind these.
    void add_texts(const Texts& others) {
        views_.insert(views_.end(), others.views_.begin(), others.views_.end());
        owners_.append(others.owners_);
    }
    // Some of the texts, in the order named.
    Texts take(Longs rows) const {
        Texts some;
        some.views_.reserve(rows.shape(0));
        for (const std::int64_t row : view(rows)) {
            check_that(row >= 0 && static_cast<std::size_t>(row) < views_.size(), "there is no such row");
            some.views_.push_back(views_[static_cast<std::size_t>(row)]);
        }
        some.owners_.append(owners_);
        return some;
    }
    std::span<const Text> views() const { return views_; }

  private:
    static Text view_of(PyObject* item) {
        if (PyUnicode_Check(item)) {
            const auto n = static_cast<std::size_t>(PyUnicode_GET_LENGTH(item));
            if (PyUnicode_IS_ASCII(item)) return {PyUnicode_DATA(item), n, Encoding::utf8};
            switch (PyUnicode_KIND(item)) {
                case PyUnicode_1BYTE_KIND: return {PyUnicode_DATA(item), n, Encoding::latin1};
                case PyUnicode_2BYTE_KIND: return {PyUnicode_DATA(item), n, Encoding::ucs2};
                default: return {PyUnicode_DATA(item), n, Encoding::ucs4};
            }
        }
        if (PyBytes_Check(item))
            return {PyBytes_AS_STRING(item), static_cast<std::size_t>(PyBytes_GET_SIZE(item)),
                    Encoding::utf8};
        if (item == Py_None) return {nullptr, 0, Encoding::utf8};
        throw nb::type_error("a text must be str, bytes or None");
    }
    nb::list owners_;
    std::vector<Text> views_;
};

}  // namespace neardup
