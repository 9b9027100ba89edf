#include "common/step/all_reduce.hpp"

#include "common/scenario/scenario.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

AllReduceSweep sweep(const std::vector<std::string>& settings = {}) {
    return {CostModel(load_cluster(std::string(COPPICE_SOURCE_DIR) + "/scenarios/clusters/ethernet-10g.toml", "test",
                                   config::parse_settings(settings))
                          .cluster),
            parse_strategies({"ring", "ps(placement=dedicated)"}, {"test", 0, 0}, ""),
            {2, 3},
            {4096, 1'000'000},
            *find_element("float32"),
            "",
            "",
            0};
}

std::vector<Record> closed_form(const AllReduceSweep& sweep) {
    return predict_all_reduces(sweep, plan_all_reduces(sweep), closed_form_engine());
}

// tests/runtime/bench_test.sh wants the very same text of `coppice-run bench`.
TEST(AllReduce, has_the_key_of_what_coppice_run_bench_measures) {
    const std::vector<Record> records = closed_form(sweep());
    ASSERT_EQ(records.size(), 8u);
    EXPECT_EQ(records[1].key,
              "model=|grad=fp32:4096|mode=all-reduce|strategy=ps(placement=dedicated)|gpus=2|servers=1|batch=0");
    EXPECT_EQ(records[1].cluster, "ethernet-10g");
    EXPECT_EQ(records[1].status, "ok");
}

TEST(AllReduce, strategies_stand_side_by_side) {
    std::vector<std::string> order;
    for (const Record& record : closed_form(sweep()))
        order.push_back(fmt::format("{} {} {}", record.gpus, record.gradient_bytes, record.strategy));
    EXPECT_EQ(order, (std::vector<std::string>{"2 4096 ring", "2 4096 ps(placement=dedicated)", "2 1000000 ring",
                                               "2 1000000 ps(placement=dedicated)", "3 4096 ring",
                                               "3 4096 ps(placement=dedicated)", "3 1000000 ring",
                                               "3 1000000 ps(placement=dedicated)"}));
}

// A ring of 2: each sends half, twice. algbw = n / t, busbw = algbw 2(p-1)/p, which for two is algbw; for three 4/3 of
// it. A ring of 3 has 3 x 4 messages of a third each: 4 times the tensor in all.
TEST(AllReduce, time_and_traffic_are_those_of_the_strategy_alone) {
    const AllReduceSweep two_and_three = sweep();
    const std::vector<Record> records = closed_form(two_and_three);
    const Record& two = records[2];
    const StrategyChoice& ring = two_and_three.strategies[0];
    EXPECT_DOUBLE_EQ(*two.allreduce_s,
                     ring.strategy->closed_form_s({2, ring.parameters}, 250'000, 4, two_and_three.cost));
    EXPECT_EQ(*two.messages, 4);
    EXPECT_EQ(*two.bytes_sent, 2'000'000);
    EXPECT_DOUBLE_EQ(*two.algbw_bytes_per_s, 1e6 / *two.allreduce_s);
    EXPECT_DOUBLE_EQ(*two.busbw_bytes_per_s, *two.algbw_bytes_per_s);
    const Record& three = records[6];
    EXPECT_EQ(*three.messages, 12);
    EXPECT_EQ(*three.bytes_sent, 4'000'000);
    EXPECT_DOUBLE_EQ(*three.busbw_bytes_per_s, *three.algbw_bytes_per_s * 4 / 3);
    EXPECT_FALSE(three.step_s) << "there is no step";
    EXPECT_FALSE(three.exposed_comm_s);
}

TEST(AllReduce, on_one_gpu_takes_no_time_and_has_no_bandwidth) {
    AllReduceSweep one = sweep();
    one.gpus = {1};
    one.strategies.resize(1);
    const Record record = closed_form(one).at(0);
    EXPECT_EQ(*record.allreduce_s, 0);
    EXPECT_FALSE(record.algbw_bytes_per_s);
}

TEST(AllReduce, the_closed_forms_refuse_the_machines_that_they_refuse_for_steps) {
    AllReduceSweep limited = sweep({"cluster.fabric.backplane=1 GB/s"});
    limited.gpus = {1, 2};
    limited.strategies.resize(1);
    const std::vector<Record> records = closed_form(limited);
    EXPECT_EQ(records[0].status, "ok") << "one GPU needs no backplane";
    EXPECT_EQ(records[2].status, "n/a");
    EXPECT_NE(records[2].status_reason.find("engine sim"), std::string::npos);
    EXPECT_FALSE(records[2].allreduce_s);
    EXPECT_TRUE(records[2].schedule_hash.empty()) << "nothing was priced";
}

TEST(AllReduce, a_strategy_that_refuses_a_case_gives_its_reason) {
    Strategy picky = *find_strategy("ring");
    picky.refuses = [](const CollectiveCase& one) {
        return one.workers == 3 ? std::optional<std::string>("needs a power of two") : std::nullopt;
    };
    AllReduceSweep some = sweep();
    some.strategies = {{&picky, {}}};
    const std::vector<Record> records = closed_form(some);
    EXPECT_EQ(records[0].status, "ok");
    EXPECT_EQ(records[2].status, "n/a");
    EXPECT_EQ(records[2].status_reason, "needs a power of two");
    EXPECT_TRUE(records[2].strategy.empty());
}

}  // namespace
}  // namespace coppice
