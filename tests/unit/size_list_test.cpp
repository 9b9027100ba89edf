#include "common/units/size_list.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

using List = std::vector<std::uint64_t>;

List parse(std::string_view text) {
    return parse_size_list(text, {"--bytes", 0, 0});
}

TEST(SizeList, a_range_doubles_unless_told_otherwise) {
    EXPECT_EQ(parse("64 KiB..256 KiB"), (List{65536, 131072, 262144}));
    EXPECT_EQ(parse("1 kB..5 kB"), (List{1000, 2000, 4000}));
    EXPECT_EQ(parse("1 kB..1 MB:*10"), (List{1000, 10000, 100000, 1000000}));
    EXPECT_EQ(parse("1000 TB..1 PiB:*1000000"), (List{1000000000000000})) << "10^15 times 10^6 is more than 2^64";
}

TEST(SizeList, lists_are_sorted_and_without_repetitions) {
    EXPECT_EQ(parse("8 B, 0 B,4 B..16 B"), (List{0, 4, 8, 16}));
}

TEST(SizeList, everything_else_is_refused) {
    for (const char* text : {"", ",", "1", "1 MB,", "1 MB..", "2 MB..1 MB", "0 B..1 MB", "1 MB..2 MB:+1",
                             "1 MB..2 MB:*1", "1 MB..2 MB:", "1 Mb/s", "0.5 B", "-1 B", "9999999 PB", "1 MB..2 MB:*2x"})
        EXPECT_THROW(parse(text), UserError) << text;
}

TEST(SizeList, what_is_no_whole_number_of_elements_is_refused_with_the_nearest_that_are) {
    const Element& element = *find_element("fp64");
    EXPECT_NO_THROW(require_whole_elements({0, 8, 8000}, element, {"--bytes", 0, 0}));
    try {
        require_whole_elements({8, 1001}, element, {"--bytes", 0, 0});
        FAIL();
    } catch (const UserError& error) {
        EXPECT_EQ(error.parts().found, "1001 bytes");
        EXPECT_EQ(error.parts().hint, "1000 or 1008");
    }
}

}  // namespace
}  // namespace coppice
