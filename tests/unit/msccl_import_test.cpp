// MSCCL's XML into schedules: what each step becomes, and what is refused, where and why.
#include "common/msccl/msccl_xml.hpp"
#include "tests/support/msccl.hpp"

#include <gtest/gtest.h>

namespace coppice {
namespace {

using namespace coppice::testing;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    return text.replace(at, what.size(), by);
}

// The import fails, saying all of `parts`.
void expect_refused(const std::string& text, const std::vector<std::string>& parts) {
    try {
        import_text(text);
        ADD_FAILURE() << "accepted: " << text;
    } catch (const UserError& error) {
        for (const std::string& part : parts)
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << "\nin: " << error.what();
    }
}

TEST(MscclImport, reads_what_a_file_says) {
    const MscclAlgo algo = parse_msccl(there_and_back(), "test.xml");
    EXPECT_EQ(algo.name, "test");
    EXPECT_EQ(algo.chunks, 1);
    EXPECT_TRUE(algo.in_place);
    ASSERT_EQ(algo.gpus.size(), 2);
    ASSERT_EQ(algo.gpus[0].blocks.size(), 1);
    ASSERT_EQ(algo.gpus[0].blocks[0].steps.size(), 2);
    EXPECT_EQ(algo.gpus[0].blocks[0].send, 1);
    EXPECT_EQ(algo.gpus[1].blocks[0].steps[0].type, MscclType::RecvReduceCopySend);
    EXPECT_EQ(algo.gpus[0].blocks[0].steps[1].line, 5);  // algo, gpu, tb, step, step
    EXPECT_EQ(algo.gpus[0].blocks[0].steps[1].column, 1);
}

// Two messages, one behind the other, and one sum.
TEST(MscclImport, a_sum_there_and_back_is_two_messages) {
    const ImportedSchedule imported = import_text(there_and_back());
    EXPECT_EQ(imported.schedule.strategy, "msccl(file=test.xml)");
    EXPECT_EQ(imported.schedule.ranks, 2);
    EXPECT_EQ(imported.verdict.traffic.messages, 2);
    EXPECT_EQ(imported.verdict.critical_messages, 2);
    EXPECT_EQ(imported.verdict.traffic.chunks_summed, 1);
}

// As the ring of coppice: 2(p-1) steps, p of them in each, p(p-1) sums.
TEST(MscclImport, a_ring_of_fused_steps_is_a_ring) {
    for (const int p : {3, 4, 5, 8}) {
        const ImportedSchedule imported = import_text(fused_ring(p));
        const auto n = static_cast<std::uint64_t>(p);
        EXPECT_EQ(imported.verdict.traffic.messages, 2 * n * (n - 1)) << p;
        EXPECT_EQ(imported.verdict.critical_messages, 2 * (n - 1)) << p;
        EXPECT_EQ(imported.verdict.traffic.chunks_summed, n * (n - 1)) << p;
    }
}

TEST(MscclImport, a_ring_out_of_place_is_a_ring_and_a_copy) {
    const ImportedSchedule imported = import_text(fused_ring(4, "o"));
    EXPECT_EQ(imported.schedule.phases.back().name, "copy back");
    EXPECT_EQ(imported.verdict.traffic.messages, 24);
    EXPECT_EQ(imported.verdict.critical_messages, 6);
}

// Everybody sends everybody all it has, into scratch, and sums there: one step, p(p-1) messages, (p-1) sums a gpu. The
// sums of tb 0 wait for tb 1 and tb 2 to have received; the first is a nop's wait, the second that of the first sum.
std::string all_pairs_of_three(int chunks) {
    std::vector<std::string> gpus;
    for (int rank = 0; rank < 3; ++rank) {
        std::vector<std::string> blocks{msccl_block(
            0, -1, -1,
            {msccl_step(0, "nop", "i", -1, "o", -1, 0, {1, 0}), msccl_step(1, "nop", "i", -1, "o", -1, 0, {1, 1}),
             msccl_step(2, "nop", "i", -1, "o", -1, 0, {2, 0}), msccl_step(3, "re", "s", 0, "i", 0, chunks, {2, 1}),
             msccl_step(4, "re", "s", chunks, "i", 0, chunks)})};
        for (int k = 1; k <= 2; ++k) {
            const int peer = (rank + k) % 3;
            blocks.push_back(msccl_block(k, peer, peer,
                                         {msccl_step(0, "s", "i", 0, "s", 0, chunks, {}, 1),
                                          msccl_step(1, "r", "i", 0, "s", (k - 1) * chunks, chunks, {}, 1)}));
        }
        gpus.push_back(msccl_gpu(rank, chunks, 0, 2 * chunks, blocks));
    }
    return msccl_algo(chunks, 1, gpus);
}

TEST(MscclImport, scratch_holds_what_came_from_each_peer) {
    for (const int chunks : {1, 4}) {
        const ImportedSchedule imported = import_text(all_pairs_of_three(chunks));
        EXPECT_EQ(imported.verdict.traffic.messages, 6);
        EXPECT_EQ(imported.verdict.critical_messages, 1);
        EXPECT_EQ(imported.verdict.traffic.chunks_summed, 6 * static_cast<std::uint64_t>(chunks));
        // Two messages for each chunk are there at once, so scratch is two tensors.
        EXPECT_EQ(imported.schedule.buffers.at(1).copies, 2);
    }
}

// Both send, then add what comes in to what they have sent. MSCCL has copied that to its buffers by then; here the
// message lands aside, and the sum waits for the send.
TEST(MscclImport, an_exchange_in_one_place_does_not_deadlock) {
    const auto gpu = [](int rank) {
        return msccl_gpu(rank, 1, 0, 0,
                         {msccl_block(0, 1 - rank, 1 - rank,
                                      {msccl_step(0, "s", "i", 0, "i", 0), msccl_step(1, "rrc", "i", 0, "i", 0)})});
    };
    const ImportedSchedule imported = import_text(msccl_algo(1, 1, {gpu(0), gpu(1)}));
    EXPECT_EQ(imported.verdict.critical_messages, 1);
    EXPECT_EQ(imported.verdict.traffic.chunks_summed, 2);
}

// Gpu 0 sums into its output, and hands that out; both end with the output copied to where the gradients are.
TEST(MscclImport, out_of_place_ends_with_a_copy) {
    const std::string text = msccl_algo(
        1, 0,
        {msccl_gpu(0, 1, 1, 0, {msccl_block(0, 1, 1, {msccl_step(0, "rrcs", "i", 0, "o", 0)})}),
         msccl_gpu(1, 1, 1, 0,
                   {msccl_block(0, 0, 0, {msccl_step(0, "s", "i", 0, "i", 0), msccl_step(1, "r", "o", 0, "o", 0)})})});
    const ImportedSchedule imported = import_text(text);
    ASSERT_EQ(imported.schedule.buffers.size(), 2);
    EXPECT_EQ(imported.schedule.buffers[1].name, "output");
    EXPECT_EQ(imported.schedule.phases.back().name, "copy back");
    EXPECT_EQ(imported.verdict.traffic.messages, 2);
    // In place input and output are one, and the same steps do.
    EXPECT_NO_THROW(import_text(replaced(text, "inplace=\"0\"", "inplace=\"1\"")));
}

TEST(MscclImport, one_gpu_has_nothing_to_do) {
    const ImportedSchedule imported = import_text(msccl_algo(1, 1, {msccl_gpu(0, 1, 0, 0, {})}));
    EXPECT_EQ(imported.verdict.traffic.messages, 0);
}

TEST(MscclImport, refuses_what_is_no_msccl) {
    expect_refused("", {"test.xml"});
    expect_refused("<algo", {"test.xml:1:", "XML of MSCCL"});
    expect_refused("<system/>", {"test.xml:1:1: found <system>, expected <algo"});
    expect_refused(there_and_back() + "<algo/>", {"a second element"});
    expect_refused(replaced(there_and_back(), "<gpu", "<node/>\n<gpu"), {"test.xml:2:1: found <node>, expected <gpu>"});
    expect_refused(replaced(there_and_back(), "</tb>", "text</tb>"), {"found text"});
}

TEST(MscclImport, refuses_other_collectives_and_operations) {
    expect_refused(replaced(there_and_back(), "allreduce", "allgather"),
                   {"test.xml:1:", "found coll=\"allgather\", expected coll=\"allreduce\""});
    expect_refused(replaced(there_and_back(), "coll=", "redop=\"max\" coll="),
                   {"found redop=\"max\", expected redop=\"sum\""});
    expect_refused(replaced(there_and_back(), "Simple", "LL256"), {"found proto=\"LL256\""});
    expect_refused(replaced(there_and_back(), "inplace=\"1\"", "inplace=\"0\" outofplace=\"0\""), {"outofplace=\"0\""});
    EXPECT_NO_THROW(
        import_text(replaced(there_and_back(), "coll=", "redop=\"sum\" minBytes=\"0\" maxBytes=\"1024\" coll=")));
}

TEST(MscclImport, refuses_unknown_and_missing_attributes) {
    expect_refused(replaced(there_and_back(), "hasdep=\"0\"", "hasdeps=\"0\""),
                   {"test.xml:4:", "found the attribute 'hasdeps'", "did you mean 'hasdep'?"});
    expect_refused(replaced(there_and_back(), " cnt=\"1\"", ""), {"test.xml:4:1: found <step> without cnt"});
    expect_refused(replaced(there_and_back(), "ngpus=\"2\"", "ngpus=\"3\""), {"found ngpus=\"3\"", "which is 2"});
    expect_refused(replaced(there_and_back(), "ngpus=\"2\"", "ngpus=\"2x\""),
                   {"found ngpus=\"2x\", expected an integer"});
    expect_refused(replaced(there_and_back(), "cnt=\"1\"", "cnt=\"1\" cnt=\"2\""), {"found 'cnt' twice"});
}

// Line 4 is gpu 0's send: the columns are those of the attributes in it.
TEST(MscclImport, an_error_has_the_place_of_its_attribute) {
    const std::string text = replaced(there_and_back(), "srcoff=\"0\"", "srcoff=\"1\"");
    const std::size_t column = msccl_step(0, "s", "i", 1, "i", 0).find("srcoff") + 1;
    expect_refused(text, {fmt::format("test.xml:4:{}: found srcoff=\"1\", expected 1 chunks inside of the 1", column)});
}

TEST(MscclImport, refuses_steps_that_cannot_be) {
    expect_refused(replaced(there_and_back(), "type=\"s\"", "type=\"put\""), {"found type=\"put\"", "rrcs"});
    expect_refused(replaced(there_and_back(), "s=\"1\" type=\"r\"", "s=\"2\" type=\"r\""),
                   {"found s=\"2\", expected 1"});
    expect_refused(replaced(there_and_back(), "srcbuf=\"i\"", "srcbuf=\"x\""), {"found srcbuf=\"x\""});
    expect_refused(replaced(there_and_back(), "send=\"1\"", "send=\"-1\""), {"nobody to send to"});
    expect_refused(replaced(there_and_back(), "recv=\"1\"", "recv=\"-1\""), {"nobody to receive from"});
    expect_refused(replaced(there_and_back(), "send=\"1\"", "send=\"0\""), {"another gpu than its own"});
    expect_refused(replaced(there_and_back(), "send=\"1\"", "send=\"2\""),
                   {"found send=\"2\", expected an integer from -1 to 1"});
    expect_refused(replaced(there_and_back(), "chan=\"0\"", "chan=\"1\""), {"found chan=\"1\""});
    expect_refused(replaced(there_and_back(), "<tb id=\"0\"", "<tb id=\"1\""), {"found id=\"1\", expected tb 0 first"});
    expect_refused(replaced(there_and_back(), "<gpu id=\"1\"", "<gpu id=\"0\""), {"each gpu once"});
}

TEST(MscclImport, refuses_dependencies_that_cannot_be) {
    const auto with = [](MscclWait wait, int hasdep) {
        return msccl_algo(1, 1,
                          {msccl_gpu(0, 1, 0, 1,
                                     {msccl_block(0, -1, -1, {msccl_step(0, "cpy", "i", 0, "s", 0, 1, {}, hasdep)}),
                                      msccl_block(1, -1, -1, {msccl_step(0, "nop", "i", 0, "i", 0, 0, wait)})})});
    };
    EXPECT_NO_THROW(import_text(with({0, 0}, 1)));
    expect_refused(with({2, 0}, 1), {"found depid=\"2\", expected the id of a tb of this gpu, 0 to 1"});
    expect_refused(with({0, 1}, 1), {"found deps=\"1\", expected one of the 1 steps of tb 0"});
    expect_refused(with({1, 0}, 1), {"an earlier step"});
    expect_refused(with({0, 0}, 0), {"test.xml:4:1: found hasdep=\"0\", expected hasdep=\"1\""});
}

TEST(MscclImport, refuses_two_blocks_on_one_connection) {
    const std::string send = msccl_step(0, "s", "i", 0, "i", 0);
    expect_refused(msccl_algo(1, 1,
                              {msccl_gpu(0, 1, 0, 0, {msccl_block(0, 1, -1, {send}), msccl_block(1, 1, -1, {send})}),
                               msccl_gpu(1, 1, 0, 0, {})}),
                   {"found tb 1, which sends to gpu 1 on channel 0 as tb 0 does"});
}

TEST(MscclImport, refuses_steps_that_wait_in_a_circle) {
    const auto waits_for = [](int other) { return msccl_step(0, "nop", "i", 0, "i", 0, 0, {other, 0}, 1); };
    expect_refused(
        msccl_algo(
            1, 1,
            {msccl_gpu(0, 1, 0, 0, {msccl_block(0, -1, -1, {waits_for(1)}), msccl_block(1, -1, -1, {waits_for(0)})})}),
        {"which waits in a circle"});
}

// Nothing orders tb 0's sum and tb 1's: both write input[0].
TEST(MscclImport, refuses_races) {
    const auto adds = [](int slot) { return msccl_step(0, "re", "s", slot, "i", 0); };
    expect_refused(
        msccl_algo(1, 1,
                   {msccl_gpu(0, 1, 0, 2, {msccl_block(0, -1, -1, {adds(0)}), msccl_block(1, -1, -1, {adds(1)})})}),
        {"test.xml:7:1: found a race on input[0] of gpu 0", "step 0 of tb 0 (re, line 4) writes it"});
}

TEST(MscclImport, refuses_messages_that_do_not_meet) {
    expect_refused(replaced(there_and_back(), "type=\"r\"", "type=\"nop\""),
                   {"found a message to gpu 0, expected a step of gpu 0 that receives it"});
    expect_refused(replaced(there_and_back(), "type=\"s\"", "type=\"nop\""),
                   {"which waits for ever, expected a message of gpu"});
    std::string two = there_and_back();
    for (int i = 0; i < 2; ++i) two = replaced(two, "i_chunks=\"1\"", "i_chunks=\"2\"");
    two = replaced(two, "nchunksperloop=\"1\"", "nchunksperloop=\"2\"");
    expect_refused(replaced(two, "cnt=\"1\"", "cnt=\"2\""),
                   {"found cnt=\"1\", expected 2, as gpu 0 sends here (line 4)"});
    // Chunk 1 into the place of chunk 0.
    expect_refused(replaced(two, "srcoff=\"0\"", "srcoff=\"1\""), {"rrcs of chunk 1 and, in input[0], chunk 0"});
}

TEST(MscclImport, refuses_what_reads_nothing) {
    expect_refused(
        msccl_algo(1, 1, {msccl_gpu(0, 1, 0, 1, {msccl_block(0, -1, -1, {msccl_step(0, "re", "s", 0, "i", 0)})})}),
        {"found re of scratch[0], expected something that was written before on gpu 0"});
}

// Gpu 1 keeps the sum to itself: the proof finds what is missing on gpu 0.
TEST(MscclImport, refuses_what_is_no_all_reduce) {
    const std::string text =
        msccl_algo(1, 1,
                   {msccl_gpu(0, 1, 0, 0, {msccl_block(0, 1, -1, {msccl_step(0, "s", "i", 0, "i", 0)})}),
                    msccl_gpu(1, 1, 0, 0, {msccl_block(0, -1, 0, {msccl_step(0, "rrc", "i", 0, "i", 0)})})});
    expect_refused(text, {"ends with 1 of 2 contributions", "expected an all-reduce"});
}

// Each sends in tb 0, and tb 1's receive waits for that: with buffers the sends end, as rendezvous they never do.
TEST(MscclImport, says_that_a_file_relies_on_buffers) {
    const auto gpu = [](int rank) {
        return msccl_gpu(
            rank, 1, 0, 1,
            {msccl_block(0, 1 - rank, -1, {msccl_step(0, "s", "i", 0, "s", 0, 1, {}, 1)}),
             msccl_block(1, -1, 1 - rank,
                         {msccl_step(0, "r", "i", 0, "s", 0, 1, {0, 0}), msccl_step(1, "re", "s", 0, "i", 0)})});
    };
    expect_refused(msccl_algo(1, 1, {gpu(0), gpu(1)}), {"test.xml:", "deadlock", "relies on MSCCL's buffers"});
}

}  // namespace
}  // namespace coppice
