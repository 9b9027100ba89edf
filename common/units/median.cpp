#include "common/units/median.hpp"

#include "common/diag/error.hpp"

#include <algorithm>

namespace coppice {

double median(std::vector<double> values) {
    COPPICE_CHECK(!values.empty(), "the median of nothing");
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace coppice
