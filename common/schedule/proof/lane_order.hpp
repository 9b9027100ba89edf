// Are operations of one rank that touch the same slot ordered by the rank's own lanes and waits?
//
//     lane 0:  A ── B ──(wait for lane 1)── C        clock of lane 0 before C: lane 0: 2, lane 1: 2
//     lane 1:  D ── E ──┘                            so A B D E come before C, while B and D are not ordered
//
// Each lane has a vector clock: how many operations of every lane are known to be complete before its next one. A wait
// names only what was emitted before it, so one pass in order of emission is enough. Per slot are kept: the last write,
// the commutative sums since, and the reads since; of each those that no later one is behind.
#pragma once

#include "common/schedule/interpreter.hpp"

#include <optional>
#include <vector>

namespace coppice::proof {

class LaneOrder {
public:
    struct Conflict {
        OpAt other;
        const char* other_does;  // "reads", "writes", "sums into"
        Slice slot;
    };

    explicit LaneOrder(const Schedule& schedule) : schedule_(schedule), slots_(schedule.buffers.size()) {}

    void begin_rank();
    // The operations in order of emission, their slices already known to lie in their buffers. The first conflict with
    // an earlier operation, if any.
    std::optional<Conflict> add(OpAt at, const Op& op);

private:
    enum class Access { Read, Write, Sum };
    struct SlotState {
        bool written = false;
        OpAt writer;
        std::vector<OpAt> readers;
        std::vector<OpAt> sums;
    };

    void wait(OpAt at, const Op& op);
    bool before(const OpAt& earlier, std::uint32_t lane) const;
    const OpAt* unordered(const std::vector<OpAt>& accesses, std::uint32_t lane) const;
    void replace_earlier(std::vector<OpAt>& accesses, OpAt at) const;
    std::optional<Conflict> touch(OpAt at, const Slice& slice, Access access);
    std::optional<Conflict> touch_slot(OpAt at, SlotState& state, Access access) const;

    const Schedule& schedule_;
    std::vector<std::vector<SlotState>> slots_;       // by buffer; made when first touched
    std::vector<Slice> touched_;                      // by this rank
    std::vector<std::uint32_t> emitted_;              // by lane
    std::vector<std::vector<std::uint32_t>> clocks_;  // by lane; shorter than all lanes: zeros
};

}  // namespace coppice::proof
