#include "compare/identity.hpp"

#include <algorithm>
#include <cmath>

#include "parallel.hpp"

namespace neardup {

namespace {

constexpr std::size_t kPairs = 256;  // handed to a thread at a time
constexpr double kSlack = 1 - 1e-9;  // bounds are rounded, the result is not
constexpr std::size_t kSteps = 64;   // between two looks at what is left

double relative(double x, double y) {
    const double larger = std::max(x, y);
    return larger > 0 ? std::abs(x - y) / larger : 0;
}

double length_of(std::span<const float> counts) {
    double sum = 0;
    for (const double count : counts) sum += count;
    return sum;
}

double identity(const RaggedRows& rows, std::int64_t left, std::int64_t right, double least,
                Differences differences) {
    const auto a = rows.hashes_of(left), b = rows.hashes_of(right);
    if (a.empty() || b.empty()) return -1;
    const double larger = static_cast<double>(std::max(a.size(), b.size()));
    if (static_cast<double>(std::min(a.size(), b.size())) < kSlack * least * larger) return -1;
    const auto v = rows.weights_of(left), w = rows.weights_of(right);
    const double x = length_of(v), y = length_of(w);
    const bool far = differences == Differences::absolute;
    const double lengths = 1 / (1 + (far ? std::log1p(std::abs(x - y)) : relative(x, y)));
    const double needed = kSlack * least * larger / lengths;
    double sum = 0;
    std::size_t i = 0, j = 0;
    for (;;) {
        const std::size_t rest = std::min(a.size() - i, b.size() - j);
        if (sum + static_cast<double>(rest) < needed) return -1;
        if (rest == 0) break;
        for (std::size_t step = std::min(rest, kSteps); step > 0; --step) {
            if (a[i] == b[j]) {
                const double p = v[i], q = w[j];
                sum += 1 / (1 + (far ? std::abs(p - q) : relative(p, q)));
            }
            const std::uint64_t one = a[i], other = b[j];
            i += one <= other;
            j += other <= one;
        }
    }
    const double similarity = sum * lengths / larger;
    return sum > 0 && similarity >= least ? similarity : -1;
}

}  // namespace

std::vector<double> identity_at_least(const RaggedRows& rows, PairRows pairs, double least,
                                      Differences differences, unsigned threads) {
    std::vector<double> out(pairs.left.size());
    in_parallel(out.size(), threads, kPairs, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            out[i] = identity(rows, pairs.left[i], pairs.right[i], least, differences);
    });
    return out;
}

}  // namespace neardup
