#include "common/schedule/proof/replay.hpp"

#include "common/diag/error.hpp"
#include "common/schedule/proof/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace coppice::proof {

std::string Arrivals::in_words() const {
    switch (order) {
        case Order::Ascending:
            return "arrivals in ascending order of ranks";
        case Order::Descending:
            return "arrivals in descending order of ranks";
        case Order::Shuffled:
            break;
    }
    return fmt::format("arrivals shuffled by seed {}", seed);
}

Replay::Replay(const Schedule& schedule, const std::vector<RankFacts>& facts, const RouteTable& routes,
               const Arrivals& arrivals)
    : schedule_(schedule),
      facts_(facts),
      routes_(routes),
      arrivals_(arrivals),
      random_(arrivals.seed),
      words_((static_cast<std::size_t>(schedule.workers) + 63) / 64),
      images_(static_cast<std::size_t>(schedule.ranks) * schedule.buffers.size()) {
    std::size_t lanes = 0;
    for (Rank rank = 0; rank < schedule.ranks; ++rank) {
        lane_base_.push_back(lanes);
        lanes += facts[rank].lanes.size();
        programs_.emplace_back(schedule, rank);
        ports_.emplace_back(*this, rank);
    }
    lanes_.resize(lanes);
    prepare_meetings();
    verdict_.traffic.sent_by_rank.resize(schedule.ranks);
    verdict_.traffic.received_by_rank.resize(schedule.ranks);
}

Verdict Replay::run() {
    for (Rank rank = 0; rank < schedule_.ranks; ++rank) programs_[rank].start_ready(ports_[rank]);
    do {
        while (!events_.empty() && verdict_.ok()) {
            const Event event = events_.back();
            events_.pop_back();
            programs_[event.rank].complete(event.completion, ports_[event.rank]);
            programs_[event.rank].start_ready(ports_[event.rank]);
        }
    } while (verdict_.ok() && serve_an_inbox());
    if (verdict_.ok()) check_stuck();
    if (verdict_.ok()) check_postcondition();
    return std::move(verdict_);
}

Replay::LaneState& Replay::begin(Rank rank, OpAt at, const Op& op) {
    LaneState& state = lane(rank, at.lane);
    state.at = at;
    state.op = op;
    state.depth = depth_after(rank, at.lane, at.index);
    return state;
}

void Replay::finish(Rank rank, LaneState& state, Rank matched) {
    state.depth_after.push_back(state.depth);
    events_.push_back({rank, {state.at, matched}});
}

void Replay::RankPort::start_work(OpAt at, const Op& op) {
    replay_.finish(rank_, replay_.begin(rank_, at, op));
}

void Replay::sum(Rank rank, OpAt at, const Op& op) {
    if (op.kind == OpKind::RecvReduce) {  // the second half: depth and operation are those of the receive
        LaneState& state = lane(rank, at.lane);
        for (std::uint32_t i = 0; i < op.slice.count; ++i)
            if (!add(rank, state, op.slice.first + i, state.aside.data() + i * words_)) return;
        verdict_.traffic.chunks_summed += op.slice.count;
        finish(rank, state);
        return;
    }
    LaneState& state = begin(rank, at, op);
    if (!readable(rank, state, op.source)) return;
    const std::uint64_t* source = image(rank, op.source.buffer).sets.data() + op.source.first * words_;
    for (std::uint32_t i = 0; i < op.source.count; ++i)
        if (!add(rank, state, op.slice.first + i % op.slice.count, source + i * words_)) return;
    verdict_.traffic.chunks_summed += op.source.count;
    finish(rank, state);
}

void Replay::copy(Rank rank, OpAt at, const Op& op) {
    LaneState& state = begin(rank, at, op);
    if (!readable(rank, state, op.source)) return;
    const std::uint64_t* source = image(rank, op.source.buffer).sets.data() + op.source.first * words_;
    for (std::uint32_t i = 0; i < op.slice.count; ++i) overwrite(rank, state, op.slice.first + i, source + i * words_);
    finish(rank, state);
}

Replay::Image& Replay::image(Rank rank, std::uint16_t buffer) {
    Image& image = images_[rank * schedule_.buffers.size() + buffer];
    const std::uint32_t slots = schedule_.slots(buffer);
    if (!image.defined.empty() || slots == 0) return image;
    const BufferInit init = schedule_.buffers[buffer].init;
    image.sets.resize(slots * words_);
    image.defined.assign(slots, init != BufferInit::Undefined);
    image.writer.assign(slots, {kAllLanes, 0});
    if (init == BufferInit::Contribution && rank < schedule_.workers) {
        for (std::uint32_t slot = 0; slot < slots; ++slot)
            image.sets[slot * words_ + rank / 64] = std::uint64_t{1} << rank % 64;
    }
    return image;
}

bool Replay::readable(Rank rank, const LaneState& state, const Slice& slice) {
    const Image& read = image(rank, slice.buffer);
    for (std::uint32_t i = 0; i < slice.count; ++i) {
        if (read.defined[slice.first + i] != 0) continue;
        const Slice slot{.buffer = slice.buffer, .first = slice.first + i, .count = 1};
        fail(rank, state, fmt::format("reads {}, which is undefined: nothing wrote it", in_words(schedule_, slot)));
        return false;
    }
    return true;
}

bool Replay::add(Rank rank, const LaneState& state, std::uint32_t slot, const std::uint64_t* set) {
    if (!readable(rank, state, {.buffer = state.op.slice.buffer, .first = slot, .count = 1})) return false;
    Image& target = image(rank, state.op.slice.buffer);
    std::uint64_t* held = target.sets.data() + slot * words_;
    for (std::size_t word = 0; word < words_; ++word) {
        if ((held[word] & set[word]) != 0) [[unlikely]] {
            const int worker = static_cast<int>(word * 64) + std::countr_zero(held[word] & set[word]);
            const Slice twice{.buffer = state.op.slice.buffer, .first = slot, .count = 1};
            fail(rank, state,
                 fmt::format("adds worker {}'s contribution to {} twice", worker, in_words(schedule_, twice)));
            return false;
        }
    }
    for (std::size_t word = 0; word < words_; ++word) held[word] |= set[word];
    target.writer[slot] = state.at;
    return true;
}

void Replay::overwrite(Rank rank, const LaneState& state, std::uint32_t slot, const std::uint64_t* set) {
    const std::uint16_t buffer = state.op.slice.buffer;
    Image& target = image(rank, buffer);
    std::uint64_t* held = target.sets.data() + slot * words_;
    std::uint64_t lost = 0;
    for (std::size_t word = 0; word < words_; ++word) lost |= held[word] & ~set[word];
    if (lost != 0 && buffer == schedule_.result_buffer && !loss_) {
        loss_ = Loss{rank, state.at, state.op, slot, std::vector<std::uint64_t>(words_)};
        for (std::size_t word = 0; word < words_; ++word) loss_->lost[word] = held[word] & ~set[word];
    }
    std::copy_n(set, words_, held);
    target.defined[slot] = 1;
    target.writer[slot] = state.at;
}

// The longest chain of messages behind the first `count` operations of a lane, all complete. Waits never reach a port:
// they are entered here, when what follows them asks.
std::uint32_t Replay::depth_after(Rank rank, std::uint32_t lane_number, std::uint32_t count) {
    LaneState& state = lane(rank, lane_number);
    const RankFacts& facts = facts_[rank];
    while (state.depth_after.size() < count) {
        const auto& waits = facts.lanes[lane_number].waits;
        COPPICE_CHECK(state.waits_passed < waits.size() && waits[state.waits_passed].index == state.depth_after.size(),
                      "rank {} lane {}: operation {} is complete but was never started", rank, lane_number,
                      state.depth_after.size());
        const WaitFact wait = waits[state.waits_passed++];
        std::uint32_t depth = state.depth_after.empty() ? 0 : state.depth_after.back();
        if (wait.lane != kAllLanes) {
            if (wait.count > 0 && wait.lane != lane_number)
                depth = std::max(depth, depth_after(rank, wait.lane, wait.count));
        } else {
            const std::uint32_t* counts = facts.all_lanes.data() + wait.count;
            for (std::uint32_t other = 0; other < counts[0]; ++other)
                if (other != lane_number) depth = std::max(depth, depth_after(rank, other, counts[other + 1]));
        }
        state.depth_after.push_back(depth);
    }
    return count == 0 ? 0 : state.depth_after[count - 1];
}

void Replay::fail(Rank rank, const LaneState& state, const std::string& what) {
    if (verdict_.ok()) verdict_.flaw = flaw_at(schedule_, rank, state.at, state.op, what);
}

}  // namespace coppice::proof
