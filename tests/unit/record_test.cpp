#include "common/result/record.hpp"
#include "common/diag/error.hpp"
#include "common/result/atomic_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace coppice {
namespace {

Record sample() {
    Record record;
    record.kind = "simulation";
    record.strategy_requested = "ps(placement=dedicated,sum=ordered)";  // commas must survive CSV
    record.scenario = "quoted \"name\"\nwith a line break";
    record.gpus = 128;
    record.gradient_bytes = 53513120;
    record.step_s = 0.1 + 0.2;  // needs 17 digits
    record.messages = 254;
    record.status = "ok";
    return record;
}

template <class Parse, class Print>
void expect_round_trip(Parse parse, Print print) {
    const std::vector<Record> records{sample(), Record{}};
    const std::string text = print(records);
    const std::vector<Record> read = parse(text, "file");
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(print(read), text);
    EXPECT_EQ(*read[0].step_s, *sample().step_s);
    EXPECT_EQ(read[0].scenario, sample().scenario);
    EXPECT_FALSE(read[1].step_s.has_value());
}

TEST(Record, csv_round_trip_keeps_every_bit) {
    expect_round_trip(parse_csv, to_csv);
}
TEST(Record, json_lines_round_trip_keeps_every_bit) {
    expect_round_trip(parse_json_lines, to_json_lines);
}

TEST(Record, another_schema_is_refused) {
    Record record = sample();
    record.schema = "coppice.record/999";
    EXPECT_THROW(parse_csv(to_csv({record}), "f"), UserError);
    EXPECT_THROW(parse_json_lines(to_json_lines({record}), "f"), UserError);
}

TEST(Record, a_file_that_was_cut_off_is_refused_with_its_line) {
    const std::string text = to_csv({sample(), sample()});
    try {
        parse_csv(text.substr(0, text.size() - 10), "records.csv");
        FAIL();
    } catch (const UserError& error) {
        EXPECT_EQ(error.parts().where.file, "records.csv");
        EXPECT_GT(error.parts().where.line, 1);
    }
    const std::string json = to_json_lines({sample()});
    EXPECT_THROW(parse_json_lines(json.substr(0, json.size() - 10), "f"), UserError);
}

TEST(Record, wrong_values_and_missing_columns_are_refused) {
    std::string text = to_csv({sample()});
    EXPECT_THROW(parse_csv(std::regex_replace(text, std::regex("53513120"), "many"), "f"), UserError);
    EXPECT_THROW(parse_csv(std::regex_replace(text, std::regex("gpus,servers"), "gpu,servers"), "f"), UserError);
    EXPECT_THROW(parse_csv("", "f"), UserError);
}

TEST(Record, one_line_is_a_line_of_the_file) {
    EXPECT_EQ(to_csv({}) + csv_line(sample()), to_csv({sample()}));
}

TEST(Record, the_key_does_not_depend_on_the_cluster_or_the_engine) {
    Record predicted = sample();
    Record measured = sample();
    measured.cluster = "emulated";
    measured.engine = "mpi";
    measured.kind = "measurement";
    EXPECT_EQ(make_key(predicted), make_key(measured));
    measured.gpus = 64;
    EXPECT_NE(make_key(predicted), make_key(measured));
}

// docs/records.md is the schema that others program against: every field has its row there, and no row is left over.
TEST(Record, the_documentation_lists_exactly_these_fields_in_this_order) {
    std::ifstream file(std::string(COPPICE_SOURCE_DIR) + "/docs/records.md");
    ASSERT_TRUE(file);
    std::vector<std::string> documented;
    const std::regex row("^\\| `([a-z_]+)` \\|.*");
    for (std::string line; std::getline(file, line);) {
        std::smatch match;
        if (std::regex_match(line, match, row)) documented.push_back(match[1]);
    }
    std::vector<std::string> fields;
    Record record;
    visit_fields(record, [&](const char* name, auto&) { fields.emplace_back(name); });
    EXPECT_EQ(documented, fields);
}

TEST(WriteWhole, replaces_a_file_and_leaves_nothing_beside_it) {
    const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "coppice_write_whole";
    std::filesystem::remove_all(folder);
    prepare_folder(folder / "deep");
    write_whole(folder / "deep" / "a", "first");
    write_whole(folder / "deep" / "a", "second");
    EXPECT_EQ(read_whole(folder / "deep" / "a"), "second");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / "deep"), {}), 1);
    EXPECT_THROW(prepare_folder(folder / "deep" / "a"), EnvironmentError) << "a file is no folder";
    EXPECT_THROW(write_whole(folder / "none" / "a", "x"), EnvironmentError);
    EXPECT_THROW(read_whole(folder / "none"), UserError);
    EXPECT_THROW(read_whole(folder), UserError);
    std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace coppice
