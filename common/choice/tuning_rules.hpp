// Which algorithm other software should take: what reigns among the strategies that exist there, in the files that it
// reads.
#pragma once

#include "common/choice/crossover.hpp"

#include <string>
#include <vector>

namespace coppice {

// A strategy of ours and what the other software calls it.
struct Counterpart {
    StrategyChoice choice;
    std::string name;
};

// Where something else would be faster than all that exists there: `strategy`, at the middle of its sizes so many times
// as fast as the rule.
struct Forgone {
    std::int32_t ranks = 0;
    SizeRange sizes;
    std::string strategy;
    std::string rule;
    double slower = 1;
};

struct TuningRule {
    std::int32_t ranks = 0;
    SizeRange sizes;
    std::string algorithm;
};

struct TuningRules {
    std::vector<TuningRule> rules;  // by ranks and size, ascending
    std::vector<Forgone> forgone;
    std::vector<std::string> refused;  // "8 ranks: ..."
};

// Open MPI 4 and 5, coll_tuned's algorithms of MPI_Allreduce (ompi_info --param coll tuned -l 9); NCCL's of
// ncclAllReduce, whose tree is a double one.
std::vector<Counterpart> open_mpi_counterparts();
std::vector<Counterpart> nccl_counterparts();

// For each number of ranks, from one size to the other. `everything`: what the rules are held against.
TuningRules tuning_rules(const std::vector<Counterpart>& counterparts, const std::vector<StrategyChoice>& everything,
                         const std::vector<std::int64_t>& ranks, const SizeRange& range, const Element& element,
                         const CostModel& cost);

// Read with --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_dynamic_rules_filename FILE. A number of ranks holds
// up to the next one, and the last size upwards.
std::string open_mpi_rules(const TuningRules& rules, const std::string& origin);

// The file that NCCL's example tuner plugin reads (NCCL_TUNER_CONFIG_FILE); for the simple protocol, whose costs the
// closed forms have, and for exactly these numbers of ranks. The last size of each number of ranks holds upwards.
std::string nccl_rules(const TuningRules& rules, const std::string& origin);

}  // namespace coppice
