// The MPI executor on as many ranks as mpirun has started: right sums, the same bits everywhere, and the messages that
// the schedule has, no others.
#include "runtime/mpi_executor.hpp"

#include "common/diag/error.hpp"
#include "common/schedule/verifier.hpp"
#include "runtime/check_pattern.hpp"
#include "tests/runtime/mpi_support.hpp"
#include "tests/support/fake_port.hpp"
#include "tests/support/schedules.hpp"
#include "tests/support/strategy_cases.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>
#include <vector>

namespace coppice {
namespace {

using testing::patient_options;
using testing::world;

Binding binding_of(const Schedule& schedule, std::uint64_t elements, ElementType type) {
    Binding binding;
    binding.tensors.assign(schedule.tensors.size(), {elements, element_bytes(type)});
    return binding;
}

// All schedules that the strategies have for just these ranks.
std::vector<Schedule> schedules_of_all_strategies() {
    std::vector<Schedule> schedules;
    for (const StrategyChoice& choice : testing::strategy_variants()) {
        for (std::int32_t workers = world().size(); workers >= 1; --workers) {
            if (choice.strategy->refuses(testing::case_of(choice, workers))) continue;
            Schedule schedule = testing::schedule_of(choice, workers);
            if (schedule.ranks == world().size()) {
                schedules.push_back(std::move(schedule));
                break;
            }
        }
    }
    return schedules;
}

// What this rank has sent is what the tests' own executor says it should send, whom it should.
void expect_same_traffic(const Schedule& schedule, const Binding& binding, const MpiPort& port) {
    testing::FakeWorld fake(schedule, binding, {}, false);
    ASSERT_TRUE(fake.run());
    std::map<Rank, PairTraffic> expected;
    for (const auto& [pair, traffic] : fake.traffic())
        if (pair.first == world().rank()) expected[pair.second] = {traffic.messages, traffic.bytes};
    EXPECT_EQ(port.sent(), expected);
}

void expect_all_reduced(const Schedule& schedule, std::uint64_t elements, ElementType type, const MpiOptions& options) {
    SCOPED_TRACE(fmt::format("{}, {} elements of {}, segments of {}, messages of {}", schedule.strategy, elements,
                             element_type_name(type), options.segment_bytes, options.largest_message_bytes));
    const Binding binding = binding_of(schedule, elements, type);
    MpiExecutor executor(world(), schedule, binding, type, options);
    for (int repetition = 0; repetition < 2; ++repetition) {
        executor.prepare();
        const bool worker = world().rank() < schedule.workers;
        std::byte* data = executor.buffers().data(schedule.result_buffer);
        if (worker) write_contribution(type, world().rank(), data, elements);
        executor.run();
        if (worker) {
            const WrongElements wrong = compare_with_sum(type, schedule.workers, data, elements);
            EXPECT_EQ(wrong.count, 0u) << "element " << wrong.first << " is " << wrong.found << ", not "
                                       << wrong.expected;
        }
        if (repetition == 0) expect_same_traffic(schedule, binding, executor.port());
    }
}

MpiOptions cut_into(std::uint64_t segment_bytes, std::uint32_t in_flight) {
    MpiOptions options = patient_options();
    options.segment_bytes = segment_bytes;
    options.segments_in_flight = in_flight;
    return options;
}

TEST(MpiExecutor, sums_by_every_strategy_for_lengths_that_do_not_divide) {
    for (const Schedule& schedule : schedules_of_all_strategies())
        for (const std::uint64_t elements : {0, 1, 2, 7, 1000, 4099})
            expect_all_reduced(schedule, elements, ElementType::Float32, patient_options());
}

TEST(MpiExecutor, sums_every_type) {
    for (const Schedule& schedule : schedules_of_all_strategies())
        for (const ElementType type : kElementTypes) expect_all_reduced(schedule, 1001, type, patient_options());
}

TEST(MpiExecutor, sums_in_segments_smaller_than_a_chunk) {
    for (const Schedule& schedule : schedules_of_all_strategies()) {
        expect_all_reduced(schedule, 1003, ElementType::Float64, cut_into(64, 1));
        expect_all_reduced(schedule, 1003, ElementType::Int32, cut_into(20, 3));
        expect_all_reduced(schedule, 257, ElementType::Int64, cut_into(1, 100));              // an element a segment
        expect_all_reduced(schedule, 300'000, ElementType::Float32, cut_into(64 * 1024, 4));  // rendezvous messages
    }
}

TEST(MpiExecutor, splits_what_is_too_long_for_one_message) {
    MpiOptions options = patient_options();
    options.segment_bytes = 0;
    options.largest_message_bytes = 64;
    for (const Schedule& schedule : schedules_of_all_strategies()) {
        expect_all_reduced(schedule, 1003, ElementType::Float32, options);
        const Binding binding = binding_of(schedule, 1003, ElementType::Float32);
        MpiExecutor executor(world(), schedule, binding, ElementType::Float32, options);
        executor.prepare();
        if (std::byte* data = executor.buffers().data(schedule.result_buffer))
            write_contribution(ElementType::Float32, world().rank(), data, 1003);
        executor.run();
        std::uint64_t pieces = 0;
        for_each_op(schedule, world().rank(), [&](std::uint32_t, const Op& op) {
            if (op.kind == OpKind::Send) pieces += (slice_elements(schedule, binding, op.slice) + 15) / 16;
        });
        EXPECT_EQ(executor.port().segments_sent(), pieces) << schedule.strategy;
    }
}

// Real numbers, whose sum depends on its order: still the same bits everywhere, and right within the bound for any
// order, (n-1) eps sum|x|.
TEST(MpiExecutor, leaves_the_same_bits_on_all_workers) {
    constexpr std::uint64_t kElements = 1021;
    const auto number = [](std::int32_t worker, std::uint64_t i) {
        return static_cast<float>(std::sin(static_cast<double>(worker + 1) * (static_cast<double>(i) + 0.5)));
    };
    for (const Schedule& schedule : schedules_of_all_strategies()) {
        SCOPED_TRACE(schedule.strategy);
        const Binding binding = binding_of(schedule, kElements, ElementType::Float32);
        MpiExecutor executor(world(), schedule, binding, ElementType::Float32, cut_into(100, 4));
        executor.prepare();
        auto* values = reinterpret_cast<float*>(executor.buffers().data(schedule.result_buffer));
        const bool worker = world().rank() < schedule.workers;
        for (std::uint64_t i = 0; worker && i < kElements; ++i) values[i] = number(world().rank(), i);
        executor.run();
        std::vector<float> first(kElements);
        if (world().rank() == 0) first.assign(values, values + kElements);
        MPI_Bcast(first.data(), kElements, MPI_FLOAT, 0, world().get());
        if (!worker) continue;
        EXPECT_EQ(std::memcmp(first.data(), values, kElements * sizeof(float)), 0);
        for (std::uint64_t i = 0; i < kElements; ++i) {
            double sum = 0;
            double magnitude = 0;
            for (std::int32_t w = 0; w < schedule.workers; ++w) {
                sum += static_cast<double>(number(w, i));
                magnitude += std::abs(static_cast<double>(number(w, i)));
            }
            ASSERT_NEAR(values[i], sum, (schedule.workers - 1) * 6e-8 * magnitude + 1e-12) << "element " << i;
        }
    }
}

// A parameter server that adds what comes and answers its sender with the sum so far.
Schedule async_server(std::int32_t workers, bool first_by_name) {
    const Slice all{0, 0, 1};
    Schedule schedule = testing::one_phase(workers, 1, static_cast<std::uint32_t>(workers),
                                           [=](Rank rank, std::uint32_t round, RoundOps& ops) {
                                               if (rank == workers) {
                                                   const bool named = first_by_name && round == 0;
                                                   ops.recv_reduce(0, named ? workers - 1 : kAnyRank, all);
                                                   ops.send(0, named ? workers - 1 : kMatchedRank, all);
                                               } else if (round == 0) {
                                                   ops.send(0, workers, all);
                                                   ops.recv(0, workers, all);
                                               }
                                           });
    schedule.strategy = "asynchronous server";
    schedule.ranks = workers + 1;
    schedule.postcondition = Postcondition::AsyncServer;
    return schedule;
}

void expect_served(const Schedule& schedule, std::uint64_t elements, const MpiOptions& options) {
    ASSERT_TRUE(verify(schedule).ok());
    const Binding binding = binding_of(schedule, elements, ElementType::Int64);
    MpiExecutor executor(world(), schedule, binding, ElementType::Int64, options);
    executor.prepare();
    std::byte* bytes = executor.buffers().data(0);
    const std::int32_t workers = schedule.workers;
    if (world().rank() < workers) write_contribution(ElementType::Int64, world().rank(), bytes, elements);
    executor.run();
    expect_same_traffic(schedule, binding, executor.port());
    if (world().rank() == workers) {
        EXPECT_EQ(compare_with_sum(ElementType::Int64, workers, bytes, elements).count, 0u);
        return;
    }
    // A worker has the sum over some of them, itself among them, and over the same ones in every element: with n of
    // them element i is parts + n b(i).
    const auto* data = reinterpret_cast<const std::int64_t*>(bytes);
    const auto b = [](std::uint64_t i) { return contribution_of(0, i) - 1; };
    bool explained = false;
    for (std::int64_t n = 1; n <= workers && !explained; ++n) {
        const std::int64_t parts = data[0] - n * b(0);
        explained = parts >= world().rank() + 1;
        for (std::uint64_t i = 0; i < elements && explained; ++i) explained = data[i] == parts + n * b(i);
    }
    EXPECT_TRUE(explained);
}

TEST(MpiExecutor, serves_whoever_comes) {
    const std::int32_t workers = world().size() - 1;
    if (workers == 0) GTEST_SKIP() << "needs a server and a worker";
    for (const bool first_by_name : {false, true}) {
        const Schedule schedule = async_server(workers, first_by_name);
        for (const MpiOptions& options : {patient_options(), cut_into(16, 2), cut_into(8, 64)}) {
            expect_served(schedule, 1, options);
            expect_served(schedule, 1001, options);
        }
    }
}

// Without neighbours: copy to a shadow, add the shadow twice, and work that lasts 30 ms beside it.
TEST(MpiExecutor, copies_reduces_and_works) {
    Schedule schedule = testing::one_phase(world().size(), 2, 1, [](Rank, std::uint32_t, RoundOps& ops) {
        ops.copy(0, {1, 0, 2}, {0, 0, 2});
        ops.copy(0, {1, 2, 2}, {0, 0, 2});
        ops.reduce(0, {0, 0, 2}, {1, 0, 4}, 2);
        ops.compute(1, 0);
        ops.update(2, 1);
    });
    schedule.buffers.push_back({"shadow", 0, 2, BufferInit::Undefined});
    schedule.buffers.push_back({"unused", 0, 1, BufferInit::Undefined});
    Binding binding = binding_of(schedule, 200'001, ElementType::Int64);
    binding.work_s = {0.02, 0.01};
    MpiExecutor executor(world(), schedule, binding, ElementType::Int64, patient_options());
    executor.prepare();
    std::byte* bytes = executor.buffers().data(0);
    write_contribution(ElementType::Int64, 0, bytes, 200'001);
    const auto begin = std::chrono::steady_clock::now();
    executor.run();
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(30)) << "one after another";
    const auto* data = reinterpret_cast<const std::int64_t*>(bytes);
    for (const std::uint64_t i : {0, 1, 100'000, 200'000}) EXPECT_EQ(data[i], 3 * contribution_of(0, i));
    EXPECT_EQ(executor.buffers().data(2), nullptr) << "nobody touches it, so it has no memory";
}

TEST(MpiExecutor, reports_a_standstill_with_its_operations) {
    if (world().size() < 2) GTEST_SKIP() << "needs somebody to wait for";
    const Communicator apart(world().get());  // the message that is waited for shall meet nothing else
    const Schedule schedule = testing::one_phase(world().size(), 1, 1, [](Rank rank, std::uint32_t, RoundOps& ops) {
        if (rank == 0) ops.recv(3, 1, {0, 0, 1}, 5);
        if (rank == 1) ops.send(0, 0, {0, 0, 1}, 5);
    });
    if (apart.rank() == 0) {  // rank 1 has fallen asleep
        MpiOptions options = patient_options();
        options.wait.timeout_s = 0.1;
        const Binding binding = binding_of(schedule, 10, ElementType::Float32);
        MpiExecutor executor(apart, schedule, binding, ElementType::Float32, options);
        executor.prepare();
        try {
            executor.run();
            ADD_FAILURE() << "ended without its message";
        } catch (const EnvironmentError& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find("cannot complete test on rank 0 of "), std::string::npos) << text;
            EXPECT_NE(text.find("rank 0 lane 3 op 0 (recv from 1 into data[0..1)"), std::string::npos) << text;
        }
    }
    apart.barrier("the end of the test", patient_options().wait);
}

}  // namespace
}  // namespace coppice
