// The worked example of docs/adding-a-strategy.md: it compiles, is proved, costs what it says, and is what the page
// shows. From here to the line of dashes it is that page's file, common/strategy/line.cpp.

// Line: sums travel along a line of workers to rank 0, then the total travels back.
//
//     3 ──▶ 2 ──▶ 1 ──▶ 0      each rank waits for the one behind it, adds its own contribution, and passes it on:
//     3 ◀── 2 ◀── 1 ◀── 0      2 (p-1) messages of the whole tensor, one after another, and p-1 sums
//
//     T = (p-1) (2 (o + alpha + W/B) + W/gamma)
//
// Source: none worth citing; it is the slowest way to sum that is still right.
#include "common/strategy/builtin.hpp"

#include <algorithm>

namespace coppice::builtin {

namespace {

constexpr std::uint32_t kLane = 0;
constexpr Slice kAll{.buffer = 0, .first = 0, .count = 1};

Schedule schedule(const CollectiveCase& collective) {
    const std::int32_t p = collective.workers;
    Schedule result = in_place_schedule("line", p, 1);
    result.phases.push_back({.name = "sum", .rounds = 1, .rule = [p](Rank rank, std::uint32_t, RoundOps& ops) {
                                 if (rank + 1 < p) ops.recv_reduce(kLane, rank + 1, kAll);
                                 if (rank > 0) ops.send(kLane, rank - 1, kAll);
                             }});
    result.phases.push_back({.name = "back", .rounds = 1, .rule = [p](Rank rank, std::uint32_t, RoundOps& ops) {
                                 if (rank > 0) ops.recv(kLane, rank - 1, kAll);
                                 if (rank + 1 < p) ops.send(kLane, rank + 1, kAll);
                             }});
    return result;
}

// A rank in the middle sends twice and receives twice; with two workers there is no middle.
Contract contract(const CollectiveCase& collective) {
    const auto others = static_cast<std::uint32_t>(collective.workers - 1);
    const std::uint32_t most = std::min(others, 2u);
    return {.chunks = 1,
            .steps = 2 * others,
            .chunks_sent = 2 * std::uint64_t{others},
            .max_sent_by_rank = most,
            .max_received_by_rank = most};
}

double closed_form_s(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                     const CostModel& cost) {
    const std::uint64_t bytes = elements * element_bytes;
    return (collective.workers - 1) * (2 * cost.send_s(bytes) + cost.sum_s(bytes, SumPlace::Device));
}

}  // namespace

Strategy line() {
    return {.name = "line",
            .help = "sums along a line of workers to rank 0, and the total back",
            .closed_form = "(p-1) (2 (o + alpha + W/B) + W/gamma)",
            .source = "docs/adding-a-strategy.md",
            .parameters = {},
            .refuses = refuses_no_workers,
            .schedule = schedule,
            .contract = contract,
            .closed_form_s = closed_form_s};
}

}  // namespace coppice::builtin

// --------------------------------------------------------------------------------------------------------------------
#include "tests/support/fake_port.hpp"
#include "tests/support/strategy_cases.hpp"

#include <fstream>
#include <sstream>

namespace coppice {
namespace {

std::string text_of(const std::string& file) {
    std::ifstream stream(std::string(COPPICE_SOURCE_DIR) + "/" + file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

TEST(AddingAStrategy, shows_the_file_that_is_compiled_here) {
    const std::string page = text_of("docs/adding-a-strategy.md");
    const std::string self = text_of("tests/strategy/adding_a_strategy_test.cpp");
    const std::string fence = "```cpp\n";
    const std::size_t from = page.find(fence) + fence.size();
    const std::string shown = page.substr(from, page.find("```", from) - from);
    ASSERT_GT(shown.size(), 1000u);
    EXPECT_NE(self.find(shown), std::string::npos) << "the page and this file differ";
}

TEST(AddingAStrategy, proves_for_any_number_of_workers) {
    static const Strategy line = builtin::line();
    for (const std::int32_t p : {1, 2, 3, 4, 7, 33, 1000}) testing::expect_proved({&line, {}}, p);
}

// 3 hops each way of o + alpha + W/B = 2 us + 10 us + 4 ms, and 3 sums of 1 ms; and so does the schedule when played.
TEST(AddingAStrategy, costs_what_it_says) {
    Cluster cluster;
    cluster.link.segments = {{0, 10e-6, 1e9}};
    cluster.link.overhead_s = 2e-6;
    cluster.device.sum_bytes_per_s = 4e9;
    const CostModel cost(cluster);
    const CollectiveCase four{4, {}};
    const double expected_s = 6 * 4.012e-3 + 3 * 1e-3;
    EXPECT_NEAR(builtin::line().closed_form_s(four, 1'000'000, 4, cost), expected_s, 1e-12);

    const Schedule schedule = builtin::line().schedule(four);
    const Binding binding{{{1'000'000, 4}}, {}};
    testing::FakePricing pricing;
    pricing.message_s = [&](std::uint64_t bytes) { return cost.message_s(bytes); };
    pricing.sum_s = [&](Rank, std::uint64_t bytes) { return cost.sum_s(bytes, SumPlace::Device); };
    pricing.overhead_s = cost.overhead_s();
    testing::FakeWorld world(schedule, binding, pricing, false);
    ASSERT_TRUE(world.run());
    EXPECT_NEAR(world.now_s(), expected_s, 1e-12);
}

}  // namespace
}  // namespace coppice
