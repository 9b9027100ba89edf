// A gpu's steps as operations on lanes. A thread block has up to two:
//
//     main   r, rrc, cpy, re, and the receiving half of rcs, rrs, rrcs
//     send   s, and the sending half; each send waits for what the block did before it
//
// so that a receive may be posted while an earlier send of its block still waits for its receiver, as MSCCL, which
// buffers what is sent, would have it. Only a write to slots that are on their way out waits for that send. A step is
// complete, for those that wait for it (depid, deps), when all is that its block did up to it.
#include "common/msccl/lowering.hpp"
#include "common/schedule/proof/lane_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace coppice::msccl {

std::uint32_t Memory::slot(const MscclPlace& place) const {
    if (place.buffer == 'i') return place.offset;
    if (place.buffer == 'o') return place.offset + (in_place ? 0 : chunks);
    return 2 * chunks + place.offset;
}

std::string Memory::in_words(std::uint32_t slot) const {
    if (slot < chunks) return fmt::format("input[{}]", slot);
    if (slot < 2 * chunks) return fmt::format("output[{}]", slot - chunks);
    if (slot < size()) return fmt::format("scratch[{}]", slot - 2 * chunks);
    return fmt::format("landing[{}]", slot - size());
}

Memory memory_of(const MscclAlgo& algo, std::size_t gpu) {
    return {algo.chunks, algo.gpus[gpu].scratch_chunks, algo.in_place};
}

void fail_at(const MscclAlgo& algo, const MscclStep& step, std::string found, std::string expected, std::string hint) {
    throw UserError({{algo.file, step.line, step.column}, "", std::move(found), std::move(expected), std::move(hint)});
}

namespace {

struct StepAt {
    std::size_t block = 0;
    std::size_t step = 0;
    friend auto operator<=>(const StepAt&, const StepAt&) = default;
};

// A wait names all that has been emitted before it, so each step should be emitted right behind the one that it waits
// for. Where that cannot be, the awaited step gets a lane of its own that marks its end ("event"), and so does a send
// that a later write must wait for when more has been sent.
struct Emission {
    std::vector<StepAt> order;
    std::set<StepAt> events;
};

class Sequencer {
public:
    Sequencer(const MscclAlgo& algo, const MscclGpu& gpu)
        : algo_(algo), gpu_(gpu), next_(gpu.blocks.size()), waiting_(gpu.blocks.size()) {}

    Emission run() {
        for (std::size_t block = gpu_.blocks.size(); block-- > 0;) ready_.push_back(block);
        while (!ready_.empty()) {
            const std::size_t block = ready_.back();
            ready_.pop_back();
            try_next(block);
        }
        for (std::size_t block = 0; block < gpu_.blocks.size(); ++block)
            if (next_[block] < gpu_.blocks[block].steps.size())
                fail_at(algo_, gpu_.blocks[block].steps[next_[block]],
                        fmt::format("step {} of tb {}, which waits in a circle", next_[block], block),
                        "steps of a gpu that can be brought into an order");
        return std::move(emission_);
    }

private:
    void try_next(std::size_t block) {
        const std::vector<MscclStep>& steps = gpu_.blocks[block].steps;
        if (next_[block] == steps.size()) return;
        const MscclStep& step = steps[next_[block]];
        if (step.wait_block >= 0 && static_cast<std::size_t>(step.wait_block) != block) {
            const StepAt awaited{static_cast<std::size_t>(step.wait_block), static_cast<std::size_t>(step.wait_step)};
            if (next_[awaited.block] <= awaited.step) {
                waiting_[awaited.block].push_back(block);
                return;
            }
            if (next_[awaited.block] > awaited.step + 1) emission_.events.insert(awaited);
        }
        const std::size_t emitted = next_[block]++;
        emission_.order.push_back({block, emitted});
        ready_.push_back(block);
        // Those that waited for just this step come first.
        std::vector<std::size_t> still;
        for (const std::size_t other : waiting_[block]) {
            const MscclStep& blocked = gpu_.blocks[other].steps[next_[other]];
            (static_cast<std::size_t>(blocked.wait_step) <= emitted ? ready_ : still).push_back(other);
        }
        waiting_[block] = std::move(still);
    }

    const MscclAlgo& algo_;
    const MscclGpu& gpu_;
    std::vector<std::size_t> next_;                  // by block
    std::vector<std::vector<std::size_t>> waiting_;  // by block: those that wait for one of its steps
    std::vector<std::size_t> ready_;
    Emission emission_;
};

bool overlap(const Slice& a, const Slice& b) {
    return a.first < b.first + b.count && b.first < a.first + a.count;
}

class Lowering {
public:
    Lowering(const MscclAlgo& algo, std::size_t number)
        : algo_(algo), gpu_(algo.gpus[number]), blocks_(gpu_.blocks.size()) {
        lowered_.memory = memory_of(algo, number);
        lowered_.slots = lowered_.memory.size();
    }

    // Sends whose ends must be marked, by block and number: known when all has been emitted once.
    using SendMarks = std::set<std::pair<std::size_t, std::uint32_t>>;
    const SendMarks& wanted_marks() const { return wanted_marks_; }

    LoweredGpu run(const SendMarks& marks) {
        marks_ = marks;
        const Emission emission = Sequencer(algo_, gpu_).run();
        assign_lanes();
        for (const StepAt& at : emission.order) {
            emit(at);
            if (emission.events.contains(at)) mark(at);
            for (const RoundOps::Item& item : ops_.items())
                lowered_.ops.push_back({item.lane, item.op, at.block, at.step});
            ops_.items().clear();
        }
        return std::move(lowered_);
    }

private:
    struct Lane {
        std::uint32_t number = 0;
        bool exists = false;
        std::uint32_t emitted = 0;
    };
    struct Sent {
        std::uint32_t number = 0;  // of the block's sends
        Slice slice;
    };
    struct Block {
        std::size_t id = 0;
        Lane main;
        Lane send;
        std::uint32_t main_seen_by_send = 0;  // so many operations of main are complete before the next send
        std::uint32_t sends = 0;
        std::vector<Sent> on_their_way;                // main has not waited for these
        std::map<std::uint32_t, std::uint32_t> marks;  // lanes that mark the end of a send, by its number
        std::uint32_t landing = 0;                     // first slot; 0: none
    };

    void assign_lanes() {
        for (std::size_t id = 0; id < blocks_.size(); ++id) {
            const std::vector<MscclStep>& steps = gpu_.blocks[id].steps;
            const auto any = [&](auto&& is) { return std::any_of(steps.begin(), steps.end(), is); };
            Block& block = blocks_[id];
            block.id = id;
            block.send.exists = any([](const MscclStep& step) { return msccl_sends(step.type); });
            block.main.exists = any([](const MscclStep& step) {
                                    return step.type != MscclType::Send && step.type != MscclType::Nop;
                                }) ||
                                (!block.send.exists && !steps.empty());
            for (Lane* lane : {&block.main, &block.send})
                if (lane->exists) lane->number = lowered_.lanes++;
        }
    }

    const MscclStep& step_at(const StepAt& at) const { return gpu_.blocks[at.block].steps[at.step]; }

    // --- waits ---

    void wait(Lane& lane, std::uint32_t for_lane) {
        ops_.wait(lane.number, for_lane);
        ++lane.emitted;
    }

    // Later steps of the block come behind it as well: those of main on its lane, sends since they wait for main.
    void wait_for_dependency(const StepAt& at) {
        const MscclStep& step = step_at(at);
        if (step.wait_block < 0 || static_cast<std::size_t>(step.wait_block) == at.block) return;
        Block& block = blocks_[at.block];
        Lane& lane = block.main.exists ? block.main : block.send;
        const StepAt awaited{static_cast<std::size_t>(step.wait_block), static_cast<std::size_t>(step.wait_step)};
        if (const auto event = events_.find(awaited); event != events_.end()) return wait(lane, event->second);
        for (const Lane* other : {&blocks_[awaited.block].main, &blocks_[awaited.block].send})
            if (other->emitted > 0) wait(lane, other->number);
    }

    void mark(const StepAt& at) {
        const std::uint32_t event = lowered_.lanes++;
        for (const Lane* lane : {&blocks_[at.block].main, &blocks_[at.block].send})
            if (lane->emitted > 0) ops_.wait(event, lane->number);
        events_[at] = event;
    }

    // The last send of these slots that main has not waited for.
    std::optional<std::uint32_t> on_its_way(const Block& block, const Slice& slice) const {
        const auto last = std::find_if(block.on_their_way.rbegin(), block.on_their_way.rend(),
                                       [&](const Sent& sent) { return overlap(sent.slice, slice); });
        if (last == block.on_their_way.rend()) return std::nullopt;
        return last->number;
    }

    // Before main writes there.
    void make_free(Block& block, const Slice& slice) {
        const auto number = on_its_way(block, slice);
        if (!number) return;
        if (*number + 1 < block.sends) wanted_marks_.insert({block.id, *number});
        const auto mark = block.marks.find(*number);
        wait(block.main, mark == block.marks.end() ? block.send.number : mark->second);
        std::erase_if(block.on_their_way, [&](const Sent& sent) { return sent.number <= *number; });
    }

    // --- operations ---

    Slice slice_of(const MscclPlace& place, std::uint32_t count) const {
        return {0, lowered_.memory.slot(place), count};
    }

    // One landing a block, as large as all the memory it may stand for.
    Slice landing_for(Block& block, const Slice& slice) {
        if (block.landing == 0) {
            block.landing = lowered_.slots;
            lowered_.slots += lowered_.memory.size();
        }
        return {0, block.landing + slice.first, slice.count};
    }

    void send(const StepAt& at, const Slice& slice) {
        Block& block = blocks_[at.block];
        if (block.main.emitted > block.main_seen_by_send) {
            wait(block.send, block.main.number);
            block.main_seen_by_send = block.main.emitted;
        }
        const MscclBlock& given = gpu_.blocks[at.block];
        ops_.send(block.send.number, given.send, slice, given.channel);
        ++block.send.emitted;
        const std::uint32_t number = block.sends++;
        block.on_their_way.push_back({number, slice});
        if (!marks_.contains({block.id, number})) return;
        ops_.wait(lowered_.lanes, block.send.number);
        block.marks[number] = lowered_.lanes++;
    }

    void receive(const StepAt& at, const Slice& slice) {
        Block& block = blocks_[at.block];
        make_free(block, slice);
        ops_.recv(block.main.number, gpu_.blocks[at.block].recv, slice, gpu_.blocks[at.block].channel);
        ++block.main.emitted;
    }

    void add(Block& block, const Slice& target, const Slice& source) {
        make_free(block, target);
        ops_.reduce(block.main.number, target, source, 1);
        ++block.main.emitted;
    }

    // rrc, rrcs
    void receive_sum(const StepAt& at, const Slice& source, const Slice& target) {
        Block& block = blocks_[at.block];
        if (source.first != target.first) {
            receive(at, target);
            return add(block, target, source);
        }
        // What is on its way out cannot be summed into, but what comes in can be taken already.
        if (on_its_way(block, target)) {
            const Slice landing = landing_for(block, target);
            receive(at, landing);
            return add(block, target, landing);
        }
        ops_.recv_reduce(block.main.number, gpu_.blocks[at.block].recv, target, gpu_.blocks[at.block].channel);
        ++block.main.emitted;
    }

    void check_apart(const MscclStep& step, const Slice& source, const Slice& target) const {
        const bool may_be_the_same = msccl_receives(step.type);
        if (!overlap(source, target) || (may_be_the_same && source.first == target.first)) return;
        fail_at(algo_, step,
                fmt::format("{} of {} chunks from {} to {}, which overlap", msccl_type_name(step.type), step.count,
                            lowered_.memory.in_words(source.first), lowered_.memory.in_words(target.first)),
                may_be_the_same ? "source and target that are the same or apart" : "source and target apart");
    }

    void emit(const StepAt& at) {
        const MscclStep& step = step_at(at);
        Block& block = blocks_[at.block];
        const Slice source = slice_of(step.source, step.count);
        const Slice target = slice_of(step.target, step.count);
        if (msccl_reads_source(step.type) && msccl_writes_target(step.type)) check_apart(step, source, target);
        wait_for_dependency(at);
        switch (step.type) {
            case MscclType::Send:
                return send(at, source);
            case MscclType::Recv:
                return receive(at, target);
            case MscclType::RecvReduceCopy:
                return receive_sum(at, source, target);
            case MscclType::RecvCopySend:
                receive(at, target);
                return send(at, target);
            case MscclType::RecvReduceSend: {
                const Slice landing = landing_for(block, source);
                receive(at, landing);
                add(block, landing, source);
                return send(at, landing);
            }
            case MscclType::RecvReduceCopySend:
                receive_sum(at, source, target);
                return send(at, target);
            case MscclType::Copy:
                make_free(block, target);
                ops_.copy(block.main.number, target, source);
                ++block.main.emitted;
                return;
            case MscclType::Reduce:
                return add(block, target, source);
            case MscclType::Nop:
                return;
        }
    }

    const MscclAlgo& algo_;
    const MscclGpu& gpu_;
    std::vector<Block> blocks_;
    std::map<StepAt, std::uint32_t> events_;  // their lanes
    SendMarks marks_;
    SendMarks wanted_marks_;
    RoundOps ops_;
    LoweredGpu lowered_;
};

std::string step_in_words(const MscclAlgo& algo, std::size_t gpu, const RawOp& op) {
    const MscclStep& step = algo.gpus[gpu].blocks[op.block].steps[op.step];
    return fmt::format("step {} of tb {} ({}, line {})", op.step, op.block, msccl_type_name(step.type), step.line);
}

// In raw slots: once they are known to be different chunks, uses of one slot of scratch no longer meet.
void check_races(const MscclAlgo& algo, std::size_t gpu, const LoweredGpu& lowered) {
    Schedule memory;
    memory.tensors = {{"memory", std::max(1u, lowered.slots)}};
    memory.buffers = {{"memory", 0, 1, BufferInit::Undefined}};
    proof::LaneOrder order(memory);
    order.begin_rank();
    std::vector<std::vector<const RawOp*>> lanes(lowered.lanes);
    for (const RawOp& op : lowered.ops) {
        const OpAt at{op.lane, static_cast<std::uint32_t>(lanes[op.lane].size())};
        lanes[op.lane].push_back(&op);
        const auto conflict = order.add(at, op.op);
        if (!conflict) continue;
        fail_at(algo, algo.gpus[gpu].blocks[op.block].steps[op.step],
                fmt::format("a race on {} of gpu {}: {} uses it, {} {} it, and nothing orders the two",
                            lowered.memory.in_words(conflict->slot.first), gpu, step_in_words(algo, gpu, op),
                            step_in_words(algo, gpu, *lanes[conflict->other.lane][conflict->other.index]),
                            conflict->other_does),
                "depid and deps, or steps of one tb");
    }
}

}  // namespace

LoweredGpu lower_gpu(const MscclAlgo& algo, std::size_t gpu) {
    Lowering first(algo, gpu);
    LoweredGpu lowered = first.run({});
    if (!first.wanted_marks().empty()) lowered = Lowering(algo, gpu).run(first.wanted_marks());
    check_races(algo, gpu, lowered);
    return lowered;
}

}  // namespace coppice::msccl
