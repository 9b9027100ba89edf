#include "common/schedule/proof/describe.hpp"

#include "common/diag/error.hpp"

#include <fmt/format.h>

namespace coppice::proof {

namespace {

std::string peer_in_words(Rank peer) {
    if (peer == kAnyRank) return "any rank";
    if (peer == kMatchedRank) return "the matched rank";
    return std::to_string(peer);
}

std::string channel_in_words(const Op& op) {
    return op.channel == 0 ? "" : fmt::format(" on channel {}", op.channel);
}

std::string kind_in_words(OpKind kind) {
    return kind <= OpKind::Wait ? std::string(op_kind_name(kind)) : fmt::format("kind {}", static_cast<int>(kind));
}

}  // namespace

std::string in_words(const Schedule& schedule, const Slice& slice) {
    const bool known = slice.buffer < schedule.buffers.size();
    return fmt::format("{}[{}..{})",
                       known ? schedule.buffers[slice.buffer].name : fmt::format("buffer {}", slice.buffer),
                       slice.first, std::uint64_t{slice.first} + slice.count);
}

std::string in_words(const Schedule& schedule, const Op& op) {
    const std::string kind = kind_in_words(op.kind);
    switch (op.kind) {
        case OpKind::Send:
            return fmt::format("{} {} to {}{}", kind, in_words(schedule, op.slice), peer_in_words(op.peer),
                               channel_in_words(op));
        case OpKind::Recv:
        case OpKind::RecvReduce:
            return fmt::format("{} from {} into {}{}", kind, peer_in_words(op.peer), in_words(schedule, op.slice),
                               channel_in_words(op));
        case OpKind::Reduce:
        case OpKind::Copy:
            return fmt::format("{} {} into {}", kind, in_words(schedule, op.source), in_words(schedule, op.slice));
        case OpKind::Compute:
        case OpKind::Update:
            return fmt::format("{} {}", kind, op.work);
        case OpKind::Wait:
            break;
    }
    if (op.wait_lane == kAllLanes) return fmt::format("{} for {} operations of all lanes", kind, op.wait_count);
    return fmt::format("{} for {} operations of lane {}", kind, op.wait_count, op.wait_lane);
}

std::string in_words(const Schedule& schedule, Rank rank, OpAt at, const Op& op) {
    return fmt::format("rank {} lane {} op {} ({})", rank, at.lane, at.index, in_words(schedule, op));
}

Flaw flaw_at(const Schedule& schedule, Rank rank, OpAt at, const Op& op, const std::string& what) {
    return {.rank = rank,
            .lane = at.lane,
            .index = at.index,
            .message = fmt::format("{}: {}", in_words(schedule, rank, at, op), what)};
}

Op op_at(const Schedule& schedule, Rank rank, OpAt at) {
    Op found;
    std::uint32_t index = 0;
    for_each_op(schedule, rank, [&](std::uint32_t lane, const Op& op) {
        if (lane == at.lane && index++ == at.index) found = op;
    });
    COPPICE_CHECK(index > at.index, "rank {} has {} operations on lane {}, not {}", rank, index, at.lane, at.index);
    return found;
}

Placed nth_message(const Schedule& schedule, End end, Rank from, Rank to, std::uint16_t channel, std::uint32_t n) {
    const Rank rank = end == End::Send ? from : to;
    const Rank peer = end == End::Send ? to : from;
    std::vector<std::uint32_t> emitted;
    std::uint32_t seen = 0;
    Placed found;
    for_each_op(schedule, rank, [&](std::uint32_t lane, const Op& op) {
        if (lane >= emitted.size()) emitted.resize(lane + 1);
        const std::uint32_t index = emitted[lane]++;
        const bool this_end = end == End::Send ? op.kind == OpKind::Send : is_receive(op.kind);
        if (this_end && op.peer == peer && op.channel == channel && seen++ == n) found = {{lane, index}, op};
    });
    COPPICE_CHECK(seen > n, "rank {} has {} messages with {} on channel {}, not {}", rank, seen, peer, channel, n);
    return found;
}

}  // namespace coppice::proof
