#include "common/schedule/interpreter.hpp"

#include "common/diag/error.hpp"

#include <algorithm>
#include <functional>

namespace coppice {

namespace {

template <typename T>
void heap_push(std::vector<T>& heap, T value) {
    heap.push_back(value);
    std::push_heap(heap.begin(), heap.end(), std::greater<>{});
}

template <typename T>
void heap_pop(std::vector<T>& heap) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>{});
    heap.pop_back();
}

}  // namespace

RankProgram::RankProgram(const Schedule& schedule, Rank rank, OpObserver* observer)
    : schedule_(schedule), rank_(rank), observer_(observer) {
    COPPICE_CHECK(rank >= 0 && rank < schedule.ranks, "rank {} of {}", rank, schedule.ranks);
    survey_lanes();
}

// Rounds are expanded only as lanes run dry, and that is right only if all lanes are known from the start: a lane that
// first appears in a late round may have to run beside the early rounds of the others. Of a uniform phase one round
// tells all.
void RankProgram::survey_lanes() {
    for_each_op_repeated(schedule_, rank_, [this](std::uint32_t lane, const Op&, std::uint64_t times) {
        if (lane >= lanes_.size()) lanes_.resize(lane + 1);
        lanes_[lane].expected += times;
    });
    starving_ = static_cast<std::size_t>(
        std::count_if(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.expected > 0; }));
}

bool RankProgram::rounds_remain() {
    while (phase_ < schedule_.phases.size() && round_ >= schedule_.phases[phase_].rounds) {
        ++phase_;
        round_ = 0;
    }
    return phase_ < schedule_.phases.size();
}

void RankProgram::expand_next_round() {
    schedule_.phases[phase_].rule(rank_, round_++, round_ops_);
    for (const RoundOps::Item& item : round_ops_.items()) {
        // A phase that is falsely declared uniform may bring a lane that the survey has not seen; to find that is the
        // verifier's task, which expands through here.
        if (item.lane >= lanes_.size()) lanes_.resize(item.lane + 1);
        Lane& lane = lanes_[item.lane];
        if (lane.queue.empty()) {
            if (lane.index < lane.expected) --starving_;
            candidates_.push_back(item.lane);
        }
        lane.queue.push_back({item.op, emitted_++});
        ++queued_;
    }
    round_ops_.items().clear();
}

void RankProgram::start_ready(Port& port) {
    for (;;) {
        while ((starving_ > 0 || queued_ == 0) && rounds_remain()) expand_next_round();
        if (candidates_.empty()) return;
        // In the order in which they became candidates; what becomes one meanwhile is for the next turn.
        std::vector<std::uint32_t> turn;
        turn.swap(candidates_);
        for (const std::uint32_t lane : turn) start_front(lane, port);
        if (candidates_.empty()) {
            turn.clear();
            candidates_.swap(turn);  // keeps the memory
        }
    }
}

bool RankProgram::wait_satisfied(const Op& op) const {
    if (op.wait_lane == kAllLanes) return complete_below_ >= op.wait_count;
    return op.wait_count == 0 || lanes_[op.wait_lane].index >= op.wait_count;
}

void RankProgram::start_front(std::uint32_t lane_number, Port& port) {
    Lane& lane = lanes_[lane_number];
    const Op& op = lane.queue.front().op;
    if (op.kind == OpKind::Wait) {
        if (wait_satisfied(op)) {
            finish_front(lane_number);
        } else {
            auto& waiters = op.wait_lane == kAllLanes ? waiters_on_all_ : lanes_[op.wait_lane].waiters;
            heap_push(waiters, {op.wait_count, lane_number});
        }
        return;
    }
    lane.busy = true;
    ++in_flight_;
    const OpAt at{lane_number, lane.index};
    if (observer_ != nullptr) observer_->begin(rank_, at, op);
    switch (op.kind) {
        case OpKind::Send: {
            const Rank peer = op.peer == kMatchedRank ? lane.matched : op.peer;
            COPPICE_CHECK(peer >= 0, "rank {} lane {} op {}: no receive from any rank before a send to the matched one",
                          rank_, lane_number, lane.index);
            port.start_send(at, peer, op);
            break;
        }
        case OpKind::RecvReduce:
            lane.receiving = true;
            port.start_recv(at, op.peer, op);
            break;
        case OpKind::Recv:
            port.start_recv(at, op.peer, op);
            break;
        case OpKind::Reduce:
            port.start_sum(at, op);
            break;
        case OpKind::Copy:
            port.start_copy(at, op);
            break;
        case OpKind::Compute:
        case OpKind::Update:
            port.start_work(at, op);
            break;
        case OpKind::Wait:
            break;
    }
}

void RankProgram::complete(const Completion& completion, Port& port) {
    const OpAt at = completion.at;
    COPPICE_CHECK(at.lane < lanes_.size(), "rank {}: completion on lane {} of {}", rank_, at.lane, lanes_.size());
    Lane& lane = lanes_[at.lane];
    COPPICE_CHECK(lane.busy && lane.index == at.index, "rank {} lane {}: completion of op {}, but op {} is {}", rank_,
                  at.lane, at.index, lane.index, lane.busy ? "under way" : "not started");
    const Op& op = lane.queue.front().op;
    const bool receive = op.kind == OpKind::Recv || (op.kind == OpKind::RecvReduce && lane.receiving);
    if (receive && op.peer == kAnyRank) {
        COPPICE_CHECK(completion.matched >= 0, "rank {} lane {} op {}: the port does not say whose message it was",
                      rank_, at.lane, at.index);
        lane.matched = completion.matched;
    }
    if (lane.receiving) {
        lane.receiving = false;
        port.start_sum(at, op);
        return;
    }
    if (observer_ != nullptr) observer_->end(rank_, at, op);
    lane.busy = false;
    --in_flight_;
    finish_front(at.lane);
}

void RankProgram::finish_front(std::uint32_t lane_number) {
    Lane& lane = lanes_[lane_number];
    const std::uint64_t emission = lane.queue.front().emission;
    lane.queue.pop_front();
    --queued_;
    ++lane.index;
    if (!lane.queue.empty()) {
        candidates_.push_back(lane_number);
    } else if (lane.index < lane.expected) {
        ++starving_;
    }
    while (!lane.waiters.empty() && lane.waiters.front().first <= lane.index) {
        candidates_.push_back(lane.waiters.front().second);
        heap_pop(lane.waiters);
    }
    mark_complete(emission);
}

void RankProgram::mark_complete(std::uint64_t emission) {
    if (emission != complete_below_) {
        heap_push(complete_above_, emission);
        return;
    }
    ++complete_below_;
    while (!complete_above_.empty() && complete_above_.front() == complete_below_) {
        heap_pop(complete_above_);
        ++complete_below_;
    }
    while (!waiters_on_all_.empty() && waiters_on_all_.front().first <= complete_below_) {
        candidates_.push_back(waiters_on_all_.front().second);
        heap_pop(waiters_on_all_);
    }
}

bool RankProgram::done() const {
    if (queued_ > 0) return false;
    if (phase_ >= schedule_.phases.size()) return true;
    // Rounds that are still to be expanded (phase_ moves on only when the next round is asked for).
    if (round_ < schedule_.phases[phase_].rounds) return false;
    return std::all_of(schedule_.phases.begin() + static_cast<std::ptrdiff_t>(phase_) + 1, schedule_.phases.end(),
                       [](const Phase& phase) { return phase.rounds == 0; });
}

std::vector<RankProgram::Pending> RankProgram::pending() const {
    std::vector<Pending> result;
    for (std::uint32_t number = 0; number < lanes_.size(); ++number) {
        const Lane& lane = lanes_[number];
        if (!lane.queue.empty()) result.push_back({{number, lane.index}, lane.queue.front().op, lane.busy});
    }
    return result;
}

void run_rank(RankProgram& program, BlockingPort& port) {
    program.start_ready(port);
    while (!program.done()) {
        // The earliest operation that is not complete waits only for earlier ones, so it can always be started.
        COPPICE_CHECK(program.in_flight() > 0, "rank {}: nothing under way and not done", program.rank());
        program.complete(port.wait_next(), port);
        program.start_ready(port);
    }
}

}  // namespace coppice
