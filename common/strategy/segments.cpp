// The parameter `segments` of what is pipelined, and its choice by cost.
#include "common/strategy/builtin.hpp"

#include <string>

namespace coppice::builtin {

namespace {

constexpr std::int64_t kMostSegments = 1024;

}  // namespace

ParameterSpec segments_parameter() {
    return {.name = "segments",
            .help = "pieces that follow one another; auto: as many as the closed form finds best (1, 2, 4, ...)",
            .otherwise = "1",
            .choices = {"auto"},
            .lowest = 1,
            .highest = kMostSegments,
            .tried = {"auto"}};
}

// More pieces than elements would be empty messages. The time falls with their number and then rises, but not always
// without a second dip (measured segments of a link): all powers of two are tried, the fewest of equals taken.
StrategyChoice with_best_segments(std::string_view name, CollectiveCase collective, std::uint64_t elements,
                                  std::uint32_t element_bytes, const CostModel& cost) {
    const Strategy& strategy = *find_strategy(name);
    StrategyChoice best{&strategy, collective.parameters};
    double least_s = 0;
    for (std::int64_t segments = 1; segments <= kMostSegments; segments *= 2) {
        if (segments > 1 && static_cast<std::uint64_t>(segments) > elements) break;
        collective.parameters["segments"] = std::to_string(segments);
        const double seconds = strategy.closed_form_s(collective, elements, element_bytes, cost);
        if (segments > 1 && seconds >= least_s) continue;
        least_s = seconds;
        best.parameters = collective.parameters;
    }
    return best;
}

}  // namespace coppice::builtin
