// main() of the tests that run under mpirun. Ranks other than 0 print only what fails.
#include "tests/runtime/mpi_support.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <exception>
#include <optional>

namespace coppice::testing {

namespace {

std::optional<Communicator> the_world;

class OnlyFailures : public ::testing::EmptyTestEventListener {
    void OnTestPartResult(const ::testing::TestPartResult& result) override {
        if (!result.failed()) return;
        std::fprintf(stderr, "rank %d: %s:%d: %s\n", world().rank(), result.file_name() ? result.file_name() : "?",
                     result.line_number(), result.message());
    }
};

}  // namespace

const Communicator& world() {
    return *the_world;
}

}  // namespace coppice::testing

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    ::testing::InitGoogleTest(&argc, argv);
    GTEST_FLAG_SET(catch_exceptions, false);  // a rank that goes on alone would hang the others
    coppice::testing::the_world.emplace(MPI_COMM_WORLD);
    if (coppice::testing::world().rank() != 0) {
        auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
        delete listeners.Release(listeners.default_result_printer());
        listeners.Append(new coppice::testing::OnlyFailures);
    }
    int failed = 1;
    try {
        failed = RUN_ALL_TESTS();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "rank %d: %s\n", coppice::testing::world().rank(), error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    coppice::testing::the_world.reset();
    MPI_Finalize();
    return failed;
}
