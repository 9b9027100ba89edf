#include "common/schedule/proof/lane_order.hpp"

#include <algorithm>

namespace coppice::proof {

void LaneOrder::begin_rank() {
    for (const Slice& slice : touched_) {
        for (std::uint32_t i = 0; i < slice.count; ++i) {
            SlotState& state = slots_[slice.buffer][slice.first + i];
            state.written = false;
            state.readers.clear();
            state.sums.clear();
        }
    }
    touched_.clear();
    emitted_.clear();
    clocks_.clear();
}

std::optional<LaneOrder::Conflict> LaneOrder::add(OpAt at, const Op& op) {
    if (at.lane >= emitted_.size()) {
        emitted_.resize(at.lane + 1);
        clocks_.resize(at.lane + 1);
    }
    emitted_[at.lane] = at.index + 1;
    std::optional<Conflict> conflict;
    switch (op.kind) {
        case OpKind::Send:
            return touch(at, op.slice, Access::Read);
        case OpKind::Recv:
            return touch(at, op.slice, Access::Write);
        case OpKind::RecvReduce:
            return touch(at, op.slice, op.commutative ? Access::Sum : Access::Write);
        case OpKind::Reduce:
        case OpKind::Copy:
            conflict = touch(at, op.source, Access::Read);
            return conflict ? conflict : touch(at, op.slice, Access::Write);
        case OpKind::Wait:
            wait(at, op);
            break;
        case OpKind::Compute:
        case OpKind::Update:
            break;
    }
    return std::nullopt;
}

void LaneOrder::wait(OpAt at, const Op& op) {
    std::vector<std::uint32_t>& clock = clocks_[at.lane];
    if (op.wait_lane == kAllLanes) {
        clock = emitted_;
        return;
    }
    if (op.wait_lane >= emitted_.size() || op.wait_lane == at.lane) return;
    const std::vector<std::uint32_t>& theirs = clocks_[op.wait_lane];
    if (clock.size() < theirs.size()) clock.resize(theirs.size());
    for (std::size_t lane = 0; lane < theirs.size(); ++lane) clock[lane] = std::max(clock[lane], theirs[lane]);
    if (clock.size() <= op.wait_lane) clock.resize(op.wait_lane + 1);
    clock[op.wait_lane] = emitted_[op.wait_lane];
}

bool LaneOrder::before(const OpAt& earlier, std::uint32_t lane) const {
    if (earlier.lane == lane) return true;
    const std::vector<std::uint32_t>& clock = clocks_[lane];
    return earlier.lane < clock.size() && earlier.index < clock[earlier.lane];
}

const OpAt* LaneOrder::unordered(const std::vector<OpAt>& accesses, std::uint32_t lane) const {
    for (const OpAt& earlier : accesses)
        if (!before(earlier, lane)) return &earlier;
    return nullptr;
}

// What is behind `at` is also behind all that came before `at`.
void LaneOrder::replace_earlier(std::vector<OpAt>& accesses, OpAt at) const {
    std::erase_if(accesses, [&](const OpAt& earlier) { return before(earlier, at.lane); });
    accesses.push_back(at);
}

std::optional<LaneOrder::Conflict> LaneOrder::touch(OpAt at, const Slice& slice, Access access) {
    if (slice.count == 0) return std::nullopt;
    std::vector<SlotState>& buffer = slots_[slice.buffer];
    if (buffer.empty()) buffer.resize(schedule_.slots(slice.buffer));
    touched_.push_back(slice);
    for (std::uint32_t i = 0; i < slice.count; ++i) {
        if (auto conflict = touch_slot(at, buffer[slice.first + i], access)) {
            conflict->slot = {.buffer = slice.buffer, .first = slice.first + i, .count = 1};
            return conflict;
        }
    }
    return std::nullopt;
}

std::optional<LaneOrder::Conflict> LaneOrder::touch_slot(OpAt at, SlotState& state, Access access) const {
    if (state.written && !before(state.writer, at.lane)) return Conflict{state.writer, "writes", {}};
    if (access != Access::Sum) {
        if (const OpAt* sum = unordered(state.sums, at.lane)) return Conflict{*sum, "sums into", {}};
    }
    if (access != Access::Read) {
        if (const OpAt* reader = unordered(state.readers, at.lane)) return Conflict{*reader, "reads", {}};
    }
    switch (access) {
        case Access::Read:
            replace_earlier(state.readers, at);
            break;
        case Access::Sum:
            replace_earlier(state.sums, at);
            break;
        case Access::Write:
            state.written = true;
            state.writer = at;
            state.readers.clear();
            state.sums.clear();
            break;
    }
    return std::nullopt;
}

}  // namespace coppice::proof
