// From the records of `coppice-run probe` to a cluster: its link, and the rates of its hosts.
//
//   one-way     segments of the link; of the sizes that were sent in the same pieces as they
//   overhead    what of each one-way time is the sender's processor's; the segments have the rest
//   both-ways   segments of messages whose receiver sends as much at the same time (link.both_ways)
//   sum, update rates of the host's memory, by the largest size (which no cache holds); of the device's only if the
//               device is the host
//   incast      nothing; it is held against what the fitted link predicts, since the cost model assumes that a link is
//               shared fairly. So are both ways against one way, which shows what full duplex is worth there.
#pragma once

#include "common/calibration/piecewise_fit.hpp"
#include "common/calibration/probe_record.hpp"

#include <optional>
#include <string>
#include <vector>

namespace coppice {

// A measurement of several messages at once beside what the one-way link predicts, both ways apart and fairly shared.
struct ProbeCheck {
    std::string what;  // "both-ways", "incast"
    std::int64_t bytes = 0;
    std::int64_t senders = 0;
    double measured_s = 0;
    double predicted_s = 0;
    double ratio() const { return measured_s / predicted_s; }
};

struct ProbeFit {
    Cluster cluster;  // the base with what was measured in place of its own
    PiecewiseFit link;
    std::optional<PiecewiseFit> both_ways;
    double overhead_s = 0;
    std::vector<ProbeCheck> checks;
    std::vector<std::string> notes;  // what was decided, and what the probe did not tell
};

// UserError (at `where`) if what is needed is not in the records: messages one way of three sizes, all sent in the same
// pieces; with `device_is_host` also sums and updates. `base` may be empty where only the link is of interest.
ProbeFit fit_probe(const Cluster& base, const std::vector<ProbeRecord>& records, const SourceLocation& where,
                   FitOptions options, bool device_is_host);

// "coppice-run probe on node1, node2 (Open MPI v4.1.4)".
std::string describe_probe(const std::vector<ProbeRecord>& records);

}  // namespace coppice
