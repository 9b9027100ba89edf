// From MscclAlgo to a proved Schedule: lowering.cpp says what happens in which order, trace.cpp which chunk it happens
// to; here slots get their places in coppice's buffers.
#include "common/msccl/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace coppice {

namespace {

using msccl::ChunkTable;
using msccl::LoweredGpu;
using msccl::RawOp;

// Buffers of the schedule. `scratch` is MSCCL's scratch and the landings.
struct Buffers {
    std::uint16_t data = 0;
    std::uint16_t output = 0;
    std::uint16_t scratch = 0;
};

// Where slots of scratch are in coppice's buffer, whose copies are whole tensors. Slot s holding chunk c becomes slot c
// of a copy; which one depends on s - c, so that slots that follow one another still do. Uses that have no chunk in
// common share a copy.
class Places {
public:
    explicit Places(std::uint32_t chunks) : chunks_(chunks) {}

    void use(std::uint32_t slot, std::uint32_t chunk, std::uint32_t count) {
        std::vector<bool>& used = used_[distance(slot, chunk)];
        used.resize(chunks_);
        for (std::uint32_t i = 0; i < count; ++i) used[chunk + i] = true;
    }

    void assign() {
        std::vector<std::vector<bool>> taken;
        for (const auto& [key, used] : used_) {
            const auto free = [&](const std::vector<bool>& copy) {
                for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk)
                    if (used[chunk] && copy[chunk]) return false;
                return true;
            };
            auto copy = std::find_if(taken.begin(), taken.end(), free);
            if (copy == taken.end()) copy = taken.insert(taken.end(), std::vector<bool>(chunks_));
            for (std::uint32_t chunk = 0; chunk < chunks_; ++chunk)
                if (used[chunk]) (*copy)[chunk] = true;
            copy_[key] = static_cast<std::uint32_t>(copy - taken.begin());
        }
        copies_ = static_cast<std::uint32_t>(taken.size());
    }

    std::uint32_t copies() const { return copies_; }
    std::uint32_t slot(std::uint32_t slot, std::uint32_t chunk) const {
        return copy_.at(distance(slot, chunk)) * chunks_ + chunk;
    }

private:
    static std::int64_t distance(std::uint32_t slot, std::uint32_t chunk) {
        return std::int64_t{slot} - std::int64_t{chunk};
    }

    std::uint32_t chunks_;
    std::uint32_t copies_ = 0;
    std::map<std::int64_t, std::vector<bool>> used_;
    std::map<std::int64_t, std::uint32_t> copy_;
};

bool has_source(OpKind kind) {
    return kind == OpKind::Reduce || kind == OpKind::Copy;
}

Places places_of(const LoweredGpu& gpu, const std::vector<std::vector<std::uint32_t>>& chunks) {
    Places places(gpu.memory.chunks);
    const auto use = [&](const Slice& slice, std::uint32_t chunk) {
        if (!gpu.memory.in_tensor(slice.first)) places.use(slice.first, chunk, slice.count);
    };
    for (const RawOp& raw : gpu.ops) {
        if (raw.op.kind == OpKind::Wait) continue;
        use(raw.op.slice, chunks[raw.block][raw.step]);
        if (has_source(raw.op.kind)) use(raw.op.source, chunks[raw.block][raw.step]);
    }
    places.assign();
    return places;
}

void place(LoweredGpu& gpu, const Places& places, const std::vector<std::vector<std::uint32_t>>& chunks,
           const Buffers& buffers) {
    const auto moved = [&](const Slice& slice, std::uint32_t chunk) -> Slice {
        if (slice.first < gpu.memory.chunks) return {buffers.data, slice.first, slice.count};
        if (gpu.memory.in_tensor(slice.first)) return {buffers.output, slice.first - gpu.memory.chunks, slice.count};
        return {buffers.scratch, places.slot(slice.first, chunk), slice.count};
    };
    for (RawOp& raw : gpu.ops) {
        if (raw.op.kind == OpKind::Wait) continue;
        raw.op.slice = moved(raw.op.slice, chunks[raw.block][raw.step]);
        if (has_source(raw.op.kind)) raw.op.source = moved(raw.op.source, chunks[raw.block][raw.step]);
    }
}

void emit(const RawOp& raw, RoundOps& ops) {
    const Op& op = raw.op;
    switch (op.kind) {
        case OpKind::Send:
            return ops.send(raw.lane, op.peer, op.slice, op.channel);
        case OpKind::Recv:
            return ops.recv(raw.lane, op.peer, op.slice, op.channel);
        case OpKind::RecvReduce:
            return ops.recv_reduce(raw.lane, op.peer, op.slice, op.channel);
        case OpKind::Reduce:
            return ops.reduce(raw.lane, op.slice, op.source, op.inputs);
        case OpKind::Copy:
            return ops.copy(raw.lane, op.slice, op.source);
        case OpKind::Wait:
            return ops.wait(raw.lane, op.wait_lane);
        case OpKind::Compute:
        case OpKind::Update:
            break;
    }
    COPPICE_CHECK(false, "an imported {}", op_kind_name(op.kind));
}

// The step that the flaw's operation was made of; nullptr: none (the copy at the end).
const MscclStep* step_of(const MscclAlgo& algo, const std::vector<LoweredGpu>& gpus, const Flaw& flaw) {
    if (flaw.rank < 0) return nullptr;
    std::uint32_t index = 0;
    for (const RawOp& raw : gpus[static_cast<std::size_t>(flaw.rank)].ops)
        if (raw.lane == flaw.lane && index++ == flaw.index)
            return &algo.gpus[static_cast<std::size_t>(flaw.rank)].blocks[raw.block].steps[raw.step];
    return nullptr;
}

[[noreturn]] void fail_proof(const MscclAlgo& algo, const std::vector<LoweredGpu>& gpus, const Flaw& flaw) {
    const MscclStep* step = step_of(algo, gpus, flaw);
    // The trace has seen all messages arrive where sends do not wait.
    const bool stuck = flaw.message.find(": deadlock: ") != std::string::npos;
    throw UserError({{algo.file, step ? step->line : 0, step ? step->column : 0},
                     "",
                     flaw.message,
                     stuck ? "steps that end even if each send waits for its receive"
                           : "an all-reduce: every gpu ends with every gpu's contribution once",
                     stuck ? "the file relies on MSCCL's buffers, where a send ends before it is received; coppice's "
                             "messages are rendezvous"
                           : ""});
}

}  // namespace

ImportedSchedule import_msccl(const MscclAlgo& algo, const std::string& strategy) {
    auto gpus = std::make_shared<std::vector<LoweredGpu>>();
    for (std::size_t gpu = 0; gpu < algo.gpus.size(); ++gpu) gpus->push_back(msccl::lower_gpu(algo, gpu));
    const ChunkTable chunks = msccl::trace_chunks(algo);

    Schedule schedule;
    schedule.strategy = strategy;
    schedule.workers = schedule.ranks = static_cast<std::int32_t>(algo.gpus.size());
    schedule.tensors = {{"data", algo.chunks}};
    schedule.buffers = {{"data", 0, 1, BufferInit::Contribution}};
    Buffers buffers;
    if (!algo.in_place) {
        buffers.output = static_cast<std::uint16_t>(schedule.buffers.size());
        schedule.buffers.push_back({"output", 0, 1, BufferInit::Undefined});
    }
    buffers.scratch = static_cast<std::uint16_t>(schedule.buffers.size());
    std::uint32_t copies = 0;
    for (std::size_t gpu = 0; gpu < gpus->size(); ++gpu) {
        const Places places = places_of((*gpus)[gpu], chunks[gpu]);
        copies = std::max(copies, places.copies());
        place((*gpus)[gpu], places, chunks[gpu], buffers);
    }
    if (copies > 0) schedule.buffers.push_back({"scratch", 0, copies, BufferInit::Undefined});

    const std::shared_ptr<const std::vector<LoweredGpu>> done = gpus;
    schedule.phases.push_back({.name = algo.name, .rounds = 1, .rule = [done](Rank rank, std::uint32_t, RoundOps& ops) {
                                   for (const RawOp& raw : (*done)[static_cast<std::size_t>(rank)].ops) emit(raw, ops);
                               }});
    // Gradients are summed where they are; who calls MSCCL out of place would have this copy too.
    if (!algo.in_place)
        schedule.phases.push_back(
            {.name = "copy back",
             .rounds = 1,
             .rule = [done, buffers, count = algo.chunks](Rank rank, std::uint32_t, RoundOps& ops) {
                 const std::uint32_t lane = (*done)[static_cast<std::size_t>(rank)].lanes;
                 ops.wait_all(lane);
                 ops.copy(lane, {buffers.data, 0, count}, {buffers.output, 0, count});
             }});

    ImportedSchedule imported{std::move(schedule), {}};
    imported.verdict = verify(imported.schedule);
    if (!imported.verdict.ok()) fail_proof(algo, *done, *imported.verdict.flaw);
    return imported;
}

}  // namespace coppice
