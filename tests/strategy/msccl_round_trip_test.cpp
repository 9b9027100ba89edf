// Every strategy's schedule goes out as MSCCL's XML and comes back the same, or is refused with a reason.
#include "common/msccl/msccl_xml.hpp"
#include "common/result/atomic_file.hpp"
#include "tests/support/msccl.hpp"
#include "tests/support/strategy_cases.hpp"

#include <gtest/gtest.h>

#include <filesystem>

namespace coppice {
namespace {

using namespace coppice::testing;

std::string exported(const Schedule& schedule) {
    return export_msccl(schedule, {"test"});
}

// Why it is not exported; empty: it is.
std::string export_refusal(const Schedule& schedule) {
    try {
        exported(schedule);
    } catch (const UserError& error) {
        return error.what();
    }
    return "";
}

void expect_same_traffic(const Schedule& schedule, const ImportedSchedule& back) {
    const Verdict verdict = verify(schedule);
    ASSERT_TRUE(verdict.ok()) << verdict.flaw->message;
    EXPECT_EQ(back.schedule.workers, schedule.workers);
    EXPECT_EQ(back.schedule.tensors[0].chunks, schedule.tensors[0].chunks);
    EXPECT_EQ(back.verdict.traffic.messages, verdict.traffic.messages);
    EXPECT_EQ(back.verdict.traffic.sent_by_rank, verdict.traffic.sent_by_rank);
    EXPECT_EQ(back.verdict.traffic.received_by_rank, verdict.traffic.received_by_rank);
    EXPECT_EQ(back.verdict.traffic.chunks_summed, verdict.traffic.chunks_summed);
    EXPECT_EQ(back.verdict.critical_messages, verdict.critical_messages);
}

TEST(MscclRoundTrip, every_schedule_comes_back_the_same_or_is_refused) {
    std::size_t returned = 0;
    for (const StrategyChoice& choice : strategy_variants()) {
        for (const std::int32_t p : {1, 2, 3, 4, 5, 7, 8, 12, 16}) {
            if (refused(choice, p)) continue;
            SCOPED_TRACE(choice.canonical() + " p=" + std::to_string(p));
            const Schedule schedule = schedule_of(choice, p);
            const std::string refusal = export_refusal(schedule);
            if (!refusal.empty()) {
                const bool reason = refusal.find("dedicated servers") != std::string::npos ||
                                    refusal.find("sums in any order") != std::string::npos ||
                                    refusal.find("filled beforehand") != std::string::npos;
                EXPECT_TRUE(reason) << refusal;
                continue;
            }
            ++returned;
            const std::string text = exported(schedule);
            const ImportedSchedule back = import_text(text);
            expect_same_traffic(schedule, back);
            // And again: what came back goes out once more.
            expect_same_traffic(schedule, import_text(exported(back.schedule)));
        }
    }
    EXPECT_GT(returned, 100);
}

TEST(MscclRoundTrip, ring_and_trees_are_among_those_that_can_be_exported) {
    for (const char* name : {"ring", "tree", "tree(shape=chain,segments=4)", "double-tree", "halving-doubling",
                             "recursive-doubling", "ps(sum=ordered)"})
        for (const std::int32_t p : {2, 4, 8})
            EXPECT_EQ(export_refusal(schedule_of(strategy_named(name), p)), "") << name << " on " << p;
}

TEST(MscclRoundTrip, what_has_no_words_in_msccl_is_refused_with_a_reason) {
    const auto refusal = [](const char* name) { return export_refusal(schedule_of(strategy_named(name), 4)); };
    EXPECT_NE(refusal("ps(placement=dedicated)").find("dedicated servers"), std::string::npos);
    EXPECT_NE(refusal("ps").find("sums in any order"), std::string::npos);
}

// A ring of one thread block a gpu, where coppice has two lanes: as many messages, one behind the other.
TEST(MscclRoundTrip, a_fused_ring_goes_out_and_comes_back) {
    for (const int p : {3, 4, 8}) {
        const ImportedSchedule imported = import_text(fused_ring(p));
        expect_same_traffic(imported.schedule, import_text(exported(imported.schedule)));
    }
}

TEST(MscclStrategy, a_file_is_a_strategy_for_its_number_of_gpus) {
    const std::string file = ::testing::TempDir() + "coppice_msccl_ring4.xml";
    write_whole(file, exported(schedule_of(strategy_named("ring"), 4)));
    const StrategyChoice choice = strategy_named("msccl(file=" + file + ")");
    EXPECT_EQ(choice.canonical(), "msccl(file=" + file + ")");
    EXPECT_FALSE(is_open(choice));
    expect_proved(choice, 4);
    ASSERT_TRUE(refused(choice, 8));
    EXPECT_EQ(*choice.strategy->refuses(case_of(choice, 8)), "the file is for 4 GPUs");
    std::filesystem::remove(file);
    expect_proved(choice, 4);  // read once
}

TEST(MscclStrategy, a_file_must_be_named_and_be_there) {
    EXPECT_THROW(strategy_named("msccl"), UserError);
    EXPECT_THROW(strategy_named("msccl()"), UserError);
    EXPECT_THROW(strategy_named("msccl(file=)"), UserError);
    EXPECT_THROW(strategy_named("msccl(fil=x.xml)"), UserError);
    const StrategyChoice choice = strategy_named("msccl(file=/nowhere/to/be/found.xml)");
    EXPECT_THROW(choice.strategy->refuses(case_of(choice, 4)), UserError);
}

}  // namespace
}  // namespace coppice
