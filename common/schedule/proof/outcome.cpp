// How a replay ends: with everybody done and the postcondition held against the sets, or with somebody stuck.
#include "common/diag/error.hpp"
#include "common/schedule/proof/describe.hpp"
#include "common/schedule/proof/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace coppice::proof {

namespace {

constexpr std::size_t kCycleShown = 6;

std::size_t members(const std::vector<std::uint64_t>& set) {
    std::size_t count = 0;
    for (const std::uint64_t word : set) count += static_cast<std::size_t>(std::popcount(word));
    return count;
}

// "worker 3", "workers 3, 4, 7 and 12 more"
std::string workers_in_words(const std::vector<std::uint64_t>& set) {
    constexpr std::size_t kShown = 3;
    std::string list;
    std::size_t shown = 0;
    for (std::size_t word = 0; word < set.size(); ++word) {
        for (std::uint64_t bits = set[word]; bits != 0 && shown < kShown; bits &= bits - 1, ++shown)
            list += fmt::format("{}{}", shown == 0 ? "" : ", ", word * 64 + std::countr_zero(bits));
    }
    const std::size_t count = members(set);
    return fmt::format("worker{} {}{}", count == 1 ? "" : "s", list,
                       count > kShown ? fmt::format(" and {} more", count - kShown) : "");
}

}  // namespace

// Follows who waits for whom from the first that is blocked, until somebody comes twice (a cycle) or waits for
// something that nobody will do.
void Replay::check_stuck() {
    std::vector<Blocked> chain;
    for (Rank rank = 0; rank < schedule_.ranks && chain.empty(); ++rank) {
        const auto pending = programs_[rank].pending();
        COPPICE_CHECK(programs_[rank].done() == pending.empty(), "rank {} has {} lanes pending", rank, pending.size());
        if (!pending.empty()) chain.push_back({rank, pending.front()});
    }
    if (chain.empty()) return;
    for (;;) {
        const Blocked& last = chain.back();
        std::string dead_end;
        const std::optional<Blocked> next = blocked_on(last, dead_end);
        if (!next) {
            verdict_.flaw = flaw_at(schedule_, last.rank, last.pending.at, last.pending.op, dead_end);
            return;
        }
        const auto again = std::find_if(chain.begin(), chain.end(), [&](const Blocked& earlier) {
            return earlier.rank == next->rank && earlier.pending.at == next->pending.at;
        });
        if (again != chain.end()) {
            chain.erase(chain.begin(), again);
            const Blocked& first = chain.front();
            verdict_.flaw = flaw_at(schedule_, first.rank, first.pending.at, first.pending.op, cycle_in_words(chain));
            return;
        }
        chain.push_back(*next);
    }
}

std::optional<Replay::Blocked> Replay::pending_on(Rank rank, std::uint32_t lane_number) const {
    for (const RankProgram::Pending& pending : programs_[rank].pending())
        if (pending.at.lane == lane_number) return Blocked{rank, pending};
    return std::nullopt;
}

std::optional<Replay::Blocked> Replay::blocked_on(const Blocked& blocked, std::string& dead_end) {
    const Op& op = blocked.pending.op;
    const Rank rank = blocked.rank;
    if (op.kind == OpKind::Wait) {
        if (op.wait_lane != kAllLanes) return pending_on(rank, op.wait_lane);
        const auto pending = programs_[rank].pending();
        // Some other lane: what this one has before the wait is complete.
        for (const RankProgram::Pending& other : pending)
            if (other.at.lane != blocked.pending.at.lane && other.op.kind != OpKind::Wait) return Blocked{rank, other};
        for (const RankProgram::Pending& other : pending)
            if (other.at.lane != blocked.pending.at.lane) return Blocked{rank, other};
        COPPICE_CHECK(false, "rank {} waits for itself", rank);
    }
    const Rank peer = lane(rank, blocked.pending.at.lane).peer;
    if (op.kind == OpKind::Send) {
        for (const Rank from : {rank, kAnyRank}) {
            const Route* route = routes_.find(from, peer, op.channel);
            if (route == nullptr || route->recv.count == 0) continue;
            if (auto next = pending_on(peer, route->recv.lane)) return next;
        }
        dead_end = fmt::format("is never received: rank {} has no receive left for it", peer);
        return std::nullopt;
    }
    for (const Route& route : routes_.all()) {
        const bool may_serve = route.send.count > 0 && route.channel == op.channel &&
                               (route.to == rank || route.to == kMatchedRank) &&
                               (peer == kAnyRank || route.from == peer) && route.from != rank;
        if (!may_serve) continue;
        if (auto next = pending_on(route.from, route.send.lane)) return next;
    }
    dead_end = "is never sent: nobody has a message left for it";
    return std::nullopt;
}

std::string Replay::cycle_in_words(const std::vector<Blocked>& cycle) const {
    std::string text = "deadlock: it waits for ";
    for (std::size_t i = 1; i < cycle.size() && i <= kCycleShown; ++i) {
        const RankProgram::Pending& pending = cycle[i].pending;
        text += fmt::format("{}, which waits for ", in_words(schedule_, cycle[i].rank, pending.at, pending.op));
    }
    if (cycle.size() > kCycleShown + 1) text += fmt::format("... {} more ..., ", cycle.size() - 1 - kCycleShown);
    return text + "the first";
}

void Replay::check_postcondition() {
    std::vector<std::uint64_t> everybody(words_);
    for (std::int32_t worker = 0; worker < schedule_.workers; ++worker)
        everybody[worker / 64] |= std::uint64_t{1} << worker % 64;
    for (Rank rank = 0; rank < schedule_.ranks && verdict_.ok(); ++rank) {
        const bool worker = rank < schedule_.workers;
        if (schedule_.postcondition == Postcondition::AllReduce) {
            if (worker) check_result(rank, everybody);
            continue;
        }
        std::vector<std::uint64_t> own(words_);
        if (worker) own[rank / 64] = std::uint64_t{1} << rank % 64;
        check_result(rank, worker ? own : everybody);
    }
}

// That nothing is in a sum twice was seen when it was added.
void Replay::check_result(Rank rank, const std::vector<std::uint64_t>& wanted) {
    const std::uint16_t buffer = schedule_.result_buffer;
    const Image& held = image(rank, buffer);
    const std::uint32_t chunks = schedule_.tensors[schedule_.buffers[buffer].tensor].chunks;
    for (std::uint32_t slot = 0; slot < schedule_.slots(buffer); ++slot) {
        std::vector<std::uint64_t> missing(words_);
        for (std::size_t word = 0; word < words_; ++word)
            missing[word] = wanted[word] & ~held.sets[slot * words_ + word];
        const std::size_t missed = members(missing);
        if (missed == 0) continue;
        const std::string place = in_words(schedule_, Slice{.buffer = buffer, .first = slot, .count = 1});
        const std::string outcome = fmt::format("ends with {} of {} contributions, without {}",
                                                members(wanted) - missed, members(wanted), workers_in_words(missing));
        bool explains = false;
        for (std::size_t word = 0; word < words_ && loss_ && loss_->slot % chunks == slot % chunks; ++word)
            explains = explains || (missing[word] & loss_->lost[word]) != 0;
        const OpAt writer = held.writer[slot];
        if (explains) {
            verdict_.flaw = flaw_at(schedule_, loss_->rank, loss_->at, loss_->op,
                                    fmt::format("overwrites what {} contributed, and rank {}'s {} {}",
                                                workers_in_words(loss_->lost), rank, place, outcome));
        } else if (writer.lane != kAllLanes) {
            verdict_.flaw = flaw_at(schedule_, rank, writer, op_at(schedule_, rank, writer),
                                    fmt::format("is the last to write {}, which {}", place, outcome));
        } else {
            verdict_.flaw = Flaw{.rank = rank,
                                 .message = fmt::format("rank {}: nothing writes {}, which {}", rank, place, outcome)};
        }
        return;
    }
}

}  // namespace coppice::proof
