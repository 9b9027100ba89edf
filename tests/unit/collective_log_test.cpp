#include "common/calibration/collective_log.hpp"

#include "common/diag/error.hpp"
#include "tests/support/logs.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <regex>

namespace coppice {
namespace {

using testing::kH100_us;
using testing::LogStyle;
using testing::nccl_header;
using testing::nccl_log;
using testing::nccl_row;
using testing::osu_log;

MeasuredLog parse(const std::string& text, bool in_place = false) {
    return parse_log(text, "a.log", in_place);
}

UserErrorParts error_of(const std::string& text, bool in_place = false) {
    try {
        parse(text, in_place);
    } catch (const UserError& error) {
        return error.parts();
    }
    throw std::runtime_error("no UserError for:\n" + text);
}

TEST(NcclLog, sizes_and_times_of_the_out_of_place_columns) {
    const MeasuredLog log = parse(nccl_log({.in_place = 2}, 8, kH100_us));
    EXPECT_EQ(log.subject, LogSubject::AllReduce);
    EXPECT_EQ(log.column, "out-of-place");
    ASSERT_EQ(log.points.size(), 31u);
    EXPECT_EQ(log.points[0].bytes, 8);
    EXPECT_EQ(log.points[0].seconds, 135.8e-6) << "the decimal that is written, not 135.8 * 1e-6";
    EXPECT_EQ(log.points[28].seconds, 12646e-6) << "from 10 ms on without decimals";
    EXPECT_EQ(log.points[30].bytes, 8589934592.0) << "more than 32 bits";
    EXPECT_TRUE(log.left_out.empty());
    EXPECT_EQ(log.other_lines, 0);
}

TEST(NcclLog, the_in_place_columns_if_told) {
    const MeasuredLog log = parse(nccl_log({.in_place = 2}, 1024, {100, 200}), true);
    EXPECT_EQ(log.column, "in-place");
    EXPECT_EQ(log.points.at(1).seconds, 400e-6);
}

TEST(NcclLog, the_list_of_devices_tells_the_number_of_ranks) {
    for (const int ranks : {2, 3, 16, 64}) {
        const MeasuredLog log = parse(nccl_log({.ranks = ranks}, 8, kH100_us));
        EXPECT_EQ(log.ranks, ranks);
        EXPECT_EQ(log.ranks_told, "its list of devices");
    }
}

TEST(NcclLog, without_a_list_busbw_over_algbw_does) {
    for (const bool old : {false, true}) {
        for (int ranks = 2; ranks <= 16; ++ranks) {
            const MeasuredLog log = parse(nccl_log({.ranks = ranks, .listed = false, .old = old}, 8, kH100_us));
            EXPECT_EQ(log.ranks, ranks);
            EXPECT_EQ(log.ranks_told, "busbw / algbw");
        }
    }
}

// 2(n-1)/n of 12.34 GB/s, both printed with two decimals: busbw / algbw is known within 2 * 0.005/12.34 = 0.08 %, that
// is 0.0016 of at most 2; n = 2/(2-f) moves by n^2/2 times that, 0.2 for n = 16: one whole number is left.
TEST(NcclLog, printed_digits_bound_the_number_of_ranks) {
    for (int n = 2; n <= 16; ++n) {
        const RankRange range = ranks_of(fmt::format("{:.2f}", 12.34 * 2 * (n - 1) / n), "12.34");
        EXPECT_LE(range.least, n);
        EXPECT_GE(range.most, n);
        EXPECT_EQ(std::ceil(range.least), n);
        EXPECT_EQ(std::floor(range.most), n);
    }
    EXPECT_EQ(ranks_of("0.00", "0.00").most, INFINITY) << "0/0 tells nothing";
    EXPECT_EQ(ranks_of("N/A", "1.00").most, INFINITY);
    // 1.8e+05: from 175 to 185 thousand, of 100 thousand: factors from 1.75 to 1.85, n from 8 to 13.3.
    EXPECT_NEAR(ranks_of("1.8e+05", "100000").least, 8, 1e-3);
    EXPECT_NEAR(ranks_of("1.8e+05", "100000").most, 2 / (2 - 1.85), 1e-2);
}

// 0.12 and 0.22 GB/s: the quotient is between 0.215/0.125 = 1.72 and 0.225/0.115 = 1.957, n between 7.1 and 46.
TEST(NcclLog, small_bandwidths_alone_do_not_tell_the_number_of_ranks) {
    const MeasuredLog log = parse(nccl_log({.ranks = 16, .listed = false}, 16384, {138.6}));
    EXPECT_FALSE(log.ranks);
    EXPECT_NE(log.ranks_told.find("fits any from 8 to 46"), std::string::npos) << log.ranks_told;
}

TEST(NcclLog, bandwidths_that_no_number_of_ranks_gives_tell_none) {
    const std::string row = " 262144 float sum -1 100.0 10.49 20.98 0 100.0 10.49 20.98 0\n";  // busbw = 2 algbw
    const MeasuredLog log = parse(nccl_header({.listed = false}) + "1048576" + row);
    EXPECT_FALSE(log.ranks);
    // 3 times is more than any number of ranks gives, and so is an infinite one.
    for (const char* busbw : {"31.47", "1e300"}) {
        const std::string text = std::regex_replace(row, std::regex("20.98"), busbw);
        const MeasuredLog mangled = parse(nccl_header({.listed = false}) + "1048576" + text);
        EXPECT_FALSE(mangled.ranks);
        EXPECT_NE(mangled.ranks_told.find("fits no whole number"), std::string::npos) << mangled.ranks_told;
    }
}

TEST(NcclLog, labels_carriage_returns_and_strangers_do_not_matter) {
    for (const char* label : {"[1,0]<stdout>:", "[1,0]<stdout>: ", "[prterun-node1-42@1,0]<stdout>: ", "[0] ",
                              "0: ", "2024-05-01T12:00:00.123456789Z "}) {
        std::string text = nccl_log({.ranks = 8, .old = true, .label = label, .end = "\r\n"}, 1048576, {310, 500, 900});
        text += "[node7:2345] 1 more process has said something about verbs\nslurmstepd: done\n\n";
        const MeasuredLog log = parse(text);
        EXPECT_EQ(log.ranks, 8) << label;
        EXPECT_EQ(log.points.size(), 3u) << label;
        EXPECT_EQ(log.other_lines, 2) << label;
    }
}

TEST(NcclLog, a_log_that_begins_with_its_rows_is_read_by_the_number_of_columns) {
    for (const bool old : {false, true}) {
        const LogStyle style{.ranks = 4, .listed = false, .old = old};
        const MeasuredLog log = parse(nccl_row(style, 1e6, 100) + nccl_row(style, 2e6, 180));
        ASSERT_EQ(log.points.size(), 2u);
        EXPECT_EQ(log.points[1].seconds, 180e-6);
        EXPECT_EQ(log.ranks, 4);
    }
}

// Behind the check may stand times of each iteration, at the end a timestamp (a date and a time of day).
TEST(NcclLog, columns_are_where_the_header_says) {
    const std::string begin = "# size count type redop root ";
    const std::string times = "time algbw busbw #wrong ";
    const std::string iterations = "i_min i_max i_p99 i_cv% ";
    const std::string each =
        "1048576 262144 float sum -1 203.2 5.16 9.68 0 200.1 210.9 209.0 0.00 "
        "207.2 5.06 9.49 0 205.1 211.9 210.0 0.00\n";
    EXPECT_EQ(parse(begin + times + iterations + times + iterations + "\n" + each).points.at(0).seconds, 203.2e-6);
    EXPECT_EQ(parse(begin + times + iterations + times + iterations + "\n" + each, true).points.at(0).seconds,
              207.2e-6);
    const std::string stamped = "1048576 262144 float sum -1 203.2 5.16 9.68 0 207.2 5.06 9.49 0 2025-01-01 12:00:00\n";
    EXPECT_EQ(parse(begin + times + times + "timestamp\n" + stamped, true).points.at(0).seconds, 207.2e-6);
}

// With --report_cputime the column is what the calls take of the processor, a few us at any size.
TEST(NcclLog, cpu_times_are_refused) {
    const std::string text = std::regex_replace(nccl_log({}, 8, kH100_us), std::regex("    time "), " cputime ");
    const UserErrorParts parts = error_of(text);
    EXPECT_EQ(parts.found, "CPU times of the calls (cputime)");
    EXPECT_GT(parts.where.line, 0);
}

// NCCL_TESTS_SPLIT makes several collectives of a job's ranks, side by side.
TEST(NcclLog, ranks_of_a_split_job_are_those_of_one_group) {
    std::string list;
    for (int rank = 0; rank < 16; ++rank)
        list +=
            fmt::format("#  Rank {:2} Group {:2} Pid {:6} on host device  0 [0x00] GPU\n", rank, rank % 2, 4000 + rank);
    EXPECT_EQ(parse(list + nccl_log({.ranks = 8, .listed = false}, 1e6, {100, 180})).ranks, 8);
}

// mpirun of an nccl-tests without MPI: as many tests of one rank each, whose busbw is 0.
TEST(NcclLog, tests_on_one_rank_are_refused_with_the_usual_reason) {
    for (const char* name : {"", "# Collective test starting: all_reduce_perf\n"}) {
        const std::string one = name + nccl_log({.ranks = 1}, 8, kH100_us);
        for (const std::string& text : {one, one + one}) {
            EXPECT_EQ(error_of(text).found, "a test on one rank");
            EXPECT_NE(error_of(text).hint.find("MPI=1"), std::string::npos);
        }
    }
}

TEST(NcclLog, sizes_may_repeat) {
    const MeasuredLog log = parse(nccl_log({}, 8, {1, 2}) + nccl_log({}, 8, {3, 4}));
    ASSERT_EQ(log.points.size(), 4u);
    EXPECT_EQ(log.points[2].bytes, 8);
    EXPECT_EQ(log.ranks, 16) << "a second list as long as the first";
}

struct BadRow {
    const char* name;
    bool old;
    std::string row;
    const char* reason;
};
void PrintTo(const BadRow& row, std::ostream* out) {
    *out << row.name;
}

class NcclBadRow : public ::testing::TestWithParam<BadRow> {};

TEST_P(NcclBadRow, is_named_and_left_out) {
    const LogStyle style{.old = GetParam().old};
    const MeasuredLog log =
        parse(nccl_header(style) + nccl_row(style, 1024, 50) + GetParam().row + "\n" + nccl_row(style, 4096, 60));
    EXPECT_EQ(log.points.size(), 2u);
    ASSERT_EQ(log.left_out.size(), 1u);
    EXPECT_EQ(log.left_out[0].bytes, 2048);
    EXPECT_EQ(log.left_out[0].line, 16 + 5 + 2) << "behind the header's 16 ranks and 5 other lines, and one row";
    EXPECT_NE(log.left_out[0].reason.find(GetParam().reason), std::string::npos) << log.left_out[0].reason;
}

const std::string kBegin = "2048 512 float sum -1 ";
INSTANTIATE_TEST_SUITE_P(
    rows, NcclBadRow,
    ::testing::Values(BadRow{"wrong", false, kBegin + "50.0 0.04 0.08 7 50.0 0.04 0.08 0", "7 wrong elements"},
                      BadRow{"infinite", false, kBegin + "inf 0.00 0.00 0 50.0 0.04 0.08 0", "a time of 'inf'"},
                      BadRow{"not_a_number", false, kBegin + "nan 0.00 0.00 0 50.0 0.04 0.08 0", "a time of 'nan'"},
                      BadRow{"no_time", false, kBegin + "N/A N/A N/A N/A 50.0 0.04 0.08 0", "a time of 'N/A'"},
                      BadRow{"zero", false, kBegin + "0.0 0.00 0.00 0 50.0 0.04 0.08 0", "a time of '0.0'"},
                      BadRow{"negative", false, kBegin + "-3.0 0.00 0.00 0 50.0 0.04 0.08 0", "a time of '-3.0'"},
                      BadRow{"cut_off", false, kBegin + "50.0 0.04", "columns"},
                      // 2048 B in 50 us are 0.04 GB/s.
                      BadRow{"mangled", false, kBegin + "50.0 4.10 7.68 0 50.0 0.04 0.08 0", "contradicts its algbw"},
                      BadRow{"check_unreadable", false, kBegin + "50.0 0.04 0.08 what 50.0 0.04 0.08 0", "'what'"},
                      BadRow{"deviation", true, "2048 512 float sum 50.0 0.04 0.08 1e-03 50.0 0.04 0.08 4e-07",
                             "off by 1e-03"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(NcclLog, results_that_were_not_checked_are_taken) {
    const MeasuredLog log = parse(nccl_header({}) + nccl_row({}, 1024, 50, "N/A"));
    EXPECT_EQ(log.points.size(), 1u);
}

TEST(NcclLog, a_log_without_a_usable_row_is_refused_with_the_first_reason) {
    EXPECT_NE(error_of(nccl_header({})).found.find("without any row"), std::string::npos);
    const UserErrorParts parts = error_of(nccl_header({}) + nccl_row({}, 1024, 50, "3"));
    EXPECT_NE(parts.found.find("3 wrong elements"), std::string::npos) << parts.found;
    EXPECT_EQ(parts.where.line, 16 + 5 + 1);
}

TEST(NcclLog, other_collectives_are_refused_by_name_or_by_what_shows) {
    const std::string rows = nccl_log({}, 8, kH100_us);
    const auto found = [](const std::string& text) { return error_of(text).found; };
    EXPECT_EQ(found("# Collective test starting: reduce_scatter_perf\n" + rows),
              "a log of reduce_scatter_perf, whose busbw is (n-1)/n of its algbw");
    EXPECT_EQ(found("+ mpirun -np 16 ./build/all_gather_perf -b 8\n" + rows),
              "a log of all_gather_perf, whose busbw is (n-1)/n of its algbw");
    EXPECT_EQ(found(std::regex_replace(rows, std::regex("  sum "), " none ")), "rows without a reduction (redop none)");
    EXPECT_EQ(found(std::regex_replace(rows, std::regex(" -1 "), "  0 ")), "rows with a root (0)");
    // 16 ranks: (n-1)/n = 0.9375.
    EXPECT_EQ(
        found(nccl_header({.listed = false}) + "1048576 262144 float sum -1 100.0 10.49 9.83 0 100.0 10.49 9.83 0\n"),
        "busbw below algbw, as of reduce_scatter_perf");
    EXPECT_NO_THROW(parse("# Collective test starting: all_reduce_perf\n" + rows));
}

TEST(NcclLog, two_runs_in_one_file_must_be_of_one_number_of_ranks) {
    const UserErrorParts parts = error_of(nccl_log({.ranks = 8}, 8, kH100_us) + nccl_log({.ranks = 16}, 8, kH100_us));
    EXPECT_EQ(parts.found, "a run on 16 ranks after one on 8");
    EXPECT_GT(parts.where.line, 0);
}

TEST(NcclLog, a_list_that_contradicts_the_bandwidths_is_refused) {
    const std::string text = nccl_header({.ranks = 4}) + nccl_row({.ranks = 16}, 1e9, 1e4);
    EXPECT_NE(error_of(text).found.find("4 devices in the list"), std::string::npos);
}

TEST(OsuLog, two_columns_and_what_the_scheduler_wrote_behind_them) {
    const std::string text = osu_log("Allreduce Latency", 4, testing::kOsu_us) + "JOB ENDED\n{\"nodes\": 128}\n12 34\n";
    const MeasuredLog log = parse(text);
    EXPECT_EQ(log.tool, "osu_allreduce");
    EXPECT_EQ(log.subject, LogSubject::AllReduce);
    EXPECT_FALSE(log.ranks);
    ASSERT_EQ(log.points.size(), 19u);
    EXPECT_EQ(log.points[18].bytes, 1048576);
    EXPECT_EQ(log.points[18].seconds, 7660.03e-6);
    EXPECT_EQ(log.other_lines, 3) << "two whole numbers are no row: times have decimals";
}

TEST(OsuLog, the_average_of_the_full_table) {
    const MeasuredLog log = parse(
        "# OSU MPI-CUDA Allreduce Latency Test v7.1\n# Datatype: MPI_FLOAT.\n"
        "# Size  Avg Latency(us)  Min Latency(us)  Max Latency(us)  Iterations\n"
        "4  10.50  9.00  12.00  1000\n8  11.50  9.50  13.00  1000\n");
    ASSERT_EQ(log.points.size(), 2u);
    EXPECT_EQ(log.points[1].seconds, 11.5e-6);
}

TEST(OsuLog, a_result_that_failed_its_validation_is_left_out) {
    const MeasuredLog log = parse(
        "# OSU MPI Allreduce Latency Test v7.1\n# Size  Avg Latency(us)  Validation\n4  10.50  Pass\n8  11.50  Fail\n");
    EXPECT_EQ(log.points.size(), 1u);
    EXPECT_EQ(log.left_out.at(0).bytes, 8);
}

TEST(OsuLog, osu_latency_is_of_a_link) {
    const MeasuredLog log = parse(osu_log("Latency", 1, {1.5, 1.6}));
    EXPECT_EQ(log.subject, LogSubject::Message);
    EXPECT_EQ(log.tool, "osu_latency");
    EXPECT_EQ(log.points.at(0).seconds, 1.5e-6);
}

TEST(OsuLog, other_tests_are_refused_by_name) {
    for (const char* test : {"Bandwidth", "Bi-Directional Bandwidth", "Broadcast Latency", "Multi Latency",
                             "Non-blocking Allreduce Latency"}) {
        const UserErrorParts parts = error_of(osu_log(test, 1, {1.5, 1.6}));
        EXPECT_EQ(parts.found, fmt::format("a log of the OSU test '{}'", test));
        EXPECT_EQ(parts.where.line, 2);
    }
    EXPECT_NE(error_of(osu_log("Bandwidth", 1, {1.5})).hint.find("many messages"), std::string::npos);
    EXPECT_NE(error_of(osu_log("Latency", 1, {1.5}) + osu_log("Allreduce Latency", 1, {1.5})).found.find("second test"),
              std::string::npos);
}

// "OSU MPI Latency" is of messages; the one-sided tests have their operation in the second word.
TEST(OsuLog, one_sided_operations_are_not_taken_for_messages) {
    for (const char* test : {"MPI_Put Latency", "MPI_Get latency", "MPI_Accumulate latency"}) {
        const std::string text = fmt::format("# OSU {} Test v5.8\n# Size          Latency (us)\n1    1.50\n", test);
        EXPECT_EQ(error_of(text).found, fmt::format("a log of the OSU test '{}'", test));
    }
}

TEST(OsuLog, a_byte_order_mark_is_no_part_of_the_title) {
    EXPECT_EQ(parse("\xef\xbb\xbf# OSU MPI Latency Test v5.8\n1    1.50\n").points.size(), 1u);
}

TEST(OsuLog, without_rows_or_with_in_place_asked_for_is_refused) {
    EXPECT_NE(error_of(osu_log("Latency", 1, {})).found.find("without any row"), std::string::npos);
    EXPECT_EQ(error_of(osu_log("Latency", 1, {1.5}), true).where.file, "--in-place");
    EXPECT_NE(error_of(osu_log("Latency", 1, {0.0})).found.find("no usable row"), std::string::npos);
}

TEST(Log, anything_else_is_refused) {
    for (const char* text : {"", "\n\n", "hello\n", "1 2 3\n", "# size count\n", "schema = 1\n",
                             "\x7f"
                             "ELF\n"}) {
        EXPECT_FALSE(looks_like_log(text)) << text;
        EXPECT_NE(error_of(text).expected.find("all_reduce_perf"), std::string::npos);
    }
}

// A log that was damaged anywhere is read or refused, and what is read is usable.
RC_GTEST_PROP(Log, survives_any_damage, ()) {
    const bool osu = *rc::gen::arbitrary<bool>();
    std::string text = osu ? osu_log("Allreduce Latency", 4, testing::kOsu_us)
                           : nccl_log({.ranks = 3, .old = *rc::gen::arbitrary<bool>()}, 1024, {10, 20, 30, 40, 50});
    const int wounds = *rc::gen::inRange(1, 20);
    for (int i = 0; i < wounds && !text.empty(); ++i) {
        const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
        if (*rc::gen::arbitrary<bool>())
            text.erase(at, *rc::gen::inRange<std::size_t>(1, 40));
        else
            text.insert(at, 1, *rc::gen::arbitrary<char>());
    }
    try {
        const MeasuredLog log = parse_log(text, "damaged", false);
        RC_ASSERT(!log.points.empty());
        for (const TimedSize& point : log.points) {
            RC_ASSERT(point.seconds > 0);
            RC_ASSERT(point.bytes >= 0);
        }
        RC_ASSERT(log.ranks.value_or(2) >= 2);
    } catch (const UserError&) {
    }
}

}  // namespace
}  // namespace coppice
