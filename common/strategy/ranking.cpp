#include "common/strategy/ranking.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace coppice {

namespace {

std::vector<std::string> values_worth_trying(const ParameterSpec& spec) {
    std::vector<std::string> values = spec.tried;
    const bool open = std::find(values.begin(), values.end(), "auto") != values.end();  // tries the default as well
    if (!open) values.insert(values.begin(), spec.otherwise);
    return values;
}

std::vector<StrategyChoice> variants_worth_trying(const Strategy& strategy) {
    std::vector<StrategyChoice> variants = {{&strategy, {}}};
    for (const ParameterSpec& spec : strategy.parameters) {
        std::vector<StrategyChoice> extended;
        for (const StrategyChoice& variant : variants) {
            for (const std::string& value : values_worth_trying(spec)) {
                extended.push_back(variant);
                extended.back().parameters[spec.name] = value;
            }
        }
        variants = std::move(extended);
    }
    return variants;
}

}  // namespace

const std::vector<StrategyChoice>& auto_candidates() {
    static const std::vector<StrategyChoice> all = [] {
        std::vector<StrategyChoice> candidates;
        for (const Strategy& strategy : strategies()) {
            const std::vector<StrategyChoice> variants = variants_worth_trying(strategy);
            candidates.insert(candidates.end(), variants.begin(), variants.end());
        }
        return candidates;
    }();
    return all;
}

std::vector<Ranked> rank_strategies(const std::vector<StrategyChoice>& candidates, const CollectiveCase& collective,
                                    std::uint64_t elements, std::uint32_t element_bytes, const CostModel& cost) {
    std::vector<Ranked> ranked;
    for (const StrategyChoice& candidate : candidates) {
        const Settled settled = settle(candidate, collective, elements, element_bytes, &cost);
        const std::string name = settled.choice.canonical();
        if (std::any_of(ranked.begin(), ranked.end(), [&](const Ranked& r) { return r.choice.canonical() == name; }))
            continue;
        Ranked one{settled.choice, settled.collective, {}, settled.refusal};
        if (!one.refusal && !one.choice.strategy->closed_form_s) one.refusal = "has no closed form";
        if (!one.refusal) one.refusal = closed_forms_refuse(collective.workers, cost.cluster());
        if (!one.refusal)
            one.seconds = one.choice.strategy->closed_form_s(one.collective, elements, element_bytes, cost);
        ranked.push_back(std::move(one));
    }
    constexpr double kLast = std::numeric_limits<double>::infinity();
    constexpr double kEqual = 1 + 1e-9;
    std::vector<std::size_t> order(ranked.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto seconds = [&](std::size_t i) { return ranked[i].seconds.value_or(kLast); };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return seconds(a) < seconds(b); });
    for (auto first = order.begin(); first != order.end();) {
        const auto end =
            std::find_if(first, order.end(), [&](std::size_t i) { return seconds(i) > kEqual * seconds(*first); });
        std::sort(first, end);
        first = end;
    }
    std::vector<Ranked> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(ranked[i]));
    return sorted;
}

}  // namespace coppice
