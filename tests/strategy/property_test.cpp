// Properties over random cases: strategies are right for any number of workers and elements, and the verifier is never
// fooled (whatever it proves, real numbers confirm).
#include "tests/support/fake_port.hpp"
#include "tests/support/mutation.hpp"
#include "tests/support/strategy_cases.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace coppice {
namespace {

using testing::Lists;

StrategyChoice any_strategy() {
    return *rc::gen::elementOf(testing::strategy_variants()).as("strategy");
}

// Every worker ends with the sum of all, in exact numbers; 8 bytes an element.
bool sums_come_out(const Schedule& schedule, std::uint64_t elements) {
    const Binding binding{{{elements, 8}}, {}};
    testing::FakeWorld world(schedule, binding);
    if (!world.run()) return false;
    for (Rank rank = 0; rank < schedule.workers; ++rank)
        for (std::uint64_t e = 0; e < elements; ++e)
            if (world.data(rank, 0)[e] != testing::expected_sum(schedule.workers, e)) return false;
    return true;
}

RC_GTEST_PROP(Strategies, are_proved_for_any_number_of_workers, ()) {
    const StrategyChoice choice = any_strategy();
    testing::expect_proved(choice, *rc::gen::inRange(1, 300).as("workers"));
    RC_ASSERT(!::testing::Test::HasFailure());
}

RC_GTEST_PROP(Strategies, sum_real_numbers_of_any_count, ()) {
    const StrategyChoice choice = any_strategy();
    const std::int32_t workers = *rc::gen::inRange(1, 40).as("workers");
    RC_PRE(!testing::refused(choice, workers));
    const Schedule schedule = testing::schedule_of(choice, workers);
    RC_ASSERT(sums_come_out(schedule, *rc::gen::inRange<std::uint64_t>(0, 200).as("elements")));
}

// --- random damage: what the verifier accepts must still be an all-reduce ---

void damage(Lists& lists, const Schedule& schedule) {
    auto& list = lists[*rc::gen::inRange<std::size_t>(0, lists.size())];
    const auto here = list.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(list.size()));
    const auto there = list.begin() + *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(list.size()));
    switch (*rc::gen::inRange(0, 8)) {
        case 0:
            if (list.size() > 1) list.erase(here);
            break;
        case 1:
            std::swap(*here, *there);
            break;
        case 2:
            std::swap(here->op, there->op);
            break;
        case 3:
            list.insert(here, RoundOps::Item(*there));
            break;
        case 4:
            here->lane = *rc::gen::inRange(0u, 3u);
            break;
        case 5:
            here->op.slice.first = *rc::gen::inRange(0u, schedule.slots(0));
            break;
        case 6:
            here->op.peer = *rc::gen::inRange(-2, schedule.ranks);
            break;
        case 7:
            here->op.kind = *rc::gen::element(OpKind::Send, OpKind::Recv, OpKind::RecvReduce);
            break;
    }
}

RC_GTEST_PROP(Verifier, is_not_fooled_by_random_damage, ()) {
    const StrategyChoice choice = any_strategy();
    const std::int32_t workers = *rc::gen::inRange(2, 7).as("workers");
    RC_PRE(!testing::refused(choice, workers));
    const Schedule schedule = testing::schedule_of(choice, workers);
    Lists lists = testing::lists_of(schedule);
    const int wounds = *rc::gen::inRange(1, 4);
    for (int i = 0; i < wounds; ++i) damage(lists, schedule);
    const Schedule damaged = testing::with_lists(schedule, lists);
    const Verdict verdict = verify(damaged);
    RC_CLASSIFY(verdict.ok());
    if (verdict.ok()) RC_ASSERT(sums_come_out(damaged, 23));
}

}  // namespace
}  // namespace coppice
