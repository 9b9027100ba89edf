// The middle of a list: of an even number the mean of the two in the middle.
#pragma once

#include <vector>

namespace coppice {

double median(std::vector<double> values);  // of at least one

}  // namespace coppice
