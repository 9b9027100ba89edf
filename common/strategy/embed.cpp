#include "common/strategy/embed.hpp"

#include "common/diag/error.hpp"

#include <algorithm>
#include <limits>

namespace coppice::builtin {

namespace {

// Each part has channels of its own: the smaller schedules' channels are on lanes that differ from part to part, and
// the messages of a channel between two ranks belong on one.
constexpr std::uint16_t kChannelsOfPart = 64;

constexpr std::size_t kNoGroup = std::numeric_limits<std::size_t>::max();

struct Member {
    std::size_t group = kNoGroup;
    Rank local = 0;
};

struct Part {
    std::vector<Group> groups;
    std::vector<Member> members;         // by rank
    std::vector<std::uint16_t> buffers;  // of the larger schedule, by buffer of the smaller ones
    std::uint16_t first_channel = 0;

    Slice place(const Group& group, const Slice& slice) const {
        return {.buffer = buffers[slice.buffer],
                .first = (slice.buffer == 0 ? group.first_slot : 0) + slice.first * group.slots_per_chunk,
                .count = slice.count * group.slots_per_chunk};
    }
};

void emit(const Part& part, const Group& group, const RoundOps::Item& item, RoundOps& ops) {
    const auto& [lane, op] = item;
    const auto peer = [&] { return op.peer < 0 ? op.peer : group.ranks[static_cast<std::size_t>(op.peer)]; };
    const auto channel = static_cast<std::uint16_t>(part.first_channel + op.channel);
    COPPICE_CHECK(op.channel < kChannelsOfPart, "channel {} of a part", op.channel);
    switch (op.kind) {
        case OpKind::Send:
            return ops.send(lane, peer(), part.place(group, op.slice), channel);
        case OpKind::Recv:
            return ops.recv(lane, peer(), part.place(group, op.slice), channel);
        case OpKind::RecvReduce:
            if (op.commutative) return ops.recv_reduce_commutative(lane, peer(), part.place(group, op.slice), channel);
            return ops.recv_reduce(lane, peer(), part.place(group, op.slice), channel);
        case OpKind::Reduce:
            return ops.reduce(lane, part.place(group, op.slice), part.place(group, op.source), op.inputs);
        case OpKind::Copy:
            return ops.copy(lane, part.place(group, op.slice), part.place(group, op.source));
        case OpKind::Wait:
            // What it counts is counted anew: the lane may have had operations in earlier parts.
            return op.wait_lane == kAllLanes ? ops.wait_all(lane) : ops.wait(lane, op.wait_lane);
        case OpKind::Compute:
        case OpKind::Update:
            break;
    }
    COPPICE_CHECK(false, "{} in a collective", op_kind_name(op.kind));
}

Part make_part(Schedule& schedule, const std::vector<Group>& groups) {
    Part part;
    part.groups = groups;
    part.members.resize(static_cast<std::size_t>(schedule.ranks));
    part.buffers = {schedule.result_buffer};
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const Group& group = groups[g];
        COPPICE_CHECK(group.ranks.size() == static_cast<std::size_t>(group.schedule->ranks),
                      "{} ranks for a schedule of {}", group.ranks.size(), group.schedule->ranks);
        for (std::size_t local = 0; local < group.ranks.size(); ++local) {
            Member& member = part.members[static_cast<std::size_t>(group.ranks[local])];
            COPPICE_CHECK(member.group == kNoGroup, "rank {} in two groups", group.ranks[local]);
            member = {g, static_cast<Rank>(local)};
        }
        const std::uint32_t slots = group.schedule->tensors[0].chunks * group.slots_per_chunk;
        for (std::size_t b = 1; b < group.schedule->buffers.size(); ++b) {
            const BufferSpec& buffer = group.schedule->buffers[b];
            COPPICE_CHECK(slots == schedule.tensors[0].chunks, "buffer {} beside a part of the data", buffer.name);
            if (b >= part.buffers.size()) {
                part.buffers.push_back(static_cast<std::uint16_t>(schedule.buffers.size()));
                schedule.buffers.push_back(buffer);
            }
            BufferSpec& ours = schedule.buffers[part.buffers[b]];
            ours.copies = std::max(ours.copies, buffer.copies);
        }
    }
    return part;
}

std::uint32_t lanes_of(const Group& group, Rank local) {
    return lane_count(*group.schedule, local);
}

// All that a rank has done so far is complete before any lane of the next part begins.
Phase turn(const std::shared_ptr<const Part>& part) {
    return {.name = "turn to the next part",
            .rounds = 1,
            .uniform = false,
            .rule = [part](Rank rank, std::uint32_t, RoundOps& ops) {
                const Member member = part->members[static_cast<std::size_t>(rank)];
                if (member.group == kNoGroup) return;
                const std::uint32_t lanes = lanes_of(part->groups[member.group], member.local);
                // Through lane 0, so that the waits are as many as the lanes and not their square.
                if (lanes > 0) ops.wait_all(0);
                for (std::uint32_t lane = 1; lane < lanes; ++lane) ops.wait(lane, 0);
            }};
}

}  // namespace

void append_part(Schedule& schedule, std::uint16_t number, const std::string& name, const std::vector<Group>& groups,
                 std::size_t first, std::size_t last) {
    Part made = make_part(schedule, groups);
    made.first_channel = static_cast<std::uint16_t>(number * kChannelsOfPart);
    const auto part = std::make_shared<const Part>(std::move(made));
    schedule.phases.push_back(turn(part));
    std::size_t most = 0;
    for (const Group& group : groups) most = std::max(most, group.schedule->phases.size());
    for (std::size_t at = first; at < std::min(last, most); ++at) {
        Phase phase;
        phase.uniform = true;
        for (const Group& group : groups) {
            if (at >= group.schedule->phases.size()) {
                phase.uniform = false;
                continue;
            }
            const Phase& inner = group.schedule->phases[at];
            if (phase.name.empty()) phase.name = name + ": " + inner.name;
            phase.uniform = phase.uniform && inner.uniform && (phase.rounds == 0 || phase.rounds == inner.rounds);
            phase.rounds = std::max(phase.rounds, inner.rounds);
        }
        phase.rule = [part, at](Rank rank, std::uint32_t round, RoundOps& ops) {
            const Member member = part->members[static_cast<std::size_t>(rank)];
            if (member.group == kNoGroup) return;
            const Group& group = part->groups[member.group];
            if (at >= group.schedule->phases.size() || round >= group.schedule->phases[at].rounds) return;
            RoundOps inner;
            group.schedule->phases[at].rule(member.local, round, inner);
            for (const RoundOps::Item& item : inner.items()) emit(*part, group, item, ops);
        };
        schedule.phases.push_back(std::move(phase));
    }
}

}  // namespace coppice::builtin
