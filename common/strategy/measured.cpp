// Measured: not an algorithm but the times of one, whichever it was: what a log of nccl-tests or of the OSU benchmarks
// says of an all-reduce on this very machine (the cluster's [[collectives]], docs/calibration.md).
//
// A log tells of one number of ranks and of the sizes in it. Nothing else is concluded: other numbers of ranks are
// refused, and so are sizes beyond twice the largest or below half the smallest that were measured. There is no
// schedule, so nothing to prove, to simulate or to execute.
#include "common/strategy/builtin.hpp"

#include <fmt/ranges.h>

namespace coppice::builtin {

namespace {

// Of the smallest and largest measured size: as far as a straight piece is prolonged.
constexpr double kExtrapolation = 2;

std::optional<std::string> refuses_on(const CollectiveCase& collective, std::uint64_t message_bytes,
                                      const Cluster& cluster) {
    if (collective.workers == 1) return std::nullopt;  // alone there is nothing to measure
    const MeasuredCollective* measured = cluster.measured("all-reduce", collective.workers);
    if (!measured) {
        std::vector<std::int32_t> known;
        for (const MeasuredCollective& one : cluster.collectives) known.push_back(one.ranks);
        if (known.empty())
            return fmt::format("cluster '{}' has no measured all-reduce ([[collectives]])", cluster.name);
        return fmt::format("the measured all-reduce tells of {} ranks only", fmt::join(known, ", "));
    }
    const auto bytes = static_cast<double>(message_bytes);
    const auto size = [](double n) { return format_rounded(n, Dimension::Bytes); };
    if (bytes > kExtrapolation * measured->largest_bytes)
        return fmt::format("{} would be an extrapolation: the largest measured size is {}", size(bytes),
                           size(measured->largest_bytes));
    if (bytes * kExtrapolation < measured->smallest_bytes)
        return fmt::format("{} would be an extrapolation: the smallest measured size is {}", size(bytes),
                           size(measured->smallest_bytes));
    return std::nullopt;
}

double closed_form_s(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                     const CostModel& cost) {
    if (collective.workers == 1) return 0;
    const MeasuredCollective* measured = cost.cluster().measured("all-reduce", collective.workers);
    COPPICE_CHECK(measured, "no all-reduce measured on {} ranks", collective.workers);
    return seconds_of(measured->segments, static_cast<double>(elements) * element_bytes);
}

}  // namespace

Strategy measured() {
    return {.name = "measured",
            .help = "whatever all-reduce a log was measured of, on exactly its number of ranks; no schedule",
            .closed_form = "alpha + W/B of the segment of [[collectives]] that holds W",
            .source = "the cluster file's [[collectives]], made by coppice fit",
            .parameters = {},
            .refuses = refuses_no_workers,
            .schedule = nullptr,
            .contract = nullptr,
            .closed_form_s = closed_form_s,
            .refuses_on = refuses_on};
}

}  // namespace coppice::builtin
