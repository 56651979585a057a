#include "join/agree.hpp"

#include "cpu.hpp"
#include "parallel.hpp"

namespace neardup {

template <class Value>
std::vector<std::int64_t> agreeing_places(std::span<const Value> values, std::size_t places,
                                          std::span<const std::int64_t> left,
                                          std::span<const std::int64_t> right, bool none_is_zero,
                                          unsigned threads) {
    std::vector<std::int64_t> found(left.size());
    const Value* const all = values.data();
    const std::int64_t *const lefts = left.data(), *const rights = right.data();
    std::int64_t* const out = found.data();
    const Value any = none_is_zero ? 0 : 1;
    in_parallel(left.size(), threads, 4096, [=](std::size_t from, std::size_t to) {
        on_best_cpu([=]() KERNEL {
            for (std::size_t pair = from; pair < to; ++pair) {
                const Value* const a = all + static_cast<std::size_t>(lefts[pair]) * places;
                const Value* const b = all + static_cast<std::size_t>(rights[pair]) * places;
                // Counted in numbers of the values' own width, so that the loop has no branch and one width.
                Value same = 0;
                for (std::size_t i = 0; i < places; ++i)
                    same += static_cast<Value>(a[i] == b[i]) & static_cast<Value>((a[i] | any) != 0);
                out[pair] = static_cast<std::int64_t>(same);
            }
        });
    });
    return found;
}

template std::vector<std::int64_t> agreeing_places(std::span<const std::uint32_t>, std::size_t,
                                                   std::span<const std::int64_t>,
                                                   std::span<const std::int64_t>, bool, unsigned);
template std::vector<std::int64_t> agreeing_places(std::span<const std::uint64_t>, std::size_t,
                                                   std::span<const std::int64_t>,
                                                   std::span<const std::int64_t>, bool, unsigned);

}  // namespace neardup
