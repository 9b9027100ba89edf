#include "common/calibration/collective_log.hpp"

#include "common/calibration/log_formats.hpp"
#include "common/diag/error.hpp"

namespace coppice {

bool looks_like_log(std::string_view text) {
    const std::vector<logs::Line> lines = logs::lines_of(text);
    return logs::is_osu_log(lines) || logs::is_nccl_log(lines);
}

MeasuredLog parse_log(std::string_view text, const std::string& file, bool in_place) {
    const std::vector<logs::Line> lines = logs::lines_of(text);
    const bool osu = logs::is_osu_log(lines);
    if (!osu && !logs::is_nccl_log(lines))
        throw UserError({{file},
                         "",
                         "neither a header nor a row of a table that is known",
                         "a log of nccl-tests (all_reduce_perf) or of the OSU benchmarks (osu_allreduce, osu_latency)",
                         "the whole output of the tool, with its header"});
    if (osu && in_place)
        throw UserError({{"--in-place", 0, 0},
                         "",
                         "a log of the OSU benchmarks, " + file,
                         "a log of nccl-tests, which has out-of-place and in-place columns",
                         ""});
    MeasuredLog log = osu ? logs::parse_osu_log(lines, file) : logs::parse_nccl_log(lines, file, in_place);
    if (!log.points.empty()) return log;
    if (log.left_out.empty())
        throw UserError({{file},
                         "",
                         "a header without any row",
                         osu ? "rows such as '1024  1670.46': bytes and microseconds"
                             : "rows such as '1024 256 float sum -1 147.1 0.01 0.01 0 ...': bytes, elements, type, "
                               "operation, microseconds, bandwidths",
                         "is the log cut off?"});
    const LeftOutRow& first = log.left_out.front();
    throw UserError({{file, first.line, 0},
                     "",
                     fmt::format("no usable row: of {}, the first has {}", log.left_out.size(), first.reason),
                     "rows with a time and correct results",
                     ""});
}

}  // namespace coppice
