// How well a median is known: the 95 % confidence interval between two order statistics, which assumes nothing of the
// distribution (times on a busy machine have long tails). Source: David and Nagaraja, "Order Statistics" (2003), 7.1.
#pragma once

#include <vector>

namespace coppice {

struct MedianInterval {
    double median = 0;
    double low = 0;
    double high = 0;
    double min = 0;
    double max = 0;
    // Half of the interval's width, relative to the median.
    double relative_half_width() const { return median > 0 ? (high - low) / 2 / median : 0; }
};

// Fewer samples than this say nothing with 95 %: P(all on one side of the median) = 2 / 2^n is 3 % at n = 6.
inline constexpr std::size_t kLeastForInterval = 6;

// Of at least one sample. Below kLeastForInterval the interval is the whole range.
MedianInterval median_interval(std::vector<double> samples);

}  // namespace coppice
