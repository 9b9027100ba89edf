#include "common/config/table_reader.hpp"
#include "common/config/value.hpp"
#include "common/diag/nearest.hpp"

#include <gtest/gtest.h>

#include <functional>

namespace coppice::config {
namespace {

UserErrorParts error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const UserError& error) {
        return error.parts();
    }
    throw std::runtime_error("no UserError");
}

TEST(Config, a_value_remembers_where_it_stands) {
    const Value root = parse_toml("a = 1\n[link]\n  bandwidth = 'x'\n", "file.toml");
    const Value& bandwidth = root.table().at("link").table().at("bandwidth");
    EXPECT_EQ(bandwidth.where.file, "file.toml");
    EXPECT_EQ(bandwidth.where.line, 3);
    EXPECT_EQ(bandwidth.where.column, 15);
}

TEST(Config, text_that_is_not_toml_gets_line_and_column) {
    const UserErrorParts parts = error_of([] { parse_toml("a = 1\nb = = 2\n", "bad.toml"); });
    EXPECT_EQ(parts.where.line, 2);
    EXPECT_GT(parts.where.column, 0);
    EXPECT_EQ(parts.where.file, "bad.toml");
}

TEST(Config, dates_are_refused) {
    EXPECT_EQ(error_of([] { parse_toml("a = 2026-01-01\n", "f"); }).found, "a date or time");
}

TEST(Config, merging_keeps_each_values_own_place) {
    Value base = parse_toml("[link]\nbandwidth = '1 GB/s'\nlatency = '1 us'\nsegments = [1, 2]\n", "base.toml");
    merge(base, parse_toml("[link]\nbandwidth = '2 GB/s'\nsegments = [3]\n", "over.toml"));
    const Table& link = base.table().at("link").table();
    EXPECT_EQ(std::get<std::string>(link.at("bandwidth").data), "2 GB/s");
    EXPECT_EQ(link.at("bandwidth").where.file, "over.toml");
    EXPECT_EQ(link.at("latency").where.file, "base.toml");
    EXPECT_EQ(link.at("segments").array().size(), 1u) << "arrays are replaced whole";
}

TEST(Set, takes_a_literal_or_else_a_string) {
    Value root = parse_toml("", "f");
    apply(root, parse_setting("a.integer=3"));
    apply(root, parse_setting("a.real = 2.5"));
    apply(root, parse_setting("a.flag=true"));
    apply(root, parse_setting("a.list=[1, 2]"));
    apply(root, parse_setting("a.quoted='7'"));
    apply(root, parse_setting("a.text=10 Gbps"));
    apply(root, parse_setting("a.equals=x=y"));
    const Table& a = root.table().at("a").table();
    EXPECT_EQ(std::get<std::int64_t>(a.at("integer").data), 3);
    EXPECT_EQ(std::get<double>(a.at("real").data), 2.5);
    EXPECT_EQ(std::get<bool>(a.at("flag").data), true);
    EXPECT_EQ(a.at("list").array().size(), 2u);
    EXPECT_EQ(std::get<std::string>(a.at("quoted").data), "7");
    EXPECT_EQ(std::get<std::string>(a.at("text").data), "10 Gbps");
    EXPECT_EQ(std::get<std::string>(a.at("equals").data), "x=y");
    EXPECT_EQ(a.at("text").where.file, "--set");
}

TEST(Set, reaches_into_arrays_that_exist) {
    Value root = parse_toml("[[layer]]\nout = 1\n[[layer]]\nout = 2\n", "f");
    apply(root, parse_setting("layer[1].out = 9"));
    EXPECT_EQ(std::get<std::int64_t>(root.table().at("layer").array()[1].table().at("out").data), 9);
    EXPECT_EQ(error_of([&] { apply(root, parse_setting("layer[2].out = 9")); }).expected, "an index below 2");
    EXPECT_EQ(error_of([&] { apply(root, parse_setting("layer[0].out.deep = 9")); }).key, "layer[0].out");
}

TEST(Set, malformed_assignments_are_refused) {
    Value root = parse_toml("a = 1\n", "f");
    for (const char* text : {"a", "=1", ".a=1", "a.=1", "a..b=1", "a[=1", "a[]=1", "a[x]=1", "a b=1", "a[0]b=1",
                             "[0]=1", "a[99999999999]=1"})
        EXPECT_EQ(error_of([&] { apply(root, parse_setting(text)); }).where.file, "--set") << text;
}

TEST(Set, a_second_line_in_the_value_does_not_set_a_second_key) {
    Value root = parse_toml("", "f");
    apply(root, parse_setting("a=1\nb=2"));
    EXPECT_EQ(std::get<std::string>(root.table().at("a").data), "1\nb=2");
    EXPECT_FALSE(root.table().contains("b"));
}

TEST(Config, written_as_toml_reads_back_the_same) {
    Value root =
        parse_toml("s = 'it is \"quoted\"'\ni = -3\nr = 0.1\nb = false\n[t]\nlist = [[1], ['x']]\n[[u]]\nk = 1\n", "f");
    EXPECT_EQ(to_toml(parse_toml(to_toml(root), "g")), to_toml(root));
}

TEST(TableReader, an_unknown_key_is_named_with_the_nearest_known_one) {
    const Value root = parse_toml("[link]\nbandwith = '1 GB/s'\n", "f.toml");
    TableReader link(root.table().at("link"), "link");
    link.quantity_or("bandwidth", 1, Dimension::BytesPerSecond, Sign::Positive);
    link.quantity_or("latency", 1, Dimension::Seconds, Sign::Positive);
    const UserErrorParts parts = error_of([&] { link.finish(); });
    EXPECT_EQ(parts.key, "link.bandwith");
    EXPECT_EQ(parts.where.line, 2);
    EXPECT_EQ(parts.hint, "did you mean 'bandwidth'?");
}

TEST(TableReader, a_missing_key_points_at_its_misspelling) {
    const Value root = parse_toml("[link]\nbandwith = '1 GB/s'\n", "f.toml");
    TableReader link(root.table().at("link"), "link");
    const UserErrorParts parts =
        error_of([&] { link.quantity("bandwidth", Dimension::BytesPerSecond, Sign::Positive); });
    EXPECT_EQ(parts.key, "link.bandwidth");
    EXPECT_EQ(parts.found, "nothing");
    EXPECT_NE(parts.hint.find("'bandwith'"), std::string::npos);
}

TEST(TableReader, wrong_types_and_ranges_are_refused) {
    const Value root =
        parse_toml("i = 5\nr = 1.5\ns = 'x'\nb = true\na = [1, 'x']\nneg = '-1 s'\nzero = '0 s'\nbare = 3\n", "f");
    TableReader reader(root, "");
    EXPECT_EQ(error_of([&] { reader.integer("i", 6, 9); }).expected, "an integer from 6 to 9");
    EXPECT_EQ(error_of([&] { reader.integer("r", 0, 9); }).found, "the number 1.5");
    EXPECT_EQ(error_of([&] { reader.number("s", 0, 9); }).found, "'x'");
    EXPECT_EQ(error_of([&] { reader.number("i", 0, 4); }).expected, "a number from 0 to 4");
    EXPECT_EQ(error_of([&] { reader.text("b"); }).expected, "a string");
    EXPECT_EQ(error_of([&] { reader.boolean_or("i", true); }).expected, "true or false");
    EXPECT_EQ(error_of([&] { reader.integers("a", 0, 9); }).found, "'x'");
    EXPECT_EQ(error_of([&] { reader.texts("a"); }).found, "the number 1");
    EXPECT_EQ(error_of([&] { reader.table("i"); }).expected, "a table");
    EXPECT_EQ(error_of([&] { reader.tables("i"); }).expected, "an array of tables");
    EXPECT_EQ(error_of([&] { reader.quantity("neg", Dimension::Seconds, Sign::NonNegative); }).expected,
              "a duration of zero or more");
    EXPECT_EQ(error_of([&] { reader.quantity("zero", Dimension::Seconds, Sign::Positive); }).expected,
              "a duration above zero");
    EXPECT_NE(error_of([&] { reader.quantity("bare", Dimension::Seconds, Sign::Any); }).hint.find("a unit is needed"),
              std::string::npos);
    EXPECT_EQ(error_of([&] { reader.choice("s", {"y", "xx"}); }).expected, "one of 'y', 'xx'");
}

TEST(Load, files_that_cannot_be_read_are_user_errors) {
    EXPECT_EQ(error_of([] { load_toml("/nonexistent/x.toml"); }).found, "no such file");
    EXPECT_EQ(error_of([] { load_toml("/"); }).found, "a directory");
}

TEST(Load, near_names_in_the_folder_are_offered) {
    const std::string folder = std::string(COPPICE_SOURCE_DIR) + "/scenarios/clusters/";
    EXPECT_EQ(error_of([&] { load_toml(folder + "titann.toml"); }).hint, "did you mean 'titan.toml'?");
}

TEST(Nearest, finds_typos_swaps_case_and_prefixes) {
    const std::vector<std::string> names{"ring", "tree", "ps", "recursive-doubling"};
    EXPECT_EQ(nearest_names("rnig", names), std::vector<std::string>{"ring"});
    EXPECT_EQ(nearest_names("TREE", names), std::vector<std::string>{"tree"});
    EXPECT_EQ(nearest_names("recursive", names), std::vector<std::string>{"recursive-doubling"});
    EXPECT_TRUE(nearest_names("banana", names).empty());
    EXPECT_EQ(did_you_mean("banana", names), "known: ring, tree, ps, recursive-doubling");
    EXPECT_EQ(did_you_mean("x", {}), "none is known");
}

}  // namespace
}  // namespace coppice::config
