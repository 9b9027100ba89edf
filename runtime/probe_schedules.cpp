#include "runtime/probe_schedules.hpp"

namespace coppice {

namespace {

constexpr Slice kOut{.buffer = 0, .first = 0, .count = 1};
constexpr Slice kNothing{.buffer = 0, .first = 0, .count = 0};

// One tensor; what is sent, and room for `arrivals` messages.
Schedule pattern(std::string name, std::int32_t ranks, std::uint32_t arrivals) {
    Schedule schedule;
    schedule.strategy = std::move(name);
    schedule.workers = schedule.ranks = ranks;
    schedule.tensors = {{"message", 1}};
    schedule.buffers = {{"out", 0, 1, BufferInit::Zero}, {"in", 0, arrivals, BufferInit::Zero}};
    return schedule;
}

Slice arrival(std::uint32_t number) {
    return {.buffer = 1, .first = number, .count = 1};
}

}  // namespace

Schedule round_trips(std::uint32_t rounds) {
    Schedule schedule = pattern("round trips", 2, 1);
    schedule.phases.push_back({.name = "there and back",
                               .rounds = rounds,
                               .uniform = true,
                               .rule = [](Rank rank, std::uint32_t, RoundOps& ops) {
                                   if (rank == 0) ops.send(0, 1, kOut);
                                   ops.recv(0, 1 - rank, arrival(0));
                                   if (rank == 1) ops.send(0, 0, kOut);
                               }});
    return schedule;
}

Schedule ring_shifts(std::int32_t ranks, std::uint32_t rounds) {
    Schedule schedule = pattern("ring shifts", ranks, 1);
    schedule.phases.push_back(
        {.name = "shift", .rounds = rounds, .uniform = true, .rule = [ranks](Rank rank, std::uint32_t, RoundOps& ops) {
             ops.send(0, (rank + 1) % ranks, kOut);
             ops.recv(1, (rank + ranks - 1) % ranks, arrival(0));
             ops.wait(0, 1);
         }});
    return schedule;
}

Schedule incast(std::int32_t ranks) {
    Schedule schedule = pattern("incast", ranks, static_cast<std::uint32_t>(ranks - 1));
    schedule.phases.push_back({.name = "incast", .rounds = 1, .rule = [ranks](Rank rank, std::uint32_t, RoundOps& ops) {
                                   constexpr std::uint16_t kGo = 1;  // a channel of its own
                                   if (rank > 0) {
                                       ops.recv(0, 0, kNothing, kGo);
                                       ops.send(0, 0, kOut);
                                       return;
                                   }
                                   // A lane a sender: all of them at once.
                                   for (Rank other = 1; other < ranks; ++other) {
                                       const auto lane = static_cast<std::uint32_t>(other - 1);
                                       ops.send(lane, other, kNothing, kGo);
                                       ops.recv(lane, other, arrival(lane));
                                   }
                               }});
    return schedule;
}

}  // namespace coppice
