// coppice explain: the order of the strategies for a size and a number of GPUs, what their times are made of, and where
// another one would be the fastest.
#include "common/choice/cost_shares.hpp"
#include "common/choice/crossover.hpp"
#include "common/diag/error.hpp"
#include "common/program/numbers.hpp"
#include "common/program/sweep_options.hpp"
#include "common/result/csv.hpp"
#include "common/result/text_table.hpp"
#include "sim/program/all_reduce_input.hpp"
#include "sim/program/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace coppice::program {

namespace po = boost::program_options;
using Align = TextTable::Align;

namespace {

const HelpText kHelp{
    "coppice explain SCENARIO [options], or coppice explain --cluster CLUSTER --gpus LIST --bytes LIST [options]",
    "Which strategy is the fastest for an all-reduce by the closed forms (it is what the strategy auto takes), what "
    "each\n"
    "one's time is made of, and where, by size and by GPUs, another one would be. Of a scenario: its gradients, on "
    "the\n"
    "greatest of its GPU counts. Closed forms share no link; coppice predict --bytes simulates what does.",
    "  coppice explain firecaffe-googlenet\n"
    "  coppice explain --cluster ethernet-10g --gpus 8,64 --bytes '25 MB'\n"
    "  coppice explain --cluster titan --gpus 128 --bytes '1 MiB' --strategy ring,tree,ps --format csv\n"};

// One strategy's place in one case, as files have it.
struct Place {
    std::string cluster;
    std::string type;
    std::int64_t gpus = 0;
    std::uint64_t bytes = 0;
    std::int64_t place = 0;  // 1: the fastest
    std::string strategy;
    std::optional<double> seconds;
    std::optional<double> wire_s;
    std::optional<double> latency_s;
    std::optional<double> overhead_s;
    std::optional<double> sums_s;
    std::string status_reason;
};

constexpr auto kVisit = [](auto& place, auto&& visit) {
    visit("cluster", place.cluster);
    visit("type", place.type);
    visit("gpus", place.gpus);
    visit("bytes", place.bytes);
    visit("place", place.place);
    visit("strategy", place.strategy);
    visit("seconds", place.seconds);
    visit("wire_s", place.wire_s);
    visit("latency_s", place.latency_s);
    visit("overhead_s", place.overhead_s);
    visit("sums_s", place.sums_s);
    visit("status_reason", place.status_reason);
};

std::vector<Ranked> ranked_on(const AllReduceSweep& sweep, std::int64_t gpus, std::uint64_t bytes) {
    return rank_strategies(sweep.strategies, case_on(sweep.cost.cluster(), gpus), bytes / sweep.element.bytes,
                           sweep.element.bytes, sweep.cost);
}

std::vector<Place> places(const AllReduceSweep& sweep, std::int64_t gpus, std::uint64_t bytes) {
    std::vector<Place> result;
    for (const Ranked& one : ranked_on(sweep, gpus, bytes)) {
        Place place{sweep.cost.cluster().name,
                    std::string(sweep.element.name),
                    gpus,
                    bytes,
                    0,
                    one.choice.canonical(),
                    one.seconds,
                    {},
                    {},
                    {},
                    {},
                    one.refusal.value_or("")};
        if (one.seconds) {
            const CostShares shares = cost_shares(one, bytes / sweep.element.bytes, sweep.element.bytes, sweep.cost);
            place.place = static_cast<std::int64_t>(result.size()) + 1;
            place.wire_s = shares.wire_s;
            place.latency_s = shares.latency_s;
            place.overhead_s = shares.overhead_s;
            place.sums_s = shares.sums_s;
        }
        result.push_back(place);
    }
    return result;
}

std::string on_gpus(std::int64_t gpus) {
    return fmt::format("on {} GPU{}", gpus, gpus == 1 ? "" : "s");
}

std::string places_table(const std::vector<Place>& all) {
    TextTable table({{"strategy", Align::Left},
                     {"time"},
                     {"of the best"},
                     {"bytes on wires"},
                     {"latencies"},
                     {"overheads"},
                     {"sums"},
                     {"", Align::Left}});
    const std::optional<double> best_s = all.front().seconds;
    for (const Place& place : all)
        table.row({place.strategy, duration(place.seconds),
                   place.seconds && *best_s > 0 ? fmt::format("{:.2f}", *place.seconds / *best_s) : "",
                   duration(place.wire_s), duration(place.latency_s), duration(place.overhead_s),
                   duration(place.sums_s), place.seconds ? "" : "n/a: " + place.status_reason});
    return table.text();
}

// What the winner has less of than the runner-up, and what more: shares above a hundredth of its time.
std::string reason(const Place& best, const Place& second) {
    std::vector<std::string> less;
    std::vector<std::string> more;
    const auto compare = [&](const char* what, double a, double b) {
        if (std::abs(b - a) < 0.01 * *best.seconds) return;
        (a < b ? less : more).push_back(fmt::format("{} {}", duration(std::abs(b - a)), what));
    };
    compare("on wires", *best.wire_s, *second.wire_s);
    compare("of latencies", *best.latency_s, *second.latency_s);
    compare("of overheads", *best.overhead_s, *second.overhead_s);
    compare("of sums", *best.sums_s, *second.sums_s);
    if (less.empty() && more.empty()) return "they differ by less than a hundredth in everything";
    std::string text = less.empty() ? "" : fmt::format("{} less", fmt::join(less, ", "));
    if (!more.empty()) text += fmt::format("{}{} more", text.empty() ? "" : ", but ", fmt::join(more, ", "));
    return text;
}

std::string verdict(const std::vector<Place>& all) {
    const Place& best = all.front();
    if (!best.seconds) return fmt::format("nothing can be compared: {}", best.status_reason);
    std::string text = fmt::format("{}, {}", best.strategy, duration(best.seconds));
    if (all.size() == 1 || !all[1].seconds) return text + "; nothing to compare it with";
    if (!(*best.seconds > 0)) return text + "; so do the others";
    text += fmt::format("; the runner-up {} takes {:.1f} % longer\n", all[1].strategy,
                        (*all[1].seconds / *best.seconds - 1) * 100);
    return text + fmt::format("  why: {}", reason(best, all[1]));
}

constexpr std::uint64_t kGreatestSize = 1ULL << 30;

std::string by_size(const AllReduceSweep& sweep, std::int64_t gpus) {
    const std::uint64_t greatest = std::max(kGreatestSize / sweep.element.bytes * sweep.element.bytes,
                                            *std::max_element(sweep.sizes.begin(), sweep.sizes.end()));
    const std::vector<Reign> all =
        reigns({sweep.strategies, case_on(sweep.cost.cluster(), gpus), sweep.element, sweep.cost},
               {sweep.element.bytes, greatest});
    if (all.empty()) return "";
    TextTable table({{"from"}, {"to"}, {"fastest", Align::Left}});
    for (const Reign& reign : all)
        table.row({size_text(reign.sizes.from), size_text(reign.sizes.to), reign.choice.canonical()});
    return fmt::format("\nBy size, {}\n{}", on_gpus(gpus), table.text());
}

std::string by_gpus(const AllReduceSweep& sweep, std::uint64_t bytes) {
    TextTable table({{"GPUs"}, {"fastest", Align::Left}, {"time"}, {"runner-up", Align::Left}, {"of the best"}});
    bool any = false;
    for (std::int64_t gpus = 2; gpus <= 1024; gpus *= 2) {
        const std::vector<Ranked> all = ranked_on(sweep, gpus, bytes);
        if (!all.front().seconds) continue;
        any = true;
        const bool second = all.size() > 1 && all[1].seconds && *all[0].seconds > 0;
        table.row({std::to_string(gpus), all[0].choice.canonical(), duration(all[0].seconds),
                   second ? all[1].choice.canonical() : "",
                   second ? fmt::format("{:.2f}", *all[1].seconds / *all[0].seconds) : ""});
    }
    return any ? fmt::format("\nBy GPUs, for {}\n{}", size_text(bytes), table.text()) : "";
}

std::string explanation(const AllReduceSweep& sweep) {
    std::string text;
    for (const std::int64_t gpus : sweep.gpus) {
        for (const std::uint64_t bytes : sweep.sizes) {
            const std::vector<Place> all = places(sweep, gpus, bytes);
            text += fmt::format("{}All-reduce of {} of {} {} of {}\n  {}\n\n{}", text.empty() ? "" : "\n",
                                size_text(bytes), sweep.element.name, on_gpus(gpus), sweep.cost.cluster().name,
                                verdict(all), places_table(all));
        }
        text += by_size(sweep, gpus);
    }
    for (const std::uint64_t bytes : sweep.sizes) text += by_gpus(sweep, bytes);
    return text;
}

}  // namespace

int run_explain(const std::vector<std::string>& arguments) {
    po::options_description options;
    options.add_options()("scenario", po::value<std::string>());
    add_all_reduce_options(options,
                           "sizes of the all-reduce: '25 MB', '64 KiB..32 MiB'; default: a scenario's gradients, "
                           "else 64 KiB, 1 MiB and 16 MiB");
    add_sweep_options(options);
    options.add_options()("format,f", po::value<std::string>()->default_value("table")->value_name("NAME"),
                          "table; csv or jsonl: each strategy's place and what its time is made of");
    const Arguments read = read_arguments(arguments, options, {"scenario"}, kHelp);
    if (read.help) return 0;
    const std::string format = choice(read, "format", {"table", "csv", "jsonl"});
    const AllReduceInput input = read_all_reduce_input(read, kHelp,
                                                       {.sizes = "64 KiB, 1 MiB, 16 MiB",
                                                        .size_of_scenario = true,
                                                        .greatest_of_scenario = true,
                                                        .strategies_of_scenario = false,
                                                        .strategies = auto_candidates()});
    if (format == "table") {
        print(explanation(input.sweep));
        return 0;
    }
    std::string text;
    if (format == "csv") text = csv_header_of<Place>(kVisit);
    for (const std::int64_t gpus : input.sweep.gpus)
        for (const std::uint64_t bytes : input.sweep.sizes)
            for (const Place& place : places(input.sweep, gpus, bytes))
                text += format == "csv" ? csv_line_of(place, kVisit) : json_lines::line_of(place, kVisit);
    print(text);
    return 0;
}

}  // namespace coppice::program
