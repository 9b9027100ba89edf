#include "common/step/prediction.hpp"

#include "common/schedule/verifier.hpp"
#include "common/step/fused_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace coppice {
namespace {

Scenario load(const std::vector<std::string>& sets) {
    return load_scenario(std::string(COPPICE_SOURCE_DIR) + "/scenarios/examples/resnet50-weak.toml",
                         config::parse_settings(sets));
}

Prediction closed_form(const Scenario& scenario) {
    const Predictor predictor(scenario);
    return predictor.predict(predictor.plan(), closed_form_engine());
}

TEST(FusedStep, is_proved_around_every_strategy_and_counts_the_same_traffic) {
    for (const Strategy& strategy : strategies()) {
        for (const std::int32_t workers : {1, 2, 3, 7, 8}) {
            const CollectiveCase one{workers, parse_strategy(strategy.name, {}, "").parameters};
            const Schedule collective = strategy.schedule(one);
            const Verdict verdict = verify(fused_step(collective, 1));
            ASSERT_TRUE(verdict.ok()) << verdict.flaw->message;
            EXPECT_EQ(verdict.traffic.messages, verify(collective).traffic.messages);
        }
    }
}

// 7 GPUs share 1000 samples: 6 of them get 143, one 142; the largest share sets the pace.
TEST(Prediction, the_largest_share_of_an_uneven_batch_sets_the_pace) {
    const Scenario scenario =
        load({"training={scaling='strong',global_batch=1000}", "sweep.gpus=7", "sweep.strategies=ring"});
    const Predictor predictor(scenario);
    const std::vector<StepPlan> plans = predictor.plan();
    const Record record = predictor.predict(plans, closed_form_engine()).records.at(0);
    EXPECT_EQ(record.batch_per_gpu, 143);
    EXPECT_EQ(record.global_batch, 1000);
    EXPECT_GT(predictor.step_costs(plans[0]).compute_s, predictor.step_costs(plans[0]).compute_rest_s);
    EXPECT_DOUBLE_EQ(*record.step_s, *record.compute_s + *record.exposed_comm_s + *record.update_s);
}

TEST(Prediction, weak_scaling_keeps_the_batch_of_a_gpu_and_its_compute) {
    const Prediction prediction = closed_form(load({"sweep.gpus=1,8", "sweep.strategies=ring"}));
    EXPECT_EQ(prediction.records[1].global_batch, 8 * 64);
    EXPECT_DOUBLE_EQ(*prediction.records[0].compute_s, *prediction.records[1].compute_s);
    EXPECT_DOUBLE_EQ(*prediction.records[0].speedup, 1);
    EXPECT_EQ(*prediction.records[0].exposed_comm_s, 0) << "no messages, and no rounding for communication";
    // Rates: 8 GPUs do 8 times the samples in a step that is longer by the communication.
    EXPECT_NEAR(*prediction.records[1].speedup, 8 * *prediction.records[0].step_s / *prediction.records[1].step_s,
                1e-9);
}

TEST(Prediction, dedicated_servers_are_counted_apart_from_gpus) {
    const Prediction prediction = closed_form(load({"sweep.gpus=8", "sweep.strategies=ps(placement=dedicated)"}));
    EXPECT_EQ(prediction.records[0].gpus, 8);
    EXPECT_EQ(prediction.records[0].servers, 1);
    EXPECT_DOUBLE_EQ(*prediction.records[0].efficiency, *prediction.records[0].speedup / 8);
}

// An engine that does not know a machine says so; it never prices another one instead.
TEST(Prediction, the_closed_forms_refuse_machines_that_they_know_nothing_of) {
    for (const std::vector<std::string>& machine :
         {std::vector<std::string>{"cluster.node={gpus=4,link={bandwidth='12 GB/s',latency='3 us'}}"},
          std::vector<std::string>{"cluster.fabric.backplane=1 GB/s"}}) {
        std::vector<std::string> sets = machine;
        sets.insert(sets.end(), {"sweep.gpus=1,8", "sweep.strategies=ring"});
        const Prediction prediction = closed_form(load(sets));
        EXPECT_EQ(prediction.records[0].status, "ok") << "one GPU needs neither";
        EXPECT_EQ(prediction.records[1].status, "n/a");
        EXPECT_NE(prediction.records[1].status_reason.find("engine sim"), std::string::npos);
        EXPECT_FALSE(prediction.records[1].step_s) << "and gives no number";
        EXPECT_TRUE(prediction.records[1].strategy.empty()) << "nothing was executed";
    }
}

const std::string kMeasured =
    "cluster.collectives=[{name='all-reduce', ranks=8, smallest='1 MB', largest='1 GB',"
    " segments=[{from='0 B', latency='1 ms', bandwidth='10 GB/s'}]}]";

// 25,557,032 parameters in fp32 are 102,228,128 bytes: 1 ms + 10.2228128 ms on 8 ranks.
TEST(Prediction, measured_all_reduces_are_priced_on_their_number_of_ranks_only) {
    const Prediction prediction = closed_form(load({kMeasured, "sweep.gpus=1,4,8", "sweep.strategies=measured"}));
    EXPECT_EQ(*prediction.records[0].exposed_comm_s, 0);
    EXPECT_EQ(prediction.records[1].status, "n/a");
    EXPECT_EQ(prediction.records[1].status_reason, "the measured all-reduce tells of 8 ranks only");
    const Record& record = prediction.records[2];
    EXPECT_EQ(record.status, "ok");
    EXPECT_EQ(record.strategy, "measured");
    EXPECT_NEAR(*record.exposed_comm_s, 11.2228128e-3, 1e-9);
    EXPECT_TRUE(record.schedule_hash.empty()) << "there is no schedule";
    EXPECT_FALSE(record.messages) << "how it was done is not known";
    EXPECT_FALSE(record.bytes_sent);
    EXPECT_TRUE(prediction.sensitivities.empty()) << "what another link would change is not in a measured time";
}

TEST(Prediction, measured_times_ask_nothing_of_the_node_and_the_fabric) {
    const Prediction prediction =
        closed_form(load({kMeasured, "cluster.node={gpus=4,link={bandwidth='12 GB/s',latency='3 us'}}",
                          "cluster.fabric.backplane=1 GB/s", "sweep.gpus=8", "sweep.strategies=measured"}));
    EXPECT_EQ(prediction.records[0].status, "ok");
}

TEST(Prediction, an_engine_that_plays_schedules_refuses_measured_times) {
    const Scenario scenario = load({kMeasured, "sweep.gpus=1,8", "sweep.strategies=measured"});
    Engine engine = closed_form_engine();
    engine.plays_schedules = true;
    const Predictor predictor(scenario);
    for (const Record& record : predictor.predict(predictor.plan(), engine).records) {
        EXPECT_EQ(record.status, "n/a");
        EXPECT_EQ(record.status_reason, "measured times have no schedule to simulate; use --engine closed-form");
    }
}

// Two servers' worth of waiting messages on a small device: 127 gradients of 102 MB (25.6 M parameters, fp32) are 13
// GB.
TEST(Prediction, what_arrives_at_a_colocated_server_counts_in_the_memory_warning) {
    const auto warned = [](const char* strategy) {
        for (const std::string& warning : closed_form(load({"sweep.gpus=128", "training.batch_per_gpu=16",
                                                            std::string("sweep.strategies=") + strategy}))
                                              .warnings)
            if (warning.find("messages that arrive") != std::string::npos) return true;
        return false;
    };
    EXPECT_TRUE(warned("ps"));
    EXPECT_TRUE(warned("ps(sum=ordered)"));
    EXPECT_FALSE(warned("tree"));
    EXPECT_FALSE(warned("ring"));
}

// fp16 gradients halve the message and nothing else.
TEST(Prediction, the_gradient_type_changes_the_message_only) {
    const Record fp32 = closed_form(load({"sweep.gpus=8", "sweep.strategies=tree"})).records.at(0);
    const Record fp16 =
        closed_form(load({"sweep.gpus=8", "sweep.strategies=tree", "workload.gradient_type=fp16"})).records.at(0);
    EXPECT_EQ(fp16.gradient_bytes * 2, fp32.gradient_bytes);
    EXPECT_DOUBLE_EQ(*fp16.compute_s, *fp32.compute_s);
    EXPECT_DOUBLE_EQ(*fp16.update_s, *fp32.update_s);
    EXPECT_LT(*fp16.exposed_comm_s, 0.51 * *fp32.exposed_comm_s);
}

// Divided by 8 are compute, update and gradients, and the single GPU computes as much less: on a network without
// latency and overhead the speedup stays what it was.
TEST(Prediction, shrinking_divides_the_step_and_keeps_the_speedup) {
    std::vector<std::string> sets{
        "sweep.gpus=8",       "sweep.strategies=ring",         "cluster.link.latency=0 s", "cluster.link.overhead=0 s",
        "training.epochs=90", "training.samples_per_epoch=1e6"};
    const Record whole = closed_form(load(sets)).records.at(0);
    sets.push_back("workload.shrink=8");
    const Record small = closed_form(load(sets)).records.at(0);
    EXPECT_DOUBLE_EQ(*small.compute_s * 8, *whole.compute_s);
    EXPECT_DOUBLE_EQ(*small.update_s * 8, *whole.update_s);
    EXPECT_NEAR(static_cast<double>(small.gradient_bytes) * 8, static_cast<double>(whole.gradient_bytes), 8 * 4);
    EXPECT_NEAR(*small.step_s * 8, *whole.step_s, 1e-6 * *whole.step_s);
    EXPECT_NEAR(*small.speedup, *whole.speedup, 1e-6 * *whole.speedup);
    EXPECT_EQ(*small.shrink, 8);
    EXPECT_TRUE(whole.train_hours);
    EXPECT_FALSE(small.train_hours) << "steps that were made shorter train nothing";
}

// A network a tenth of its size is not what was published.
TEST(Prediction, shrunk_steps_are_not_held_against_published_ones) {
    const auto scenario = [](const std::string& shrink) {
        return load_scenario("firecaffe-nin", config::parse_settings({"sweep.gpus=128", "workload.shrink=" + shrink}));
    };
    const auto published = [](const Prediction& prediction) {
        return std::any_of(prediction.records.begin(), prediction.records.end(),
                           [](const Record& record) { return record.published_speedup.has_value(); });
    };
    EXPECT_TRUE(published(closed_form(scenario("1"))));
    EXPECT_FALSE(published(closed_form(scenario("10"))));
}

// What a step lasted where it was measured becomes a record by the same arithmetic as what it was predicted to last.
TEST(Prediction, a_measured_step_is_described_as_a_predicted_one) {
    const Scenario scenario = load({"sweep.gpus=4", "sweep.strategies=tree"});
    const Predictor predictor(scenario);
    const std::vector<StepPlan> plans = predictor.plan();
    Record predicted = predictor.predict(plans, closed_form_engine()).records.at(0);
    Record measured = predictor.timed(plans[0], *predicted.step_s);
    measured.kind = predicted.kind;
    measured.engine = predicted.engine;
    EXPECT_EQ(to_csv({measured}), to_csv({predicted}));
    const Record refused = predictor.refused(plans[0], "too warm");
    EXPECT_EQ(refused.status, "n/a");
    EXPECT_EQ(refused.status_reason, "too warm");
    EXPECT_FALSE(refused.step_s || refused.speedup);
}

TEST(Prediction, sensitivities_have_the_sign_that_physics_demands) {
    for (const Sensitivity& s : closed_form(load({"sweep.gpus=8", "sweep.strategies=ps,tree,ring"})).sensitivities) {
        EXPECT_LT(s.link_bandwidth, 0) << s.strategy;
        EXPECT_GT(s.link_latency, 0) << s.strategy;
        EXPECT_LT(s.compute_rate, 0) << s.strategy;
        EXPECT_LT(s.summing_rate, 0) << s.strategy;
        EXPECT_GE(s.link_bandwidth + s.compute_rate + s.summing_rate, -0.5 - 1e-9) << "together at most one halving";
    }
}

// The same input gives the same bytes.
TEST(Prediction, is_deterministic) {
    const Scenario scenario = load({"sweep.gpus=1..8"});
    EXPECT_EQ(to_csv(closed_form(scenario).records), to_csv(closed_form(scenario).records));
}

}  // namespace
}  // namespace coppice
