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

// However many pieces it is cut in, it is the same algorithm there.
const Counterpart& counterpart_of(const std::vector<Counterpart>& all, const Reign& reign) {
    const auto found = std::find_if(
        all.begin(), all.end(), [&](const Counterpart& one) { return one.choice.strategy == reign.choice.strategy; });
    COPPICE_CHECK(found != all.end(), "{} has no counterpart", reign.choice.canonical());
    return *found;
}

// As good as equal: the boundaries of reigns are no finer.
constexpr double kWorthSaying = 1.005;

// Who reigns among all where a rule holds, and is not the rule's own.
void find_forgone(TuningRules& result, const std::vector<Reign>& of_all, const SizeRange& sizes,
                  const StrategyChoice& rule, const Contest& contest) {
    const std::uint64_t size = contest.element.bytes;
    for (const Reign& best : of_all) {
        const SizeRange both{std::max(best.sizes.from, sizes.from), std::min(best.sizes.to, sizes.to)};
        if (both.from > both.to || best.choice.canonical() == rule.canonical()) continue;
        const auto seconds = [&](const StrategyChoice& choice) {
            const std::uint64_t elements = (both.from / size + both.to / size) / 2;
            return *rank_strategies({choice}, contest.collective, elements, contest.element.bytes, contest.cost)
                        .front()
                        .seconds;
        };
        const double slower = seconds(rule) / seconds(best.choice);
        if (slower < kWorthSaying) continue;
        result.forgone.push_back({contest.collective.workers, both, best.choice.canonical(), rule.canonical(), slower});
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
        const CollectiveCase collective = case_on(cost.cluster(), count);
        if (const auto refusal = closed_forms_refuse(count, cost.cluster())) {
            result.refused.push_back(fmt::format("{} ranks: {}", count, *refusal));
            continue;
        }
        const Contest contest{everything, collective, element, cost};
        const std::vector<Reign> of_all = reigns(contest, range);
        for (const Reign& reign : reigns({existing, collective, element, cost}, range)) {
            const Counterpart& counterpart = counterpart_of(counterparts, reign);
            const bool goes_on = !result.rules.empty() && result.rules.back().ranks == collective.workers &&
                                 result.rules.back().algorithm == counterpart.name;
            if (goes_on)
                result.rules.back().sizes.to = reign.sizes.to;
            else
                result.rules.push_back({collective.workers, reign.sizes, counterpart.name});
            find_forgone(result, of_all, reign.sizes, counterpart.choice, contest);
        }
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
