#include "common/schedule/schedule.hpp"

#include "common/diag/error.hpp"
#include "common/diag/hash.hpp"

#include <algorithm>

namespace coppice {

std::string_view op_kind_name(OpKind kind) {
    switch (kind) {
        case OpKind::Send:
            return "send";
        case OpKind::Recv:
            return "recv";
        case OpKind::RecvReduce:
            return "recv_reduce";
        case OpKind::Reduce:
            return "reduce";
        case OpKind::Copy:
            return "copy";
        case OpKind::Compute:
            return "compute";
        case OpKind::Update:
            return "update";
        case OpKind::Wait:
            return "wait";
    }
    COPPICE_CHECK(false, "operation kind {}", static_cast<int>(kind));
}

void RoundOps::emit(std::uint32_t lane, const Op& op) {
    if (lane >= emitted_.size()) emitted_.resize(lane + 1);
    ++emitted_[lane];
    ++emitted_total_;
    items_.push_back({lane, op});
}

void RoundOps::send(std::uint32_t lane, Rank to, Slice slice, std::uint16_t channel) {
    emit(lane, {.kind = OpKind::Send, .channel = channel, .peer = to, .slice = slice});
}

void RoundOps::recv(std::uint32_t lane, Rank from, Slice slice, std::uint16_t channel) {
    emit(lane, {.kind = OpKind::Recv, .channel = channel, .peer = from, .slice = slice});
}

void RoundOps::recv_reduce(std::uint32_t lane, Rank from, Slice slice, std::uint16_t channel) {
    emit(lane, {.kind = OpKind::RecvReduce, .channel = channel, .peer = from, .slice = slice});
}

void RoundOps::recv_reduce_commutative(std::uint32_t lane, Rank from, Slice slice, std::uint16_t channel) {
    emit(lane, {.kind = OpKind::RecvReduce, .commutative = true, .channel = channel, .peer = from, .slice = slice});
}

void RoundOps::reduce(std::uint32_t lane, Slice target, Slice source, std::uint32_t inputs) {
    COPPICE_CHECK(source.count == inputs * target.count, "reduce of {} blocks of {} slots from {} slots", inputs,
                  target.count, source.count);
    emit(lane, {.kind = OpKind::Reduce, .slice = target, .source = source, .inputs = inputs});
}

void RoundOps::copy(std::uint32_t lane, Slice target, Slice source) {
    COPPICE_CHECK(source.count == target.count, "copy of {} slots to {} slots", source.count, target.count);
    emit(lane, {.kind = OpKind::Copy, .slice = target, .source = source});
}

void RoundOps::compute(std::uint32_t lane, std::uint32_t work) {
    emit(lane, {.kind = OpKind::Compute, .work = work});
}

void RoundOps::update(std::uint32_t lane, std::uint32_t work) {
    emit(lane, {.kind = OpKind::Update, .work = work});
}

void RoundOps::wait(std::uint32_t lane, std::uint32_t for_lane) {
    COPPICE_CHECK(for_lane != kAllLanes, "lane {}: wait for all lanes is wait_all", lane);
    const std::uint64_t count = for_lane < emitted_.size() ? emitted_[for_lane] : 0;
    emit(lane, {.kind = OpKind::Wait, .wait_lane = for_lane, .wait_count = count});
}

void RoundOps::wait_all(std::uint32_t lane) {
    emit(lane, {.kind = OpKind::Wait, .wait_lane = kAllLanes, .wait_count = emitted_total_});
}

void for_each_op(const Schedule& schedule, Rank rank, const std::function<void(std::uint32_t lane, const Op&)>& visit) {
    RoundOps ops;
    for (const Phase& phase : schedule.phases) {
        for (std::uint32_t round = 0; round < phase.rounds; ++round) {
            phase.rule(rank, round, ops);
            for (const RoundOps::Item& item : ops.items()) visit(item.lane, item.op);
            ops.items().clear();
        }
    }
}

std::uint32_t lane_count(const Schedule& schedule, Rank rank) {
    std::uint32_t lanes = 0;
    RoundOps ops;
    for (const Phase& phase : schedule.phases) {
        const std::uint32_t surveyed = phase.uniform ? std::min(phase.rounds, 1u) : phase.rounds;
        for (std::uint32_t round = 0; round < surveyed; ++round) {
            phase.rule(rank, round, ops);
            for (const RoundOps::Item& item : ops.items()) lanes = std::max(lanes, item.lane + 1);
            ops.items().clear();
        }
    }
    return lanes;
}

void for_each_op_repeated(const Schedule& schedule, Rank rank,
                          const std::function<void(std::uint32_t lane, const Op&, std::uint64_t times)>& visit) {
    RoundOps ops;
    for (const Phase& phase : schedule.phases) {
        const std::uint32_t rounds = phase.uniform ? std::min(phase.rounds, 1u) : phase.rounds;
        const std::uint64_t times = phase.uniform ? phase.rounds : 1;
        for (std::uint32_t round = 0; round < rounds; ++round) {
            phase.rule(rank, round, ops);
            for (const RoundOps::Item& item : ops.items()) visit(item.lane, item.op, times);
            ops.items().clear();
        }
    }
}

namespace {

void add(Fnv1a& hash, const Slice& slice) {
    hash.add(slice.buffer);
    hash.add(slice.first);
    hash.add(slice.count);
}

// Only the fields that mean something for the kind: hashing is a byte at a time, and a ring of 1024 ranks has
// 4.2 million operations.
void add_op(Fnv1a& hash, std::uint32_t lane, const Op& op) {
    hash.add(lane);
    hash.add(static_cast<std::uint8_t>(op.kind));
    switch (op.kind) {
        case OpKind::RecvReduce:
            hash.add(static_cast<std::uint8_t>(op.commutative));
            [[fallthrough]];
        case OpKind::Send:
        case OpKind::Recv:
            hash.add(op.channel);
            hash.add(op.peer);
            add(hash, op.slice);
            break;
        case OpKind::Reduce:
            hash.add(op.inputs);
            [[fallthrough]];
        case OpKind::Copy:
            add(hash, op.slice);
            add(hash, op.source);
            break;
        case OpKind::Compute:
        case OpKind::Update:
            hash.add(op.work);
            break;
        case OpKind::Wait:
            hash.add(op.wait_lane);
            hash.add(op.wait_count);
            break;
    }
}

}  // namespace

std::string schedule_hash(const Schedule& schedule) {
    Fnv1a hash;
    hash.add(schedule.workers);
    hash.add(schedule.ranks);
    for (const TensorSpec& tensor : schedule.tensors) hash.add(tensor.chunks);
    for (const BufferSpec& buffer : schedule.buffers) {
        hash.add(buffer.tensor);
        hash.add(buffer.copies);
        hash.add(static_cast<std::uint8_t>(buffer.init));
    }
    hash.add(schedule.result_buffer);
    for (Rank rank = 0; rank < schedule.ranks; ++rank) {
        hash.add(rank);  // so that operations cannot move from the end of one rank to the beginning of the next unseen
        for_each_op(schedule, rank, [&](std::uint32_t lane, const Op& op) { add_op(hash, lane, op); });
    }
    return hash.hex();
}

}  // namespace coppice
