// Logs of nccl-tests and of the OSU micro-benchmarks, as people have them: with what mpirun and the scheduler wrote
// between the lines, in any of the layouts that these tools have had. What can be learned from one:
//
//   all_reduce_perf, osu_allreduce   seconds of an all-reduce by size, on the number of ranks that ran it. That, and no
//                                    more: other numbers of ranks, other algorithms and the links are not in it.
//   osu_latency                      seconds of a message by size (half a round trip): a link
//
// The number of ranks is in nccl-tests' list of devices; where that is missing, busbw / algbw = 2(n-1)/n tells it (the
// definition in nccl-tests' doc/PERFORMANCE.md), as far as the printed digits do. OSU's logs do not tell it.
//
// Rows that cannot be used (wrong results, no time, contradictory columns) are named, not dropped in silence.
#pragma once

#include "common/calibration/piecewise_fit.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

enum class LogSubject { AllReduce, Message };

struct LeftOutRow {
    int line = 0;
    double bytes = 0;
    std::string reason;  // "3 wrong elements"
};

struct MeasuredLog {
    std::string file;
    std::string tool;  // "nccl-tests all_reduce_perf", "osu_allreduce", "osu_latency"
    LogSubject subject = LogSubject::AllReduce;
    std::optional<std::int32_t> ranks;  // of an all-reduce, if the log tells it
    std::string ranks_told;             // by what ("its list of devices"), or why it does not tell
    std::string column;                 // which of its times: "out-of-place", "in-place", "average"
    std::vector<TimedSize> points;      // in the order of the file; sizes may repeat; at least one
    std::vector<LeftOutRow> left_out;
    int other_lines = 0;  // that are neither rows, comments nor blank
};

// Whether parse_log would know it; decided by its header or its rows, not by its name.
bool looks_like_log(std::string_view text);

// `in_place`: nccl-tests' in-place columns instead of the out-of-place ones. UserError, with file and line, for what is
// no such log, for a test that predictions have no use for, and for a log without a usable row.
MeasuredLog parse_log(std::string_view text, const std::string& file, bool in_place);

// The numbers of ranks n for which the printed busbw and algbw can be what they are: 2(n-1)/n, each bandwidth rounded
// to its last printed digit. One of several rows of a log.
struct RankRange {
    double least = 0;
    double most = 0;
};
RankRange ranks_of(std::string_view busbw, std::string_view algbw);

}  // namespace coppice
