#pragma once
// At how many places two rows of keys or sketch values agree.
#include <cstdint>
#include <span>
#include <vector>

namespace neardup {

// `values` has `places` numbers a row; left and right name rows. Where `none_is_zero`, a 0 agrees with nothing.
template <class Value>
std::vector<std::int64_t> agreeing_places(std::span<const Value> values, std::size_t places,
                                          std::span<const std::int64_t> left,
                                          std::span<const std::int64_t> right, bool none_is_zero,
                                          unsigned threads);

extern template std::vector<std::int64_t> agreeing_places(std::span<const std::uint32_t>, std::size_t,
                                                          std::span<const std::int64_t>,
                                                          std::span<const std::int64_t>, bool, unsigned);
extern template std::vector<std::int64_t> agreeing_places(std::span<const std::uint64_t>, std::size_t,
                                                          std::span<const std::int64_t>,
                                                          std::span<const std::int64_t>, bool, unsigned);

}  // namespace neardup
