// A schedule as MSCCL's XML. Each lane becomes several thread blocks, since one has a single peer each way: one for
// each peer that the lane sends to, one for each it receives from, one for its copies and sums. What orders them is
// depid and deps: an operation waits for the one before it on its lane, where that is in another block, and for what
// its lane waits.
//
//     lane 0   send to 1 ── send to 2 ── wait(lane 1) ── send to 1
//
//     tb 0 (send=1)   s 0 ──────────────────▶ nop ▶ s 2      s 2 waits for s 1 of tb 1, and for the last of lane 1
//     tb 1 (send=2)        └─▶ s 1 ────────────────┘
//
// So that an import has the same order, and the same time, as what was exported.
#include "common/msccl/msccl_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <map>
#include <set>
#include <tuple>

namespace coppice {

namespace {

// A step, by block and number.
struct StepAt {
    std::uint32_t block = 0;
    std::uint32_t step = 0;
    friend auto operator<=>(const StepAt&, const StepAt&) = default;
};

// What must be over; of each block only its latest step counts.
using After = std::map<std::uint32_t, std::uint32_t>;

void add(After& after, const After& more) {
    for (const auto& [block, step] : more) {
        const auto [found, added] = after.try_emplace(block, step);
        if (!added) found->second = std::max(found->second, step);
    }
}

struct Step {
    std::string_view type;
    std::string source, target;  // srcbuf and srcoff, dstbuf and dstoff: complete attributes
    std::uint32_t count = 0;
    std::optional<StepAt> after;
};

struct Block {
    Rank send = -1;
    Rank recv = -1;
    std::uint16_t channel = 0;
    std::vector<Step> steps;
    After waited;  // for what its steps so far have waited
};

using Route = std::tuple<Rank, Rank, std::uint16_t>;  // from, to, channel

class Exporter {
public:
    Exporter(const Schedule& schedule, const SourceLocation& where) : schedule_(schedule), where_(where) {
        check_frame();
        std::uint32_t scratch = 0;
        for (std::uint16_t buffer = 0; buffer < schedule.buffers.size(); ++buffer) {
            first_.push_back(buffer == schedule.result_buffer ? 0 : scratch);
            if (buffer != schedule.result_buffer) scratch += schedule.slots(buffer);
        }
        scratch_ = scratch;
    }

    std::string run() {
        for (Rank rank = 0; rank < schedule_.ranks; ++rank) note_messages(rank);
        std::string gpus;
        for (Rank rank = 0; rank < schedule_.ranks; ++rank) gpus += gpu_text(rank);
        return fmt::format(
            "<!-- {}, by coppice -->\n"
            "<algo name=\"{}\" proto=\"Simple\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" "
            "coll=\"allreduce\" redop=\"sum\" inplace=\"1\" outofplace=\"0\" minBytes=\"0\" "
            "maxBytes=\"1099511627776\">\n{}</algo>\n",
            comment_text(schedule_.strategy), attribute_text(schedule_.strategy), channels_,
            schedule_.tensors[0].chunks, schedule_.ranks, gpus);
    }

private:
    [[noreturn]] void fail(std::string found, std::string why) const {
        throw UserError({where_, "", std::move(found), "a schedule that MSCCL's XML has words for", std::move(why)});
    }

    void check_frame() const {
        if (schedule_.servers() > 0)
            fail(fmt::format("{} dedicated servers", schedule_.servers()),
                 "all GPUs of an MSCCL all-reduce contribute");
        if (schedule_.postcondition != Postcondition::AllReduce)
            fail("an asynchronous server", "MSCCL has all-reduces, after which all GPUs have the same");
        if (schedule_.tensors.size() != 1) fail(fmt::format("{} tensors", schedule_.tensors.size()), "MSCCL has one");
        for (std::uint16_t buffer = 0; buffer < schedule_.buffers.size(); ++buffer) {
            const BufferSpec& spec = schedule_.buffers[buffer];
            const bool result = buffer == schedule_.result_buffer;
            if (result && (spec.init != BufferInit::Contribution || spec.copies != 1))
                fail(fmt::format("a result in '{}', which the contributions are not in", spec.name),
                     "it must be in place, in one copy");
            if (!result && spec.init != BufferInit::Undefined)
                fail(fmt::format("the buffer '{}', which is filled beforehand", spec.name),
                     "MSCCL's scratch has no contents at the beginning");
        }
    }

    static std::string attribute_text(std::string_view text) {
        std::string escaped;
        for (const char c : text) {
            if (c == '"')
                escaped += "&quot;";
            else if (c == '&')
                escaped += "&amp;";
            else if (c == '<')
                escaped += "&lt;";
            else
                escaped += c;
        }
        return escaped;
    }

    // Two hyphens would end it.
    static std::string comment_text(std::string text) {
        for (std::size_t at = text.find("--"); at != std::string::npos; at = text.find("--")) text.erase(at, 1);
        return text;
    }

    std::string place(std::string_view end, const Slice& slice, std::uint32_t slot = 0) const {
        const bool result = slice.buffer == schedule_.result_buffer;
        return fmt::format("{0}buf=\"{1}\" {0}off=\"{2}\"", end, result ? 'i' : 's',
                           first_[slice.buffer] + slice.first + slot);
    }

    // --- messages: each end says where the other one has it ---

    void note_messages(Rank rank) {
        for_each_op(schedule_, rank, [&](std::uint32_t lane, const Op& op) {
            const bool receives = op.kind == OpKind::Recv || op.kind == OpKind::RecvReduce;
            if (op.kind != OpKind::Send && !receives) return;
            check_message(rank, lane, op);
            channels_ = std::max<std::uint32_t>(channels_, op.channel + 1u);
            if (receives)
                received_[{op.peer, rank, op.channel}].push_back(op.slice);
            else
                sent_[{rank, op.peer, op.channel}].push_back(op.slice);
        });
    }

    void check_message(Rank rank, std::uint32_t lane, const Op& op) const {
        const std::string which = fmt::format("a {} of rank {}, lane {},", op_kind_name(op.kind), rank, lane);
        if (op.peer < 0) fail(which + " with whichever rank comes first", "MSCCL's thread blocks have peers by name");
        if (op.commutative)
            fail(which + " of sums in any order", "MSCCL's steps on one place must be ordered: ps(sum=ordered) is");
        if (op.slice.count == 0) fail(which + " without content", "MSCCL has no empty messages");
    }

    // The other end's slice of the next message of this route.
    static const Slice& next(const std::map<Route, std::vector<Slice>>& ends, std::map<Route, std::size_t>& passed,
                             const Route& route) {
        return ends.at(route).at(passed[route]++);
    }

    // --- one gpu ---

    struct Lane {
        After end;  // what must be over before its next operation
        std::map<std::pair<bool, Rank>, std::vector<std::uint32_t>> blocks;  // (sends, peer) -> of each channel
        std::optional<std::uint32_t> local;
    };

    struct Gpu {
        std::vector<Block> blocks;
        std::map<std::uint32_t, Lane> lanes;
        std::map<Route, std::size_t> passed;
    };

    static std::uint32_t block_for(Gpu& gpu, Lane& lane, bool sends, Rank peer, std::uint16_t channel) {
        std::vector<std::uint32_t>& known = lane.blocks[{sends, peer}];
        for (const std::uint32_t id : known)
            if (gpu.blocks[id].channel == channel) return id;
        const auto id = static_cast<std::uint32_t>(gpu.blocks.size());
        gpu.blocks.push_back(
            {.send = sends ? peer : -1, .recv = sends ? -1 : peer, .channel = channel, .steps = {}, .waited = {}});
        known.push_back(id);
        return id;
    }

    static std::uint32_t local_block(Gpu& gpu, Lane& lane) {
        if (!lane.local) {
            lane.local = static_cast<std::uint32_t>(gpu.blocks.size());
            gpu.blocks.emplace_back();
        }
        return *lane.local;
    }

    // Behind all that the lane has done and waited for. A step waits for one other; for more there are nops before it.
    static void append(Gpu& gpu, Lane& lane, std::uint32_t id, Step step) {
        Block& block = gpu.blocks[id];
        std::vector<StepAt> missing;
        for (const auto& [other, last] : lane.end) {
            if (other == id) continue;
            const auto known = block.waited.find(other);
            if (known == block.waited.end() || known->second < last) missing.push_back({other, last});
        }
        for (const StepAt& at : missing) {
            if (&at != &missing.back())
                block.steps.push_back({"nop", "srcbuf=\"i\" srcoff=\"-1\"", "dstbuf=\"o\" dstoff=\"-1\"", 0, at});
            else
                step.after = at;
        }
        add(block.waited, lane.end);
        block.steps.push_back(std::move(step));
        // The rest is behind this one.
        lane.end = {{id, static_cast<std::uint32_t>(block.steps.size() - 1)}};
    }

    void wait(Gpu& gpu, Lane& lane, const Op& op) const {
        if (op.wait_lane != kAllLanes) return add(lane.end, After(gpu.lanes[op.wait_lane].end));
        After all;
        for (const auto& [number, other] : gpu.lanes) add(all, other.end);
        add(lane.end, all);
    }

    void convert(Gpu& gpu, Rank rank, std::uint32_t number, const Op& op) const {
        Lane& lane = gpu.lanes[number];
        const std::uint32_t count = op.slice.count;
        switch (op.kind) {
            case OpKind::Send: {
                const Slice& there = next(received_, gpu.passed, {rank, op.peer, op.channel});
                return append(gpu, lane, block_for(gpu, lane, true, op.peer, op.channel),
                              {"s", place("src", op.slice), place("dst", there), count, {}});
            }
            case OpKind::Recv: {
                const Slice& there = next(sent_, gpu.passed, {op.peer, rank, op.channel});
                return append(gpu, lane, block_for(gpu, lane, false, op.peer, op.channel),
                              {"r", place("src", there), place("dst", op.slice), count, {}});
            }
            case OpKind::RecvReduce:
                next(sent_, gpu.passed, {op.peer, rank, op.channel});
                return append(gpu, lane, block_for(gpu, lane, false, op.peer, op.channel),
                              {"rrc", place("src", op.slice), place("dst", op.slice), count, {}});
            case OpKind::Reduce:
                for (std::uint32_t input = 0; count > 0 && input < op.inputs; ++input)
                    append(gpu, lane, local_block(gpu, lane),
                           {"re", place("src", op.source, input * count), place("dst", op.slice), count, {}});
                return;
            case OpKind::Copy:
                if (count > 0)
                    append(gpu, lane, local_block(gpu, lane),
                           {"cpy", place("src", op.source), place("dst", op.slice), count, {}});
                return;
            case OpKind::Wait:
                return wait(gpu, lane, op);
            case OpKind::Compute:
            case OpKind::Update:
                fail(fmt::format("a {} of rank {}", op_kind_name(op.kind), rank), "MSCCL only communicates");
        }
    }

    std::string gpu_text(Rank rank) const {
        Gpu gpu;
        for_each_op(schedule_, rank, [&](std::uint32_t lane, const Op& op) { convert(gpu, rank, lane, op); });
        std::set<StepAt> awaited;
        for (const Block& block : gpu.blocks)
            for (const Step& step : block.steps)
                if (step.after) awaited.insert(*step.after);
        std::string text = fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"0\" s_chunks=\"{}\">\n", rank,
                                       schedule_.tensors[0].chunks, scratch_);
        for (std::uint32_t id = 0; id < gpu.blocks.size(); ++id) text += block_text(id, gpu.blocks[id], awaited);
        return text + "  </gpu>\n";
    }

    static std::string block_text(std::uint32_t id, const Block& block, const std::set<StepAt>& awaited) {
        std::string text = fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", id, block.send,
                                       block.recv, block.channel);
        for (std::uint32_t s = 0; s < block.steps.size(); ++s) {
            const Step& step = block.steps[s];
            text += fmt::format(
                "      <step s=\"{}\" type=\"{}\" {} {} cnt=\"{}\" depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n", s,
                step.type, step.source, step.target, step.count,
                step.after ? static_cast<std::int64_t>(step.after->block) : -1,
                step.after ? static_cast<std::int64_t>(step.after->step) : -1, awaited.contains({id, s}) ? 1 : 0);
        }
        return text + "    </tb>\n";
    }

    const Schedule& schedule_;
    const SourceLocation& where_;
    std::vector<std::uint32_t> first_;  // of each buffer in MSCCL's
    std::uint32_t scratch_ = 0;
    std::uint32_t channels_ = 1;
    std::map<Route, std::vector<Slice>> sent_, received_;
};

}  // namespace

std::string export_msccl(const Schedule& schedule, const SourceLocation& where) {
    return Exporter(schedule, where).run();
}

}  // namespace coppice
