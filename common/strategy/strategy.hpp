// A strategy turns a case (how many workers, which parameters) into a Schedule, and states what it should cost. One
// file each; registry.cpp has the only list of them. How to add one: docs/adding-a-strategy.md.
#pragma once

#include "common/cost/cost_model.hpp"
#include "common/schedule/schedule.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

// A strategy's parameter: one of `choices`, or an integer lowest..highest (where these are not both 0), or free text,
// which must then be given.
struct ParameterSpec {
    std::string name;
    std::string help;
    std::string otherwise;  // the default
    std::vector<std::string> choices = {};
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    std::vector<std::string> tried = {};  // besides the default, by the strategy `auto`
    bool free_text = false;               // anything but nothing: it has no default
    bool takes_integer() const { return lowest != 0 || highest != 0; }
};

// All of a strategy's parameters, defaults filled in and checked.
using Parameters = std::map<std::string, std::string, std::less<>>;

// One all-reduce to be planned.
struct CollectiveCase {
    std::int32_t workers = 1;
    Parameters parameters;
    std::int32_t gpus_per_node = 1;  // in the order of ranks: Cluster::gpus_in_a_row
};

// Of so many workers on this cluster.
inline CollectiveCase case_on(const Cluster& cluster, std::int64_t workers) {
    return {static_cast<std::int32_t>(workers), {}, cluster.gpus_in_a_row()};
}

// What theory says of the schedule's traffic, in chunks of `chunks` a tensor; proved against the replay.
struct Contract {
    std::uint32_t chunks = 1;
    std::uint32_t steps = 0;  // longest chain of dependent messages
    std::uint64_t chunks_sent = 0;
    std::uint64_t max_sent_by_rank = 0;
    std::uint64_t max_received_by_rank = 0;
    bool exact = true;  // false: steps, maxima and the closed form are upper bounds (nodes of different sizes)
    // Chunks added to others, over all ranks; nothing: every contribution but one is added once to each chunk, less is
    // impossible.
    std::optional<std::uint64_t> chunks_summed = {};
};

struct StrategyChoice;

struct Strategy {
    std::string_view name;
    std::string_view help;         // one line
    std::string_view closed_form;  // as text, in W, p, alpha, B, gamma
    std::string_view source;
    std::vector<ParameterSpec> parameters;

    // Why this case cannot be served ("needs a power of two"), or nothing.
    std::optional<std::string> (*refuses)(const CollectiveCase&) = nullptr;
    // nullptr, both, for what has times only: one of measured_strategies().
    Schedule (*schedule)(const CollectiveCase&) = nullptr;
    Contract (*contract)(const CollectiveCase&) = nullptr;
    // Seconds for an all-reduce of `elements` elements. Bandwidth is not shared, except where the strategy's own theory
    // says so (a server's incast): docs/cost-model.md.
    // nullptr: none is known (one of imported_strategies()), so only engines that play schedules can time it.
    double (*closed_form_s)(const CollectiveCase&, std::uint64_t elements, std::uint32_t element_bytes,
                            const CostModel&) = nullptr;
    // Why it cannot be served for messages of so many bytes on this cluster, or nothing; nullptr where neither matters.
    std::optional<std::string> (*refuses_on)(const CollectiveCase&, std::uint64_t message_bytes,
                                             const Cluster&) = nullptr;
    // The choice that the cost model makes for so many elements on this cluster, with nothing left open; nullptr where
    // nothing can be left open. A parameter whose value is "auto" is open; so is a strategy without a schedule that has
    // this. schedule, contract and closed_form_s are never asked about what is open: see settle.
    StrategyChoice (*resolved)(const CollectiveCase&, std::uint64_t elements, std::uint32_t element_bytes,
                               const CostModel&) = nullptr;
};

// Those with a schedule: what can be proved, simulated and executed.
const std::vector<Strategy>& strategies();
// Those without, which only the closed form can price: times of the cluster file.
const std::vector<Strategy>& measured_strategies();
// Those whose schedule is a file's, which only an engine that plays schedules can time.
const std::vector<Strategy>& imported_strategies();

// Those that only choose among others: settle() turns them into what they choose.
const std::vector<Strategy>& choosing_strategies();

// Of any kind; nullptr if there is none of that name.
const Strategy* find_strategy(std::string_view name);
std::vector<std::string> strategy_names();      // of those with a schedule
std::vector<std::string> all_strategy_names();  // of all

// Why closed forms say nothing of so many workers on this cluster, or nothing.
std::optional<std::string> closed_forms_refuse(std::int64_t workers, const Cluster& cluster);

// A strategy with its parameters as a user writes it: "ring", "ps(placement=dedicated)".
struct StrategyChoice {
    const Strategy* strategy = nullptr;
    Parameters parameters;
    std::string canonical() const;  // name, and the parameters that differ from their defaults, sorted
};

// Whether it leaves something to the cost model.
bool is_open(const StrategyChoice& choice);

// What runs where `requested` was asked for: the same, unless it leaves something open; or why nothing runs.
struct Settled {
    StrategyChoice choice;
    CollectiveCase collective;  // with the parameters of that choice
    std::optional<std::string> refusal;
};

// `collective` without parameters; `cost` may be nullptr: then what is open is refused, and nobody asks what the
// cluster can do.
Settled settle(const StrategyChoice& requested, CollectiveCase collective, std::uint64_t elements,
               std::uint32_t element_bytes, const CostModel* cost);

// UserError (at `where`) for an unknown strategy, parameter or value, with the nearest names.
StrategyChoice parse_strategy(std::string_view text, const SourceLocation& where, std::string_view key);
// Each once, in the order given: two spellings of one are one.
std::vector<StrategyChoice> parse_strategies(const std::vector<std::string>& texts, const SourceLocation& where,
                                             std::string_view key);
// "ps,tree,ps(placement=dedicated,sum=ordered)": commas inside parentheses do not separate.
std::vector<std::string> split_strategy_list(std::string_view text);

}  // namespace coppice
