// Auto: the strategy, and its parameters, that the cost model finds fastest for this size on so many workers. It has no
// schedule; what it becomes has one, and that is what the record names. How it chooses, and where it may be wrong:
// docs/choosing.md.
#include "common/diag/error.hpp"
#include "common/strategy/builtin.hpp"
#include "common/strategy/ranking.hpp"

#include <fmt/format.h>

#include <string>

namespace coppice::builtin {

namespace {

std::optional<std::string> refuses_on(const CollectiveCase& collective, std::uint64_t, const Cluster& cluster) {
    const auto refusal = closed_forms_refuse(collective.workers, cluster);
    if (!refusal) return std::nullopt;
    return fmt::format("auto compares closed forms, and {}; name a strategy", *refusal);
}

StrategyChoice resolved(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                        const CostModel& cost) {
    CollectiveCase plain = collective;
    plain.parameters.clear();
    const Ranked best = rank_strategies(auto_candidates(), plain, elements, element_bytes, cost).front();
    COPPICE_CHECK(!best.refusal, "nothing can be chosen for {} workers: {}", collective.workers, *best.refusal);
    return best.choice;
}

}  // namespace

Strategy auto_choice() {
    return {.name = "auto",
            .help = "whatever the closed forms find fastest, for each size and number of workers",
            .closed_form = "min over strategies and their parameters, in W, p, o, alpha, B, gamma",
            .source = "Pjesivac-Grbovic et al. 2007 (decision functions for collectives); docs/choosing.md",
            .parameters = {},
            .refuses = refuses_no_workers,
            .refuses_on = refuses_on,
            .resolved = resolved};
}

}  // namespace coppice::builtin
