#include "common/schedule/binding.hpp"

#include "tests/support/schedules.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

TEST(ChunkRange, first_chunks_are_longer_and_all_join_up) {
    // 17 = 5 * 3 + 2: two chunks of 4, three of 3.
    EXPECT_EQ(chunk_range(17, 5, 0).count, 4u);
    EXPECT_EQ(chunk_range(17, 5, 1).count, 4u);
    EXPECT_EQ(chunk_range(17, 5, 2).count, 3u);
    for (const std::uint64_t elements : {0u, 1u, 4u, 5u, 17u, 1000u, 1000003u}) {
        for (const std::uint32_t chunks : {1u, 2u, 5u, 16u, 1024u}) {
            std::uint64_t next = 0;
            for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
                const ElementRange range = chunk_range(elements, chunks, chunk);
                ASSERT_EQ(range.first, next);
                ASSERT_LE(range.count, elements / chunks + 1);
                next += range.count;
            }
            ASSERT_EQ(next, elements);
        }
    }
}

TEST(SliceBytes, runs_over_several_copies) {
    // Two copies of 17 elements in 5 chunks: slots of 4 4 3 3 3 | 4 4 3 3 3 elements.
    Schedule schedule = testing::one_phase(1, 5, 0, [](Rank, std::uint32_t, RoundOps&) {});
    schedule.buffers = {{"image", 0, 2, BufferInit::Zero}};
    const Binding binding = testing::bind(17, 4);
    EXPECT_EQ(slice_elements(schedule, binding, {0, 0, 10}), 34u);
    EXPECT_EQ(slice_elements(schedule, binding, {0, 0, 1}), 4u);
    EXPECT_EQ(slice_elements(schedule, binding, {0, 4, 1}), 3u);
    EXPECT_EQ(slice_elements(schedule, binding, {0, 4, 3}), 3u + 4u + 4u);
    EXPECT_EQ(slice_elements(schedule, binding, {0, 5, 5}), 17u);
    EXPECT_EQ(slice_elements(schedule, binding, {0, 10, 0}), 0u);
    EXPECT_EQ(slice_bytes(schedule, binding, {0, 4, 3}), 4u * 11u);
}

TEST(SliceBytes, of_more_chunks_than_elements_has_empty_chunks) {
    const Schedule schedule = testing::one_phase(1, 8, 0, [](Rank, std::uint32_t, RoundOps&) {});
    const Binding binding = testing::bind(3, 2);
    EXPECT_EQ(slice_bytes(schedule, binding, {0, 2, 1}), 2u);
    EXPECT_EQ(slice_bytes(schedule, binding, {0, 3, 5}), 0u);
}

TEST(SliceBytesDeathTest, refuses_a_slice_outside_its_buffer) {
    const Schedule schedule = testing::one_phase(1, 8, 0, [](Rank, std::uint32_t, RoundOps&) {});
    const Binding binding = testing::bind(3, 2);
    EXPECT_DEATH(slice_bytes(schedule, binding, {0, 7, 2}), "slots 7..9 of 8");
}

}  // namespace
}  // namespace coppice
