#include "common/choice/tuning_rules.hpp"

#include "common/diag/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace coppice {

namespace {

StrategyChoice named(const char* text) {
    return parse_strategy(text, {"tuning_rules.cpp", 0, 0}, "");
}

double seconds_of(const StrategyChoice& choice, const CollectiveCase& collective, std::uint64_t bytes,
                  const Element& element, const CostModel& cost) {
    return *rank_strategies({choice}, collective, bytes / element.bytes, element.bytes, cost).front().seconds;
}

const Counterpart& counterpart_of(const std::vector<Counterpart>& all, const std::string& reigning) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const Counterpart& one) { return one.choice.canonical() == reigning; });
    COPPICE_CHECK(found != all.end(), "{} has no counterpart", reigning);
    return *found;
}

// As good as equal: the boundaries of reigns are no finer.
constexpr double kWorthSaying = 1.005;

// Who reigns among all, where that is not the rule's own.
void find_forgone(TuningRules& result, const std::vector<Reign>& of_rules, const Contest& everything,
                  const SizeRange& range) {
    for (const Reign& best : reigns(everything, range)) {
        for (const Reign& rule : of_rules) {
            const SizeRange both{std::max(best.sizes.from, rule.sizes.from), std::min(best.sizes.to, rule.sizes.to)};
            if (both.from > both.to || best.strategy == rule.strategy) continue;
            const std::uint64_t size = everything.element.bytes;
            const std::uint64_t middle = (both.from / size + both.to / size) / 2 * size;
            const auto seconds = [&](const std::string& name) {
                return seconds_of(named(name.c_str()), everything.collective, middle, everything.element,
                                  everything.cost);
            };
            const double slower = seconds(rule.strategy) / seconds(best.strategy);
            if (slower < kWorthSaying) continue;
            result.forgone.push_back({everything.collective.workers, both, best.strategy, rule.strategy, slower});
        }
    }
}

std::string forgone_lines(const TuningRules& rules) {
    std::string text;
    for (const Forgone& one : rules.forgone)
        text += fmt::format("# no counterpart: {} ranks, {} to {} bytes: {}; {} takes {:.2f} times as long\n",
                            one.ranks, one.sizes.from, one.sizes.to, one.strategy, one.rule, one.slower);
    return text;
}

}  // namespace

std::vector<Counterpart> open_mpi_counterparts() {
    return {{named("recursive-doubling"), "3"}, {named("ring"), "4"}, {named("halving-doubling"), "6"}};
}

std::vector<Counterpart> nccl_counterparts() {
    return {{named("ring"), "ring"}, {named("double-tree(segments=auto)"), "tree"}};
}

TuningRules tuning_rules(const std::vector<Counterpart>& counterparts, const std::vector<StrategyChoice>& everything,
                         const std::vector<std::int64_t>& ranks, const SizeRange& range, const Element& element,
                         const CostModel& cost) {
    std::vector<StrategyChoice> existing;
    for (const Counterpart& one : counterparts) existing.push_back(one.choice);
    TuningRules result;
    for (const std::int64_t count : ranks) {
        if (count < 2) continue;  // nothing to choose
        const CollectiveCase collective{static_cast<std::int32_t>(count), {}, cost.cluster().gpus_in_a_row()};
        if (const auto refusal = closed_forms_refuse(count, cost.cluster())) {
            result.refused.push_back(fmt::format("{} ranks: {}", count, *refusal));
            continue;
        }
        std::vector<Reign> of_rules = reigns({existing, collective, element, cost}, range);
        for (Reign& reign : of_rules) {
            // A pipelined strategy in one piece is the same algorithm there.
            if (reign.strategy == "double-tree") reign.strategy = "double-tree(segments=auto)";
            const std::string& algorithm = counterpart_of(counterparts, reign.strategy).name;
            const bool goes_on = !result.rules.empty() && result.rules.back().ranks == collective.workers &&
                                 result.rules.back().algorithm == algorithm;
            if (goes_on)
                result.rules.back().sizes.to = reign.sizes.to;
            else
                result.rules.push_back({collective.workers, reign.sizes, algorithm});
        }
        find_forgone(result, of_rules, {everything, collective, element, cost}, range);
    }
    return result;
}

std::string open_mpi_rules(const TuningRules& rules, const std::string& origin) {
    std::map<std::int32_t, std::vector<TuningRule>> by_ranks;
    for (const TuningRule& rule : rules.rules) by_ranks[rule.ranks].push_back(rule);
    std::string text = fmt::format(
        "# MPI_Allreduce of Open MPI's coll_tuned, {}\n"
        "# 3 recursive doubling, 4 ring, 6 Rabenseifner\n{}"
        "1  # collectives\n"
        "2  # the second: MPI_Allreduce\n"
        "{}  # numbers of ranks\n",
        origin, forgone_lines(rules), by_ranks.size());
    for (const auto& [ranks, of_ranks] : by_ranks) {
        text += fmt::format("{}  # ranks\n{}  # sizes from here on: bytes, algorithm, fan-in and fan-out, segment\n",
                            ranks, of_ranks.size());
        for (std::size_t i = 0; i < of_ranks.size(); ++i)
            text += fmt::format("{} {} 0 0\n", i == 0 ? 0 : of_ranks[i].sizes.from, of_ranks[i].algorithm);
    }
    return text;
}

std::string nccl_rules(const TuningRules& rules, const std::string& origin) {
    std::string text = fmt::format(
        "# ncclAllReduce, {}\n{}"
        "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,numPipeOps,regBuff\n",
        origin, forgone_lines(rules));
    constexpr std::uint64_t kNoEnd = 4294967295;  // the greatest that the plugin's files use
    for (std::size_t i = 0; i < rules.rules.size(); ++i) {
        const TuningRule& rule = rules.rules[i];
        const bool first = i == 0 || rules.rules[i - 1].ranks != rule.ranks;
        const bool last = i + 1 == rules.rules.size() || rules.rules[i + 1].ranks != rule.ranks;
        text += fmt::format("allreduce,{},{},{},simple,-1,{},{},-1,-1\n", first ? 0 : rule.sizes.from,
                            last ? std::max(kNoEnd, rule.sizes.to) : rules.rules[i + 1].sizes.from - 1, rule.algorithm,
                            rule.ranks, rule.ranks);
    }
    return text;
}

}  // namespace coppice
