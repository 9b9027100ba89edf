#include "common/choice/cost_shares.hpp"

#include "common/diag/error.hpp"

#include <limits>

namespace coppice {

CostShares cost_shares(const Ranked& ranked, std::uint64_t elements, std::uint32_t element_bytes,
                       const CostModel& cost) {
    COPPICE_CHECK(ranked.seconds.has_value(), "{} has no time", ranked.choice.canonical());
    Cluster cluster = cost.cluster();
    const auto seconds = [&] {
        return ranked.choice.strategy->closed_form_s(ranked.collective, elements, element_bytes, CostModel(cluster));
    };
    CostShares shares;
    cluster.device.sum_bytes_per_s = std::numeric_limits<double>::infinity();
    cluster.host.sum_bytes_per_s = std::numeric_limits<double>::infinity();
    const double without_sums_s = seconds();
    for (auto* const segments : {&cluster.link.segments, &cluster.link.both_ways})
        for (LinkSegment& segment : *segments) segment.latency_s = 0;
    const double without_latency_s = seconds();
    cluster.link.overhead_s = 0;
    shares.wire_s = seconds();
    shares.sums_s = *ranked.seconds - without_sums_s;
    shares.latency_s = without_sums_s - without_latency_s;
    shares.overhead_s = without_latency_s - shares.wire_s;
    return shares;
}

}  // namespace coppice
