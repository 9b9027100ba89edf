// The two families of logs, for collective_log.cpp. Not for anybody else.
#pragma once

#include "common/calibration/collective_log.hpp"
#include "common/calibration/log_lines.hpp"

namespace coppice::logs {

bool is_nccl_log(const std::vector<Line>& lines);
MeasuredLog parse_nccl_log(const std::vector<Line>& lines, const std::string& file, bool in_place);

bool is_osu_log(const std::vector<Line>& lines);
MeasuredLog parse_osu_log(const std::vector<Line>& lines, const std::string& file);

}  // namespace coppice::logs
