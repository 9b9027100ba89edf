#include "common/schedule/proof/local_proof.hpp"

#include "common/schedule/proof/describe.hpp"

#include <fmt/format.h>

#include <limits>

namespace coppice::proof {

namespace {

using Reason = std::optional<std::string>;

// Slots are numbered in 32 bits; the bound keeps sums of two of them there too.
constexpr std::uint64_t kSlotsMax = 1u << 30;
// Lanes are small numbers; a great one is a mistake that would cost its size in memory.
constexpr std::uint32_t kLanesMax = 1u << 20;

// "the same operations but for the slots"
bool same_but_for_slots(const RoundOps::Item& a, const RoundOps::Item& b) {
    return a.lane == b.lane && a.op.kind == b.op.kind && a.op.commutative == b.op.commutative &&
           a.op.channel == b.op.channel && a.op.peer == b.op.peer && a.op.slice.buffer == b.op.slice.buffer &&
           a.op.slice.count == b.op.slice.count && a.op.source.buffer == b.op.source.buffer &&
           a.op.source.count == b.op.source.count && a.op.inputs == b.op.inputs && a.op.work == b.op.work &&
           a.op.wait_lane == b.op.wait_lane;
}

bool overlap(const Slice& a, const Slice& b) {
    return a.buffer == b.buffer && a.first < b.first + b.count && b.first < a.first + a.count;
}

}  // namespace

std::optional<Flaw> check_frame(const Schedule& schedule) {
    const auto flaw = [](std::string what) { return Flaw{.message = "schedule: " + std::move(what)}; };
    if (schedule.workers < 1) return flaw(fmt::format("{} workers", schedule.workers));
    if (schedule.ranks < schedule.workers || schedule.ranks > RouteTable::kRanksMax)
        return flaw(fmt::format("{} ranks, of which {} are workers", schedule.ranks, schedule.workers));
    for (const TensorSpec& tensor : schedule.tensors)
        if (tensor.chunks == 0) return flaw(fmt::format("tensor {} has no chunks", tensor.name));
    for (const BufferSpec& buffer : schedule.buffers) {
        if (buffer.tensor >= schedule.tensors.size())
            return flaw(
                fmt::format("buffer {} holds tensor {} of {}", buffer.name, buffer.tensor, schedule.tensors.size()));
        const std::uint64_t slots = std::uint64_t{buffer.copies} * schedule.tensors[buffer.tensor].chunks;
        if (slots > kSlotsMax) return flaw(fmt::format("buffer {} has {} slots", buffer.name, slots));
    }
    if (schedule.result_buffer >= schedule.buffers.size())
        return flaw(fmt::format("the result is buffer {} of {}", schedule.result_buffer, schedule.buffers.size()));
    for (const Phase& phase : schedule.phases)
        if (phase.rounds > 0 && !phase.rule) return flaw(fmt::format("phase {} has no rule", phase.name));
    if (schedule.postcondition == Postcondition::AsyncServer && schedule.servers() == 0)
        return flaw("an asynchronous server is promised, but all ranks are workers");
    return std::nullopt;
}

std::optional<Flaw> LocalProof::check(Rank rank, RankFacts& facts) {
    rank_ = rank;
    emitted_ = 0;
    lanes_.clear();
    order_.begin_rank();
    RoundOps ops;
    std::vector<RoundOps::Item> first_round;
    for (const Phase& phase : schedule_.phases) {
        for (std::uint32_t round = 0; round < phase.rounds; ++round) {
            phase.rule(rank, round, ops);
            std::vector<RoundOps::Item>& items = ops.items();
            for (std::size_t i = 0; i < items.size(); ++i) {
                const RoundOps::Item& item = items[i];
                if (item.lane >= kLanesMax)
                    return Flaw{rank, item.lane, 0, fmt::format("rank {} lane {}: too many lanes", rank, item.lane)};
                if (item.lane >= facts.lanes.size()) facts.lanes.resize(item.lane + 1);
                const OpAt at{item.lane, facts.lanes[item.lane].ops};
                Reason reason = add(item, at, facts);
                if (!reason && phase.uniform && round > 0 &&
                    (i >= first_round.size() || !same_but_for_slots(item, first_round[i])))
                    reason = fmt::format("phase {} is declared uniform, but round {} differs here from round 0",
                                         phase.name, round);
                if (reason) return flaw_at(schedule_, rank, at, item.op, *reason);
            }
            if (phase.uniform && round > 0 && items.size() < first_round.size()) {
                const RoundOps::Item& missing = first_round[items.size()];
                const std::uint32_t index = missing.lane < facts.lanes.size() ? facts.lanes[missing.lane].ops : 0;
                return flaw_at(schedule_, rank, {missing.lane, index}, missing.op,
                               fmt::format("phase {} is declared uniform, but round {} lacks this operation of round 0",
                                           phase.name, round));
            }
            if (phase.uniform && round == 0) first_round = items;
            items.clear();
        }
    }
    return std::nullopt;
}

Reason LocalProof::add(const RoundOps::Item& item, OpAt at, RankFacts& facts) {
    const Op& op = item.op;
    if (at.lane >= lanes_.size()) lanes_.resize(at.lane + 1);
    Reason reason = check_shape(op);
    if (!reason && op.kind == OpKind::Wait) reason = check_wait(op, facts);
    if (!reason && (op.kind == OpKind::Send || is_receive(op.kind))) reason = check_peer(op, lanes_[at.lane]);
    if (reason) return reason;
    if (op.kind == OpKind::Wait) {
        note_wait(op, at, facts);
    } else if (op.kind == OpKind::Send || is_receive(op.kind)) {
        reason = note_message(op, at);
    }
    ++facts.lanes[at.lane].ops;
    ++emitted_;
    return reason ? reason : check_order(op, at);
}

Reason LocalProof::check_shape(const Op& op) const {
    switch (op.kind) {
        case OpKind::Send:
        case OpKind::Recv:
        case OpKind::RecvReduce:
            return check_in_buffer(op.slice);
        case OpKind::Reduce:
        case OpKind::Copy: {
            Reason reason = check_in_buffer(op.slice);
            if (!reason) reason = check_in_buffer(op.source);
            return reason ? reason : check_blocks(op);
        }
        case OpKind::Compute:
        case OpKind::Update:
        case OpKind::Wait:
            return std::nullopt;
    }
    return "there is no such kind of operation";
}

Reason LocalProof::check_in_buffer(const Slice& slice) const {
    if (slice.buffer >= schedule_.buffers.size())
        return fmt::format("there is no buffer {}, only {}", slice.buffer, schedule_.buffers.size());
    if (std::uint64_t{slice.first} + slice.count > schedule_.slots(slice.buffer))
        return fmt::format("out of bounds: {} has {} slots", schedule_.buffers[slice.buffer].name,
                           schedule_.slots(slice.buffer));
    return std::nullopt;
}

Reason LocalProof::check_peer(const Op& op, const LaneState& lane) const {
    if (op.kind == OpKind::Send && op.peer == kMatchedRank) {
        if (lane.heard_any) return std::nullopt;
        return "no receive from any rank comes before it on its lane";
    }
    if (is_receive(op.kind) && op.peer == kAnyRank) return std::nullopt;
    if (op.peer == rank_) return "the rank itself is its peer";
    if (op.peer < 0 || op.peer >= schedule_.ranks)
        return fmt::format("there is no rank {}, only {}", op.peer, schedule_.ranks);
    return std::nullopt;
}

// Reduce and Copy: blocks of the source that are as long as the target and lie like it.
Reason LocalProof::check_blocks(const Op& op) const {
    const std::uint32_t inputs = op.kind == OpKind::Copy ? 1 : op.inputs;
    if (inputs == 0 || op.source.count != std::uint64_t{inputs} * op.slice.count)
        return fmt::format("{} slots of source for {} blocks of {}", op.source.count, inputs, op.slice.count);
    if (op.slice.count == 0) return std::nullopt;
    if (overlap(op.slice, op.source)) return "source and target overlap";
    const std::uint16_t tensor = schedule_.buffers[op.slice.buffer].tensor;
    const std::uint32_t chunks = schedule_.tensors[tensor].chunks;
    if (schedule_.buffers[op.source.buffer].tensor != tensor) return "source and target belong to different tensors";
    for (std::uint32_t block = 0; block < inputs; ++block) {
        const std::uint32_t chunk = (op.source.first + block * op.slice.count) % chunks;
        if (chunk != op.slice.first % chunks)
            return fmt::format("block {} of the source begins with chunk {}, the target with chunk {}", block, chunk,
                               op.slice.first % chunks);
    }
    return std::nullopt;
}

Reason LocalProof::check_wait(const Op& op, const RankFacts& facts) const {
    std::uint64_t emitted = emitted_;
    if (op.wait_lane != kAllLanes) emitted = op.wait_lane < facts.lanes.size() ? facts.lanes[op.wait_lane].ops : 0;
    if (op.wait_count == emitted) return std::nullopt;
    return fmt::format("a wait is for what was emitted before it, and that is {} operations", emitted);
}

void LocalProof::note_wait(const Op& op, OpAt at, RankFacts& facts) const {
    WaitFact fact{at.index, op.wait_lane, static_cast<std::uint32_t>(op.wait_count)};
    if (op.wait_lane == kAllLanes) {
        fact.count = static_cast<std::uint32_t>(facts.all_lanes.size());
        facts.all_lanes.push_back(static_cast<std::uint32_t>(facts.lanes.size()));
        for (const LaneFacts& lane : facts.lanes) facts.all_lanes.push_back(lane.ops);
    }
    facts.lanes[at.lane].waits.push_back(fact);
}

std::uint32_t LocalProof::route_of(const Op& op, LaneState& lane) {
    const bool sends = op.kind == OpKind::Send;
    const Rank from = sends ? rank_ : op.peer;
    const Rank to = sends ? op.peer : rank_;
    if (lane.has_route) {
        const Route& last = routes_[lane.last_route];
        if (last.from == from && last.to == to && last.channel == op.channel) return lane.last_route;
    }
    lane.has_route = true;
    return lane.last_route = routes_.id(from, to, op.channel);
}

Reason LocalProof::note_message(const Op& op, OpAt at) {
    LaneState& lane = lanes_[at.lane];
    Route& route = routes_[route_of(op, lane)];
    Route::Side& side = op.kind == OpKind::Send ? route.send : route.recv;
    if (side.count++ == 0) {
        side.lane = at.lane;
        side.first_index = at.index;
    }
    if (op.peer == kAnyRank) lane.heard_any = true;
    if (side.lane == at.lane) return std::nullopt;
    return fmt::format(
        "the same route is on lane {} too (op {}), so that it is not certain which send meets which receive", side.lane,
        side.first_index);
}

Reason LocalProof::check_order(const Op& op, OpAt at) {
    const auto conflict = order_.add(at, op);
    if (!conflict) return std::nullopt;
    return fmt::format("race on {}: {} {} it too, and no wait orders the two", in_words(schedule_, conflict->slot),
                       in_words(schedule_, rank_, conflict->other, op_at(schedule_, rank_, conflict->other)),
                       conflict->other_does);
}

}  // namespace coppice::proof
