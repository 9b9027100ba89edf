#include "common/scenario/gpu_list.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

using List = std::vector<std::int64_t>;

List parse(std::string_view text) {
    return parse_gpu_list(text, {"--gpus", 0, 0}, "gpus");
}

TEST(GpuList, a_range_doubles_unless_told_otherwise) {
    EXPECT_EQ(parse("1..128"), (List{1, 2, 4, 8, 16, 32, 64, 128}));
    EXPECT_EQ(parse("3..30"), (List{3, 6, 12, 24}));
    EXPECT_EQ(parse("1..81:*3"), (List{1, 3, 9, 27, 81}));
    EXPECT_EQ(parse("1..5:+1"), (List{1, 2, 3, 4, 5}));
    EXPECT_EQ(parse("10..35:+10"), (List{10, 20, 30}));
    EXPECT_EQ(parse("1..100"), (List{1, 2, 4, 8, 16, 32, 64})) << "ends at the last member within the range";
}

TEST(GpuList, lists_are_sorted_and_without_repetitions) {
    EXPECT_EQ(parse("7, 3,1 ,3, 1..4"), (List{1, 2, 3, 4, 7}));
    EXPECT_EQ(parse("1024"), (List{1024}));
}

TEST(GpuList, everything_else_is_refused) {
    for (const char* text : {"",        ",",
                             "1,",      "0",
                             "-1",      "1025",
                             "x",       "1.5",
                             "4..2",    "1..",
                             "..4",     "1..8:",
                             "1..8:2",  "1..8:*1",
                             "1..8:+0", "1..8:*-2",
                             "1..8:+x", "1...8",
                             "1..8:/2", "99999999999999999999",
                             "1..2000", "1..8:*9999999999"})
        EXPECT_THROW(parse(text), UserError) << "'" << text << "'";
}

TEST(GpuList, is_echoed) {
    EXPECT_EQ(describe_gpu_list({1, 2, 4}), "1, 2, 4");
    EXPECT_EQ(describe_gpu_list(parse("1..128:+1")), "1, 2, 3, ..., 128 (128 counts)");
}

}  // namespace
}  // namespace coppice
