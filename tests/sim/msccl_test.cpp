// A schedule that went out as MSCCL's XML and came back takes as long as before.
#include "tests/support/msccl.hpp"
#include "common/msccl/msccl_xml.hpp"
#include "tests/support/sim_support.hpp"
#include "tests/support/strategy_cases.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

using namespace coppice::testing;

double seconds(const Schedule& schedule, const Cluster& cluster, std::uint64_t elements) {
    return simulate_once(schedule, {{{elements, 4}}, {}}, cluster).total_s;
}

// Sums cost time here, so that their order matters too.
Cluster summing_cluster() {
    Cluster cluster = reference_cluster();
    cluster.device.sum_bytes_per_s = 50e9;
    return cluster;
}

TEST(MscclInTheSimulator, a_round_trip_takes_the_same_time) {
    const Cluster cluster = summing_cluster();
    for (const char* name :
         {"ring", "tree", "tree(shape=chain,segments=6)", "tree(shape=binary,segments=4)", "double-tree",
          "double-tree(segments=5)", "halving-doubling", "recursive-doubling", "ps(sum=ordered)"}) {
        for (const std::int32_t p : {2, 3, 4, 7, 8}) {
            for (const std::uint64_t elements : {1000u, 1000003u}) {
                SCOPED_TRACE(fmt::format("{} on {}, {} elements", name, p, elements));
                const Schedule schedule = schedule_of(strategy_named(name), p);
                const ImportedSchedule back = import_text(export_msccl(schedule, {"test"}));
                const double before = seconds(schedule, cluster, elements);
                EXPECT_NEAR(seconds(back.schedule, cluster, elements), before, 0.01 * before);
            }
        }
    }
}

// 2(p-1) messages of W/p one behind the other, no sums: as coppice's own ring, though one thread block does it all.
TEST(MscclInTheSimulator, a_fused_ring_takes_as_long_as_a_ring) {
    const Cluster cluster = reference_cluster();
    for (const int p : {3, 4, 8}) {
        const std::uint64_t elements = 240000;
        const double own = seconds(schedule_of(strategy_named("ring"), p), cluster, elements);
        const double derived = 2 * (p - 1) * (kAlpha_s + 4.0 * static_cast<double>(elements) / p / kB);
        EXPECT_NEAR(own, derived, 1e-3 * derived);
        EXPECT_NEAR(seconds(import_text(fused_ring(p)).schedule, cluster, elements), own, 1e-3 * own);
    }
}

}  // namespace
}  // namespace coppice
