#include "runtime/median_interval.hpp"

#include "common/diag/error.hpp"
#include "common/units/median.hpp"

#include <algorithm>
#include <cmath>

namespace coppice {

MedianInterval median_interval(std::vector<double> samples) {
    COPPICE_CHECK(!samples.empty(), "the median of no sample");
    std::sort(samples.begin(), samples.end());
    const std::size_t n = samples.size();
    MedianInterval interval;
    interval.median = median(samples);
    interval.min = samples.front();
    interval.max = samples.back();
    interval.low = interval.min;
    interval.high = interval.max;
    if (n < kLeastForInterval) return interval;
    // The number of samples below the median is binomial(n, 1/2): mean n/2, deviation sqrt(n)/2, 1.96 of them to
    // either side; rounded outwards.
    const double half = 0.98 * std::sqrt(static_cast<double>(n));
    const double middle = static_cast<double>(n) / 2;
    const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(middle - half) - 1));
    const auto high = std::min(n - 1, static_cast<std::size_t>(std::ceil(middle + half)));
    interval.low = samples[low];
    interval.high = samples[high];
    return interval;
}

}  // namespace coppice
