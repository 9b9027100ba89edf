// The replay's messages: where sends and receives meet.
#include "common/schedule/proof/describe.hpp"
#include "common/schedule/proof/replay.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace coppice::proof {

void Replay::prepare_meetings() {
    const auto count = static_cast<std::uint32_t>(routes_.all().size());
    meetings_.resize(count);
    if (!routes_.has_any_rank()) return;
    for (std::uint32_t id = 0; id < count; ++id) {
        const Route& route = routes_[id];
        if (route.from == kAnyRank) inboxes_.push_back(id);
        meetings_[id].inbox = routes_.find_id(kAnyRank, route.to, route.channel);
    }
}

// Routes to matched ranks that receive nothing from the sender by name come to be only here.
std::uint32_t Replay::route_of(Rank rank, LaneState& state) {
    const bool sends = state.op.kind == OpKind::Send;
    const Rank from = sends ? rank : state.peer;
    const Rank to = sends ? state.peer : rank;
    if (state.has_route) {
        const Route& last = routes_[state.last_route];
        if (last.from == from && last.to == to && last.channel == state.op.channel) return state.last_route;
    }
    const std::uint32_t id = routes_.id(from, to, state.op.channel);
    if (id == meetings_.size()) {
        meetings_.emplace_back();
        meetings_.back().inbox = routes_.find_id(kAnyRank, to, state.op.channel);
    }
    state.has_route = true;
    return state.last_route = id;
}

void Replay::post(Rank rank, OpAt at, Rank peer, const Op& op) {
    LaneState& state = begin(rank, at, op);
    state.peer = peer;
    const Posted posted{rank, at.lane};
    Meeting& meeting = meetings_[route_of(rank, state)];
    if (meeting.inbox) return post_to_inbox(meetings_[*meeting.inbox], posted, state);
    (op.kind == OpKind::Send ? meeting.send : meeting.recv) = posted;
    if (!meeting.send || !meeting.recv) return;
    const Posted send = *meeting.send;
    const Posted recv = *meeting.recv;
    meeting.send.reset();
    meeting.recv.reset();
    transfer(send, recv);
}

// A receive by name takes its message at once; one from any rank waits in serve_an_inbox.
void Replay::post_to_inbox(Meeting& inbox, const Posted& posted, const LaneState& state) {
    (state.op.kind == OpKind::Send ? inbox.inbox_sends.emplace_back() : inbox.recv.emplace()) = posted;
    if (!inbox.recv) return;
    const Posted recv = *inbox.recv;
    const Rank wanted = lane(recv.rank, recv.lane).peer;
    const auto found = std::find_if(inbox.inbox_sends.begin(), inbox.inbox_sends.end(),
                                    [&](const Posted& send) { return send.rank == wanted; });
    if (found == inbox.inbox_sends.end()) return;
    const Posted send = *found;
    inbox.inbox_sends.erase(found);
    inbox.recv.reset();
    transfer(send, recv);
}

// When nothing else moves: one receive from any rank takes the message that the order of arrivals says.
bool Replay::serve_an_inbox() {
    for (const std::uint32_t id : inboxes_) {
        Meeting& inbox = meetings_[id];
        if (!inbox.recv || inbox.inbox_sends.empty()) continue;
        const Posted recv = *inbox.recv;
        if (lane(recv.rank, recv.lane).peer != kAnyRank) continue;
        auto& sends = inbox.inbox_sends;
        std::sort(sends.begin(), sends.end(), [](const Posted& a, const Posted& b) { return a.rank < b.rank; });
        std::size_t chosen = 0;
        if (arrivals_.order == Arrivals::Order::Descending) chosen = sends.size() - 1;
        if (arrivals_.order == Arrivals::Order::Shuffled) chosen = random_() % sends.size();
        const Posted send = sends[chosen];
        sends.erase(sends.begin() + static_cast<std::ptrdiff_t>(chosen));
        inbox.recv.reset();
        transfer(send, recv);
        return true;
    }
    return false;
}

// Lengths agree, and chunk meets chunk: chunks of one tensor differ in length where its elements do not divide.
bool Replay::fits(const LaneState& sender, Rank from, const LaneState& receiver, Rank to) {
    const Slice& sent = sender.op.slice;
    const Slice& taken = receiver.op.slice;
    const auto other = [&] { return in_words(schedule_, from, sender.at, sender.op); };
    if (sent.count != taken.count) {
        fail(to, receiver, fmt::format("takes {} slots, but {} has {}", taken.count, other(), sent.count));
        return false;
    }
    if (sent.count == 0) return true;
    const std::uint16_t tensor = schedule_.buffers[taken.buffer].tensor;
    if (schedule_.buffers[sent.buffer].tensor != tensor) {
        fail(to, receiver, fmt::format("gets another tensor's data from {}", other()));
        return false;
    }
    const std::uint32_t chunks = schedule_.tensors[tensor].chunks;
    if (sent.first % chunks != taken.first % chunks) {
        fail(to, receiver,
             fmt::format("takes chunk {}, but {} brings chunk {}", taken.first % chunks, other(), sent.first % chunks));
        return false;
    }
    return true;
}

void Replay::transfer(const Posted& send, const Posted& recv) {
    LaneState& sender = lane(send.rank, send.lane);
    LaneState& receiver = lane(recv.rank, recv.lane);
    if (!fits(sender, send.rank, receiver, recv.rank) || !readable(send.rank, sender, sender.op.slice)) return;
    const std::uint32_t count = sender.op.slice.count;
    Traffic& traffic = verdict_.traffic;
    ++traffic.messages;
    traffic.chunks_sent += count;
    traffic.sent_by_rank[send.rank] += count;
    traffic.received_by_rank[recv.rank] += count;

    sender.depth = receiver.depth = std::max(sender.depth, receiver.depth) + 1;
    verdict_.critical_messages = std::max(verdict_.critical_messages, sender.depth);

    const std::uint64_t* sets = nullptr;
    if (count > 0) sets = image(send.rank, sender.op.slice.buffer).sets.data() + sender.op.slice.first * words_;
    if (receiver.op.kind == OpKind::Recv) {
        for (std::uint32_t i = 0; i < count; ++i)
            overwrite(recv.rank, receiver, receiver.op.slice.first + i, sets + i * words_);
        finish(recv.rank, receiver, send.rank);
    } else {
        receiver.aside.assign(sets, sets + count * words_);
        events_.push_back({recv.rank, {receiver.at, send.rank}});
    }
    finish(send.rank, sender);
}

}  // namespace coppice::proof
