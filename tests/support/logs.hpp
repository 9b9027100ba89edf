// Logs as benchmarks write them, made from times: for tests of what reads them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

namespace coppice::testing {

struct LogStyle {
    int ranks = 16;
    bool listed = true;      // the list of devices
    bool old = false;        // no root, "error" instead of "#wrong"
    std::string label = {};  // before every line, as mpirun --tag-output puts it
    double in_place = 1;     // its times are so much longer
    std::string end = "\n";  // of a line
};

inline std::string nccl_header(const LogStyle& style) {
    std::string text;
    const auto line = [&](const std::string& content) { text += style.label + content + style.end; };
    line("# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 validation: 1");
    line("#");
    for (int rank = 0; style.listed && rank < style.ranks; ++rank)
        line(fmt::format("#  Rank {:2} Group  0 Pid {:6} on host{} device {:2} [0x0{}] GPU", rank, 4000 + rank,
                         rank / 8, rank % 8, rank % 8));
    const std::string root = style.old ? "" : "    root";
    const std::string times = fmt::format("     time   algbw   busbw {:>6}", style.old ? "error" : "#wrong");
    line("#                                          out-of-place                       in-place");
    line("#       size         count      type   redop" + root + times + times);
    line("#        (B)    (elements)                         (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)");
    return text;
}

// bandwidths with two decimals, as nccl-tests prints them; times with one, none from 10 ms on.
inline std::string nccl_row(const LogStyle& style, double bytes, double us, const std::string& wrong = "") {
    const double factor = 2.0 * (style.ranks - 1) / style.ranks;
    const std::string good = style.old ? "4e-07" : "0";
    const auto times = [&](double t, const std::string& check) {
        const double algbw = bytes / t * 1e-3;
        return fmt::format(" {:>8} {:7.2f} {:7.2f} {:>6}",
                           t >= 1e4 ? fmt::format("{:.0f}", t) : fmt::format("{:.1f}", t), algbw, algbw * factor,
                           check);
    };
    return fmt::format("{}{:12.0f} {:13.0f}     float     sum{}{}{}{}", style.label, bytes, bytes / 4,
                       style.old ? "" : "      -1", times(us, wrong.empty() ? good : wrong),
                       times(us * style.in_place, good), style.end);
}

// Sizes double from `first` on.
inline std::string nccl_log(const LogStyle& style, double first, const std::vector<double>& us) {
    std::string text = nccl_header(style);
    double bytes = first;
    for (const double t : us) {
        text += nccl_row(style, bytes, t);
        bytes *= 2;
    }
    return text + style.label + "# Out of bounds values : 0 OK" + style.end;
}

// Microseconds of a public run of all_reduce_perf on 2 nodes of 8 H100 each, out of place, 8 B to 8 GiB, doubling.
inline const std::vector<double> kH100_us{135.8,  123.2,  123.3,  123.4,  123.0, 123.6, 126.6,  147.1,
                                          125.8,  126.9,  131.6,  138.6,  155.2, 159.4, 159.3,  167.1,
                                          174.2,  203.2,  254.0,  364.6,  571.9, 977.6, 1059.9, 1261.6,
                                          1652.2, 2360.9, 3817.5, 6759.0, 12646, 24361, 47535};

// Microseconds of a public run of osu_allreduce on 128 nodes of 96 processes each, 4 B to 1 MiB, doubling: they fall at
// 8 of 18 steps.
inline const std::vector<double> kOsu_us{1843.35, 1900.26, 1706.61, 1654.69, 2362.89, 1128.86, 1747.89,
                                         1730.14, 1670.46, 2551.57, 2095.26, 3004.31, 4309.60, 4214.44,
                                         6758.50, 7008.36, 5033.63, 5897.29, 7660.03};

inline std::string osu_log(const std::string& test, double first, const std::vector<double>& us) {
    std::string text = fmt::format("\n# OSU MPI {} Test v5.8\n# Size       Avg Latency(us)\n", test);
    double bytes = first;
    for (const double t : us) {
        text += fmt::format("{:<15.0f}{:>12.2f}\n", bytes, t);
        bytes *= 2;
    }
    return text;
}

}  // namespace coppice::testing
