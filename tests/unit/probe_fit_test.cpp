#include "common/calibration/probe_fit.hpp"

#include "common/cost/cost_model.hpp"
#include "common/diag/error.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <regex>

namespace coppice {
namespace {

constexpr double kO = 2e-6;
constexpr double kAlpha = 10e-6;
constexpr double kB = 1e9;

ProbeRecord record_of(const std::string& what, std::int64_t bytes, double seconds, std::int64_t senders = 1) {
    ProbeRecord record;
    record.what = what;
    record.bytes = bytes;
    record.senders = senders;
    record.segment_bytes = 65536;
    record.segments_in_flight = 8;
    record.seconds = record.low_s = record.high_s = record.min_s = record.max_s = seconds;
    record.repetitions = 10;
    record.stop = "interval";
    record.from = "host1";
    record.to = "host2";
    record.mpi = "Some MPI 1.0";
    record.version = "0";
    return record;
}

double bytes_of(std::int64_t bytes) {
    return static_cast<double>(bytes);
}

// One link, o + alpha + n/B, and rates of 5 and 3 GB/s.
std::vector<ProbeRecord> probe(double both_ways = kB) {
    std::vector<ProbeRecord> records;
    for (std::int64_t bytes = 64; bytes <= 16 << 20; bytes *= 4) {
        records.push_back(record_of("one-way", bytes, kO + kAlpha + bytes_of(bytes) / kB));
        records.push_back(record_of("both-ways", bytes, kO + kAlpha + bytes_of(bytes) / both_ways, 2));
        // Go (an empty message), then three at once.
        records.push_back(record_of("incast", bytes, 2 * (kO + kAlpha) + 3 * bytes_of(bytes) / kB, 3));
    }
    records.push_back(record_of("overhead", 4, kO));
    // The smaller size is in a cache: the larger counts.
    for (const auto& [bytes, sum, update] : {std::tuple{1 << 18, 50e9, 30e9}, {1 << 24, 5e9, 3e9}}) {
        records.push_back(record_of("sum", bytes, bytes / sum, 0));
        records.push_back(record_of("update", bytes, bytes / update, 0));
    }
    return records;
}

Cluster base() {
    Cluster cluster;
    cluster.name = "base";
    cluster.device.memory_bytes_per_s = 900e9;
    cluster.device.sum_bytes_per_s = 300e9;
    cluster.device.update_bytes_per_s = 180e9;
    cluster.host.sum_bytes_per_s = 10e9;
    cluster.link.segments = {{0, 1e-3, 1e6}};
    return cluster;
}

ProbeFit fit(const std::vector<ProbeRecord>& records, bool device_is_host = false) {
    return fit_probe(base(), records, {"probe.jsonl"}, {}, device_is_host);
}

UserErrorParts error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const UserError& error) {
        return error.parts();
    }
    throw std::runtime_error("no UserError");
}

std::vector<ProbeRecord> without(std::vector<ProbeRecord> records, const std::string& what) {
    std::erase_if(records, [&](const ProbeRecord& record) { return record.what == what; });
    return records;
}

TEST(ProbeFit, one_way_times_are_split_into_overhead_latency_and_bandwidth) {
    const Link link = fit(probe()).cluster.link;
    ASSERT_EQ(link.segments.size(), 1u);
    EXPECT_NEAR(link.segments[0].latency_s, kAlpha, 1e-12);
    EXPECT_NEAR(link.segments[0].bytes_per_s, kB, 1e3);
    EXPECT_DOUBLE_EQ(link.overhead_s, kO);
    EXPECT_EQ(link.segment_bytes, 65536u);
    EXPECT_EQ(link.segments_in_flight, 8u);
    ASSERT_TRUE(link.fit);
    EXPECT_LT(link.fit->quality.worst_error, 1e-6);
    // The point of it: the cost model gives the measured times back.
    Cluster cluster = fit(probe()).cluster;
    for (const ProbeRecord& record : probe()) {
        if (record.what != "one-way") continue;
        EXPECT_NEAR(CostModel(cluster).send_s(static_cast<std::uint64_t>(record.bytes)) / record.seconds, 1, 1e-6);
    }
}

TEST(ProbeFit, without_an_overhead_record_the_latency_has_it_all) {
    const ProbeFit found = fit(without(probe(), "overhead"));
    EXPECT_EQ(found.cluster.link.overhead_s, 0);
    EXPECT_NEAR(found.cluster.link.segments[0].latency_s, kO + kAlpha, 1e-12);
    EXPECT_NE(found.notes.at(0).find("no 'overhead' record"), std::string::npos);
}

TEST(ProbeFit, an_overhead_cannot_exceed_the_shortest_message) {
    std::vector<ProbeRecord> records = without(probe(), "overhead");
    records.push_back(record_of("overhead", 4, 1e-3));
    const ProbeFit found = fit(records);
    EXPECT_DOUBLE_EQ(found.overhead_s, kO + kAlpha + 64 / kB);
    EXPECT_GE(found.cluster.link.segments[0].latency_s, 0);
    EXPECT_NE(found.notes.at(0).find("capped"), std::string::npos);
}

TEST(ProbeFit, what_receiving_takes_from_sending_is_kept) {
    const Cluster apart = fit(probe()).cluster;
    const Cluster shared = fit(probe(0.7 * kB)).cluster;
    // 1 MiB at 1 GB/s, and at 0.7 GB/s: 0.4286 times as long more.
    EXPECT_NEAR(CostModel(apart).both_ways_extra_s(1 << 20), 0, 1e-9) << "nothing: full duplex";
    EXPECT_NEAR(CostModel(shared).both_ways_extra_s(1 << 20), (1 / 0.7 - 1) * (1 << 20) / kB, 1e-8);
    EXPECT_NEAR(CostModel(shared).exchange_s(1 << 20), kO + kAlpha + (1 << 20) / (0.7 * kB), 1e-8);
    EXPECT_TRUE(fit(without(probe(), "both-ways")).cluster.link.both_ways.empty());
}

// The probe tries several sizes of pieces both ways before it settles on the one of its one-way messages.
TEST(ProbeFit, messages_in_other_pieces_do_not_count) {
    std::vector<ProbeRecord> records = probe();
    for (int i = 0; i < 20; ++i) {
        records.push_back(record_of("both-ways", 1 << 20, 1, 2));
        records.back().segment_bytes = 4096;
    }
    EXPECT_NEAR(CostModel(fit(records).cluster).both_ways_extra_s(1 << 20), 0, 1e-9);
    records.push_back(record_of("one-way", 1 << 20, 1));
    records.back().segment_bytes = 4096;
    EXPECT_NE(error_of([&] { fit(records); }).found.find("pieces of 65536 (8 at a time) and of 4096"),
              std::string::npos);
}

// Both hold here by construction: both ways apart, three share the one link.
TEST(ProbeFit, both_ways_and_incast_are_held_against_the_fitted_link) {
    const std::vector<ProbeCheck> checks = fit(probe()).checks;
    ASSERT_EQ(checks.size(), 20u) << "10 sizes of each";
    for (const ProbeCheck& check : checks) EXPECT_NEAR(check.ratio(), 1, 1e-6) << check.what << " " << check.bytes;
}

TEST(ProbeFit, rates_are_the_hosts_and_the_devices_only_if_it_is_the_host) {
    const Cluster host = fit(probe()).cluster;
    EXPECT_DOUBLE_EQ(host.host.sum_bytes_per_s, 5e9);
    EXPECT_DOUBLE_EQ(host.device.sum_bytes_per_s, 300e9);
    EXPECT_DOUBLE_EQ(host.device.update_bytes_per_s, 180e9);
    const Cluster both = fit(probe(), true).cluster;
    EXPECT_DOUBLE_EQ(both.device.sum_bytes_per_s, 5e9);
    EXPECT_DOUBLE_EQ(both.device.update_bytes_per_s, 3e9);
    EXPECT_DOUBLE_EQ(fit(without(probe(), "sum")).cluster.host.sum_bytes_per_s, 10e9) << "the base's";
}

TEST(ProbeFit, what_is_needed_and_missing_is_said) {
    EXPECT_EQ(error_of([] { fit(without(probe(), "one-way")); }).found, "'one-way' records of 0 sizes");
    EXPECT_EQ(error_of([] { fit(without(probe(), "sum"), true); }).found, "no 'sum' record");
    EXPECT_EQ(error_of([] { fit(without(probe(), "update"), true); }).found, "no 'update' record");
    EXPECT_EQ(error_of([] { fit({}); }).where.file, "probe.jsonl");
}

TEST(ProbeFit, names_hosts_and_library) {
    EXPECT_EQ(describe_probe(probe()), "coppice-run probe on host1, host2 (Some MPI 1.0)");
}

TEST(ProbeRecord, round_trip_keeps_every_bit) {
    std::vector<ProbeRecord> records = probe();
    records[0].seconds = 0.1 + 0.2;
    const std::string text = to_json_lines(records);
    const std::vector<ProbeRecord> read = parse_probe_records(text, "f");
    ASSERT_EQ(read.size(), records.size());
    EXPECT_EQ(read[0].seconds, 0.1 + 0.2);
    EXPECT_EQ(to_json_lines(read), text);
    EXPECT_TRUE(parse_probe_records("", "f").empty());
}

TEST(ProbeRecord, what_is_no_such_record_is_refused_with_file_and_line) {
    const std::string text = to_json_lines({probe()[0], probe()[1]});
    const auto parts_with = [&](const char* pattern, const char* by) {
        const std::string changed = std::regex_replace(text, std::regex(pattern), by);
        return error_of([&] { parse_probe_records(changed, "f.jsonl"); });
    };
    EXPECT_EQ(parts_with("both-ways", "bothways").where.line, 2);
    EXPECT_NE(parts_with("both-ways", "bothways").hint.find("did you mean 'both-ways'"), std::string::npos);
    EXPECT_EQ(parts_with("probe/1", "probe/9").key, "schema");
    EXPECT_EQ(parts_with("\"bytes\":64", "\"bytes\":-64").key, "bytes");
    EXPECT_EQ(parts_with("\"bytes\":64", "\"bytes\":\"64\"").expected, "an integer");
    EXPECT_EQ(parts_with("\"seconds\":[^,]*", "\"seconds\":0").key, "seconds");
    EXPECT_EQ(parts_with("\"senders\":1,", "").found, "nothing");
    EXPECT_THROW(parse_probe_records(text.substr(0, text.size() - 10), "f"), UserError) << "cut off";
    EXPECT_THROW(parse_probe_records("1,2,3\n", "f"), UserError);
}

}  // namespace
}  // namespace coppice
