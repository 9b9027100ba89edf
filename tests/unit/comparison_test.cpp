#include "common/comparison/comparison.hpp"

#include "common/diag/error.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

Record record(const std::string& kind, const std::string& strategy, std::int64_t gpus, double seconds) {
    Record record;
    record.kind = kind;
    record.engine = kind == "measurement" ? "mpi" : "sim";
    record.cluster = kind == "measurement" ? "" : "mine";
    record.mode = "all-reduce";
    record.strategy_requested = record.strategy = strategy;
    record.gpus = gpus;
    record.gradient_type = "fp32";
    record.gradient_bytes = 1000;
    record.status = "ok";
    record.allreduce_s = seconds;
    record.key = make_key(record);
    return record;
}

Record predicted(const std::string& strategy, std::int64_t gpus, double seconds) {
    return record("simulation", strategy, gpus, seconds);
}
Record measured(const std::string& strategy, std::int64_t gpus, double seconds) {
    return record("measurement", strategy, gpus, seconds);
}

TEST(Comparison, PercentilesAreOfTheNearestRank) {
    std::vector<double> twenty;
    for (int i = 20; i >= 1; --i) twenty.push_back(i);
    EXPECT_EQ(nearest_rank(twenty, 0.95), 19);  // 19 of 20 are no greater
    EXPECT_EQ(nearest_rank(twenty, 1), 20);
    EXPECT_EQ(nearest_rank({7}, 0.95), 7);
    EXPECT_EQ(nearest_rank({1, 2, 3}, 0.95), 3);  // ceil(2.85)
}

TEST(Comparison, ErrorsAreOfTheMeasured) {
    const Comparison all = compare({{"", "p", {predicted("ring", 2, 1.1), predicted("ring", 4, 1.8)}}},
                                   {"", "m", {measured("ring", 2, 1), measured("ring", 4, 2)}}, {});
    ASSERT_EQ(all.points.size(), 2U);
    EXPECT_NEAR(all.points[0].error(), 0.1, 1e-12);
    EXPECT_NEAR(all.points[1].error(), -0.1, 1e-12);
    ASSERT_EQ(all.summaries.size(), 2U);  // all, ring
    EXPECT_NEAR(all.summaries[0].median, 0.1, 1e-12);
    EXPECT_NEAR(all.summaries[0].bias, 0, 1e-12);
    EXPECT_NEAR(all.summaries[0].worst, 0.1, 1e-12);
}

TEST(Comparison, PredictionsOfDifferentClustersAreNotMixed) {
    Record other = predicted("ring", 2, 3);
    other.cluster = "as bought";
    const Comparison all = compare({{"", "p", {predicted("ring", 2, 1)}}, {"nominal", "q", {other}}},
                                   {"", "m", {measured("ring", 2, 1)}}, {});
    ASSERT_EQ(all.summaries.size(), 4U);
    EXPECT_EQ(all.summaries[0].worst, 0);
    EXPECT_EQ(all.summaries[2].group, "nominal (as bought, sim)");
    EXPECT_NEAR(all.summaries[2].worst, 2, 1e-12);
}

TEST(Comparison, ShortPointsAreShownAndNotCounted) {
    const Comparison all = compare({{"", "p", {predicted("ring", 2, 9), predicted("ring", 4, 1)}}},
                                   {"", "m", {measured("ring", 2, 0.001), measured("ring", 4, 1)}}, {.least_s = 0.005});
    EXPECT_EQ(all.points.size(), 2U);
    EXPECT_EQ(all.summaries[0].points, 1U);
    EXPECT_EQ(all.summaries[0].not_counted, 1U);
    EXPECT_EQ(all.summaries[0].worst, 0);
}

TEST(Comparison, OrderMattersWhereTimesDiffer) {
    const std::vector<Record> measurements{measured("ring", 2, 1), measured("tree", 2, 1.2), measured("ps", 2, 1.05),
                                           measured("ring", 4, 1)};
    const std::vector<Record> predictions{predicted("ring", 2, 1.3), predicted("tree", 2, 1.2), predicted("ps", 2, 1),
                                          predicted("ring", 4, 1)};
    const Comparison all = compare({{"", "p", predictions}}, {"", "m", measurements}, {.differ = 0.1});
    // tree is 20 % slower than ring (predicted faster: broken) and 14 % slower than ps (kept); ps and ring differ by 5
    // %.
    ASSERT_EQ(all.pairs.size(), 2U);
    int kept = 0;
    for (const OrderPair& pair : all.pairs) kept += pair.kept() ? 1 : 0;
    EXPECT_EQ(kept, 1);
}

TEST(Comparison, WhatDoesNotJoinIsNamed) {
    const Comparison all = compare({{"", "p", {predicted("ring", 2, 1), predicted("tree", 2, 1)}}},
                                   {"", "m", {measured("ring", 2, 1), measured("ps", 2, 1)}}, {});
    ASSERT_EQ(all.only_predicted.size(), 1U);
    EXPECT_NE(all.only_predicted[0].find("strategy=tree"), std::string::npos);
    ASSERT_EQ(all.only_measured.size(), 1U);
    EXPECT_NE(all.only_measured[0].find("strategy=ps"), std::string::npos);
}

TEST(Comparison, NothingThatJoinsIsAnErrorThatShowsBothKeys) {
    try {
        compare({{"", "p", {predicted("ring", 4, 1)}}}, {"", "m", {measured("ring", 2, 1)}}, {});
        FAIL() << "joined";
    } catch (const UserError& error) {
        EXPECT_NE(std::string(error.what()).find("gpus=2"), std::string::npos) << error.what();
        EXPECT_NE(std::string(error.what()).find("gpus=4"), std::string::npos) << error.what();
    }
}

TEST(Comparison, APointTwiceIsAnError) {
    const NamedRecords twice{"", "p", {predicted("ring", 2, 1), predicted("ring", 2, 2)}};
    EXPECT_THROW(compare({twice}, {"", "m", {measured("ring", 2, 1)}}, {}), UserError);
    EXPECT_THROW(compare({{"", "p", {predicted("ring", 2, 1)}}},
                         {"", "m", {measured("ring", 2, 1), measured("ring", 2, 2)}}, {}),
                 UserError);
}

TEST(Comparison, RecordsWithoutATimeAreCountedApart) {
    Record refused = measured("tree", 2, 1);
    refused.allreduce_s.reset();
    refused.status = "n/a";
    const Comparison all =
        compare({{"", "p", {predicted("ring", 2, 1)}}}, {"", "m", {measured("ring", 2, 1), refused}}, {});
    EXPECT_EQ(all.not_applicable, 1U);
}

TEST(Comparison, StepsAreComparedByTheirStep) {
    Record prediction = predicted("ring", 2, 1);
    Record measurement = measured("ring", 2, 1);
    for (Record* one : {&prediction, &measurement}) {
        one->mode = "fused";
        one->key = make_key(*one);
    }
    prediction.step_s = 3;
    measurement.step_s = 4;
    const Comparison all = compare({{"", "p", {prediction}}}, {"", "m", {measurement}}, {});
    EXPECT_NEAR(all.points.at(0).error(), -0.25, 1e-12);
}

TEST(Comparison, FilesHaveAHeaderAndAPointALine) {
    const Comparison all = compare({{"", "p", {predicted("ring", 2, 2)}}}, {"", "m", {measured("ring", 2, 1)}}, {});
    const std::string csv = to_csv(all.points);
    EXPECT_EQ(csv.substr(0, csv.find('\n')),
              "schema,group_index,strategy_index,gpus,gradient_bytes,global_batch,predicted_s,measured_s,error,counted,"
              "mode,group,strategy,key");
    EXPECT_NE(csv.find("coppice.comparison/2,1,1,2,"), std::string::npos) << csv;
    EXPECT_NE(csv.find(",2,1,1,true,all-reduce,\"mine, sim\",ring,"), std::string::npos) << csv;
    EXPECT_NE(to_json_lines(all.points).find("\"error\":1.0"), std::string::npos);
}

TEST(Comparison, NamesAreNumberedInTheOrderOfThePoints) {
    const NamedRecords first{"", "p", {predicted("tree", 2, 1), predicted("ring", 2, 1)}};
    const NamedRecords second{"other", "p", {predicted("ring", 2, 1)}};
    const Comparison all = compare({first, second}, {"", "m", {measured("ring", 2, 1), measured("tree", 2, 1)}}, {});
    ASSERT_EQ(all.points.size(), 3U);
    const auto numbers = [&](std::size_t i) {
        return std::pair(all.points[i].group_index, all.points[i].strategy_index);
    };
    EXPECT_EQ(numbers(0), std::pair(std::int64_t{1}, std::int64_t{1}));
    EXPECT_EQ(numbers(1), std::pair(std::int64_t{1}, std::int64_t{2}));
    EXPECT_EQ(numbers(2), std::pair(std::int64_t{2}, std::int64_t{2}));
}

// What coppice figure draws again: the same points give the same summaries.
TEST(Comparison, PointsAreReadAsTheyWereWritten) {
    const NamedRecords odd{"a \"b\", c=d\ne", "p", {predicted("ps(x=1,y=\"2\")", 2, 1.1), predicted("ring", 2, 3)}};
    const Comparison all =
        compare({odd}, {"", "m", {measured("ps(x=1,y=\"2\")", 2, 1), measured("ring", 2, 0.5)}}, {0.7});
    const std::string csv = to_csv(all.points);
    const std::vector<ComparedPoint> read = parse_comparison_csv(csv, "f");
    EXPECT_EQ(to_csv(read), csv);
    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read[0].group, all.points[0].group);
    EXPECT_EQ(read[0].strategy, "ps(x=1,y=\"2\")");
    EXPECT_FALSE(read[1].counted);
    EXPECT_EQ(summaries_of(read).at(0).p95, all.summaries.at(0).p95);
}

TEST(Comparison, WhatIsNoFileOfPointsIsRefused) {
    const Comparison all = compare({{"", "p", {predicted("ring", 2, 2)}}}, {"", "m", {measured("ring", 2, 1)}}, {});
    const auto refused = [csv = to_csv(all.points)](const std::string& from, const std::string& to) {
        std::string text = csv;
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        try {
            parse_comparison_csv(text.replace(at, from.size(), to), "f.csv");
        } catch (const UserError& error) {
            return std::string(error.what());
        }
        return std::string("read");
    };
    EXPECT_NE(refused("comparison/2", "comparison/1").find("'coppice.comparison/1'"), std::string::npos);
    EXPECT_NE(refused("group_index", "group").find("no such column"), std::string::npos);
    EXPECT_NE(refused(",true,", ",yes,").find("true or false"), std::string::npos);
    EXPECT_NE(refused(",2,1,1,true", ",2,0,1,true").find("times above 0"), std::string::npos);
}

}  // namespace
}  // namespace coppice
