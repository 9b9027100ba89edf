// From what was measured of a machine to the figures of a cluster file.
#pragma once

#include "common/calibration/piecewise_fit.hpp"
#include "common/calibration/probe_record.hpp"
#include "common/config/value.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace coppice {

// What a probe tells of a machine. Without a value: the probe did not measure it.
struct Calibration {
    PiecewiseFit link;                      // one way
    std::optional<PiecewiseFit> both_ways;  // [[link.both_ways]]
    double overhead_s = 0;
    std::uint64_t segment_bytes = 0;  // that of the one-way messages, and how many of them
    std::uint32_t segments_in_flight = 0;
    std::optional<double> sum_bytes_per_s;     // of the largest size, so that no cache helps
    std::optional<double> update_bytes_per_s;  // likewise
    std::vector<std::string> notes;            // what the figures cannot say, in words
    std::string source;                        // hosts, MPI, version
};

// UserError (at `file`) if there are no one-way messages of two sizes, or messages that travelled in different ways.
Calibration calibrate(const std::vector<ProbeRecord>& records, const std::string& file, const FitOptions& options);

// `base`'s cluster file with the calibration's figures in place of its own. The device's rates are replaced only if
// `device_is_host`: a probe without a GPU tells nothing of one. Name and source are set.
config::Value calibrated_cluster(config::Value base, const Calibration& calibration, const std::string& name,
                                 bool device_is_host);

}  // namespace coppice
