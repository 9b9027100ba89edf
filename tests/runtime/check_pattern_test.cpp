#include "runtime/check_pattern.hpp"

#include "runtime/rank_buffers.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

constexpr std::uint64_t kElements = 5000;

// Sums in memory what workers would exchange, leaving out or repeating one of them.
Memory sum_of(ElementType type, const std::vector<std::int32_t>& workers) {
    Memory sum = allocate(kElements * element_bytes(type), "sum");
    Memory one = allocate(kElements * element_bytes(type), "one");
    write_contribution(type, workers[0], sum.get(), kElements);
    for (std::size_t i = 1; i < workers.size(); ++i) {
        write_contribution(type, workers[i], one.get(), kElements);
        add_elements(type, sum.get(), one.get(), kElements);
    }
    return sum;
}

TEST(CheckPattern, accepts_the_sum_of_every_type) {
    for (const ElementType type : kElementTypes)
        EXPECT_EQ(compare_with_sum(type, 5, sum_of(type, {3, 0, 4, 1, 2}).get(), kElements).count, 0u);
}

TEST(CheckPattern, sees_what_is_missing_or_added_twice) {
    for (const ElementType type : kElementTypes) {
        EXPECT_EQ(compare_with_sum(type, 3, sum_of(type, {0, 1}).get(), kElements).count, kElements);
        EXPECT_EQ(compare_with_sum(type, 3, sum_of(type, {0, 1, 1}).get(), kElements).count, kElements);
    }
}

TEST(CheckPattern, sees_one_wrong_element_and_says_where) {
    const Memory sum = sum_of(ElementType::Float32, {0, 1, 2});
    reinterpret_cast<float*>(sum.get())[1234] += 1;
    const WrongElements wrong = compare_with_sum(ElementType::Float32, 3, sum.get(), kElements);
    EXPECT_EQ(wrong.count, 1u);
    EXPECT_EQ(wrong.first, 1234u);
    EXPECT_EQ(wrong.found, wrong.expected + 1);
}

// Chunks that change places are seen for every distance: neighbouring values differ.
TEST(CheckPattern, sees_elements_in_the_wrong_place) {
    for (std::uint64_t distance = 1; distance < 3000; ++distance) {
        bool differs = false;
        for (std::uint64_t i = 0; i < 20 && !differs; ++i)
            differs = contribution_of(0, i) != contribution_of(0, i + distance);
        ASSERT_TRUE(differs) << distance;
    }
}

TEST(CheckPattern, float32_holds_the_greatest_sum_exactly) {
    std::int64_t greatest = 0;
    for (std::uint64_t i = 0; i < kElements; ++i) greatest = std::max(greatest, exact_sum(kMostCheckedWorkers, i));
    EXPECT_LT(greatest, std::int64_t{1} << 24);
}

}  // namespace
}  // namespace coppice
