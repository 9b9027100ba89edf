// Ranks that differ find out before anything starts; one that fails takes the others with it, in order.
#include "runtime/agreement.hpp"

#include "common/diag/error.hpp"
#include "tests/runtime/mpi_support.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

using testing::patient_options;
using testing::world;

TEST(Agreement, equal_facts_pass) {
    EXPECT_NO_THROW(require_same(world(), patient_options().wait, {{"version", "1"}, {"scenario", "abc"}}));
}

TEST(Agreement, a_rank_with_another_schedule_is_named_to_all) {
    if (world().size() < 2) GTEST_SKIP() << "needs two ranks to differ";
    const bool other = world().rank() == world().size() - 1;
    try {
        require_same(world(), patient_options().wait,
                     {{"version", "1"}, {"schedule of ring", other ? "bbbb" : "aaaa"}, {"x", "y"}});
        FAIL() << "they differ";
    } catch (const AgreedFailure& failure) {
        EXPECT_EQ(failure.exit_code(), 2);
        EXPECT_EQ(std::string(failure.what()),
                  fmt::format("rank {}: schedule of ring is bbbb here, but rank 0 has schedule of ring aaaa: all ranks "
                              "need the same coppice-run, files and arguments",
                              world().size() - 1));
    }
}

TEST(Agreement, the_lowest_rank_that_fails_speaks_for_all) {
    try {
        together(world(), patient_options().wait, [] {
            if (world().rank() == world().size() - 1) throw EnvironmentError("read x", "No such file");
        });
        FAIL() << "one has failed";
    } catch (const AgreedFailure& failure) {
        EXPECT_EQ(failure.exit_code(), 3);
        EXPECT_NE(std::string(failure.what()).find("No such file"), std::string::npos);
    }
}

}  // namespace
}  // namespace coppice
