// Every strategy with every combination of its parameters, for tests that hold for all of them.
#pragma once

#include "common/schedule/verifier.hpp"
#include "common/strategy/strategy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace coppice::testing {

// Parameters get each of their choices and their default, those that may be an integer some small one besides.
inline std::vector<StrategyChoice> strategy_variants() {
    std::vector<StrategyChoice> variants;
    for (const Strategy& strategy : strategies()) {
        std::vector<StrategyChoice> open = {{&strategy, {}}};
        for (const ParameterSpec& spec : strategy.parameters) {
            std::vector<StrategyChoice> extended;
            std::vector<std::string> values;
            for (const std::string& choice : spec.choices)
                if (choice != "auto") values.push_back(choice);  // left open: there is no schedule for it yet
            const bool default_is_number = spec.takes_integer() && spec.otherwise != "auto";
            if (default_is_number && std::find(values.begin(), values.end(), spec.otherwise) == values.end())
                values.push_back(spec.otherwise);
            if (spec.takes_integer())
                values.push_back(std::to_string(std::clamp<std::int64_t>(4, spec.lowest, spec.highest)));
            for (const StrategyChoice& choice : open) {
                for (const std::string& value : values) {
                    extended.push_back(choice);
                    extended.back().parameters[spec.name] = value;
                }
            }
            open = std::move(extended);
        }
        variants.insert(variants.end(), open.begin(), open.end());
    }
    return variants;
}

inline StrategyChoice strategy_named(const std::string& text) {
    return parse_strategy(text, {"test"}, "strategy");
}

inline CollectiveCase case_of(const StrategyChoice& choice, std::int32_t workers) {
    return {workers, choice.parameters};
}

inline Schedule schedule_of(const StrategyChoice& choice, std::int32_t workers) {
    return choice.strategy->schedule(case_of(choice, workers));
}

inline bool refused(const StrategyChoice& choice, std::int32_t workers) {
    return choice.strategy->refuses(case_of(choice, workers)).has_value();
}

// The schedule is proved, and its traffic is what the strategy's contract says. Refused cases have none.
inline void expect_proved(const StrategyChoice& choice, std::int32_t workers) {
    SCOPED_TRACE(choice.canonical() + " p=" + std::to_string(workers));
    if (refused(choice, workers)) return;
    const Schedule schedule = schedule_of(choice, workers);
    EXPECT_EQ(schedule.strategy, choice.canonical());
    EXPECT_EQ(schedule.workers, workers);
    const Verdict verdict = verify(schedule);
    ASSERT_TRUE(verdict.ok()) << verdict.flaw->message;
    const Contract contract = choice.strategy->contract(case_of(choice, workers));
    const Traffic& traffic = verdict.traffic;
    EXPECT_EQ(schedule.tensors[0].chunks, contract.chunks);
    EXPECT_EQ(traffic.chunks_sent, contract.chunks_sent);
    const std::uint64_t sent = *std::max_element(traffic.sent_by_rank.begin(), traffic.sent_by_rank.end());
    const std::uint64_t received = *std::max_element(traffic.received_by_rank.begin(), traffic.received_by_rank.end());
    EXPECT_LE(verdict.critical_messages, contract.steps);
    EXPECT_LE(sent, contract.max_sent_by_rank);
    EXPECT_LE(received, contract.max_received_by_rank);
    if (contract.exact) {
        EXPECT_EQ(verdict.critical_messages, contract.steps);
        EXPECT_EQ(sent, contract.max_sent_by_rank);
        EXPECT_EQ(received, contract.max_received_by_rank);
    }
    EXPECT_EQ(traffic.messages > 0, workers > 1);
    // Every worker's contribution but one is added once to each chunk: no strategy can sum less, and none does more
    // without saying so (a dedicated server begins with zeros and adds them all).
    const bool adds_all = schedule.servers() > 0;
    const auto summands = static_cast<std::uint64_t>(workers - (adds_all ? 0 : 1));
    const std::uint64_t least = workers == 1 ? 0 : summands * contract.chunks;
    EXPECT_EQ(traffic.chunks_summed, contract.chunks_summed.value_or(least));
    EXPECT_GE(traffic.chunks_summed, least);
}

}  // namespace coppice::testing
