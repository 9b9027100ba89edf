#include "sim/program/show_schedule.hpp"

#include "common/diag/error.hpp"
#include "common/program/numbers.hpp"
#include "common/result/text_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

namespace coppice::program {

using Align = TextTable::Align;

namespace {

// "data[3]", "data[0..4)"; a buffer that has one slot: its name.
std::string slice_text(const Schedule& schedule, const Slice& slice) {
    const std::string& name = schedule.buffers[slice.buffer].name;
    if (slice.count == 1 && schedule.slots(slice.buffer) == 1) return name;
    if (slice.count == 1) return fmt::format("{}[{}]", name, slice.first);
    return fmt::format("{}[{}..{})", name, slice.first, slice.first + slice.count);
}

std::string peer_text(Rank peer) {
    if (peer == kAnyRank) return "any rank";
    if (peer == kMatchedRank) return "the rank heard from";
    return std::to_string(peer);
}

std::string op_text(const Schedule& schedule, const Op& op) {
    const std::string name(op_kind_name(op.kind));
    const std::string channel = op.channel == 0 ? "" : fmt::format(" (channel {})", op.channel);
    switch (op.kind) {
        case OpKind::Send:
            return fmt::format("{} {} to {}{}", name, slice_text(schedule, op.slice), peer_text(op.peer), channel);
        case OpKind::Recv:
        case OpKind::RecvReduce:
            return fmt::format("{} {} from {}{}{}", name, slice_text(schedule, op.slice), peer_text(op.peer), channel,
                               op.commutative ? " (in any order)" : "");
        case OpKind::Reduce:
        case OpKind::Copy:
            return fmt::format("{} {} from {}", name, slice_text(schedule, op.slice), slice_text(schedule, op.source));
        case OpKind::Compute:
        case OpKind::Update:
            return fmt::format("{} {}", name, op.work);
        case OpKind::Wait:
            return op.wait_lane == kAllLanes ? "wait for all lanes" : fmt::format("wait for lane {}", op.wait_lane);
    }
    return name;
}

// Calls visit(phase, round, rank, lane, op) for all operations: by phase, by round, by rank, in order of emission.
template <class Visit>
void for_each_round_op(const Schedule& schedule, Visit&& visit) {
    std::vector<RoundOps> ops(static_cast<std::size_t>(schedule.ranks));
    for (const Phase& phase : schedule.phases) {
        for (std::uint32_t round = 0; round < phase.rounds; ++round) {
            for (Rank rank = 0; rank < schedule.ranks; ++rank) {
                RoundOps& of_rank = ops[static_cast<std::size_t>(rank)];
                of_rank.items().clear();
                phase.rule(rank, round, of_rank);
                for (const RoundOps::Item& item : of_rank.items()) visit(phase, round, rank, item.lane, item.op);
            }
        }
    }
}

std::string heading(const Schedule& schedule, const Verdict& proof) {
    std::string text =
        fmt::format("schedule {}: {} worker{}", schedule.strategy, schedule.workers, schedule.workers == 1 ? "" : "s");
    if (schedule.servers() > 0)
        text += fmt::format(", {} dedicated (ranks from {})", schedule.servers(), schedule.workers);
    text += fmt::format("\n  hash      {}\n", schedule_hash(schedule));
    for (const BufferSpec& buffer : schedule.buffers)
        text +=
            fmt::format("  buffer    {}: {} chunk{} of the tensor{}\n", buffer.name,
                        schedule.tensors[buffer.tensor].chunks, schedule.tensors[buffer.tensor].chunks == 1 ? "" : "s",
                        buffer.copies == 1 ? "" : fmt::format(", {} copies", buffer.copies));
    const auto& sent = proof.traffic.sent_by_rank;
    const std::uint64_t most = sent.empty() ? 0 : *std::max_element(sent.begin(), sent.end());
    return text + fmt::format(
                      "  proved    every worker ends with every contribution once\n"
                      "  traffic   {} messages, {} chunks; {} at most from one rank; {} messages in a row\n",
                      grouped(proof.traffic.messages), grouped(proof.traffic.chunks_sent), grouped(most),
                      grouped(proof.critical_messages));
}

// A name in quotes as dot has it.
std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + "\"";
}

}  // namespace

std::string schedule_text(const Schedule& schedule, const Verdict& proof, std::optional<Rank> only) {
    struct Round {
        std::string title;
        // By rank and lane: its operations, one after another.
        std::map<std::pair<Rank, std::uint32_t>, std::vector<std::string>> lanes;
    };
    std::vector<Round> rounds;
    for_each_round_op(
        schedule, [&](const Phase& phase, std::uint32_t round, Rank rank, std::uint32_t lane, const Op& op) {
            const std::string title =
                phase.rounds == 1 ? phase.name : fmt::format("{}, round {} of {}", phase.name, round + 1, phase.rounds);
            if (rounds.empty() || rounds.back().title != title) rounds.push_back({title, {}});
            if (!only || *only == rank) rounds.back().lanes[{rank, lane}].push_back(op_text(schedule, op));
        });
    std::string text = heading(schedule, proof);
    for (const Round& round : rounds) {
        if (round.lanes.empty()) continue;
        TextTable table({{"rank"}, {"lane"}, {"operations, one after another", Align::Left}});
        Rank before = -1;
        for (const auto& [place, ops] : round.lanes) {
            table.row({place.first == before ? "" : std::to_string(place.first), std::to_string(place.second),
                       fmt::format("{}", fmt::join(ops, "; "))});
            before = place.first;
        }
        text += fmt::format("\n{}\n{}", round.title, table.text());
    }
    return text;
}

std::string schedule_dot(const Schedule& schedule) {
    struct End {
        std::size_t row;
        Slice slice;
        bool adds;
    };
    using Route = std::tuple<Rank, Rank, std::uint16_t>;
    std::map<Route, std::vector<End>> sends;
    std::map<Route, std::vector<End>> receives;
    std::vector<std::string> rows;  // one a round
    for_each_round_op(schedule, [&](const Phase& phase, std::uint32_t round, Rank rank, std::uint32_t, const Op& op) {
        const std::string title = phase.rounds == 1 ? phase.name : fmt::format("{} {}", phase.name, round + 1);
        if (rows.empty() || rows.back() != title) rows.push_back(title);
        const std::size_t row = rows.size() - 1;
        if (op.kind == OpKind::Send || op.kind == OpKind::Recv || op.kind == OpKind::RecvReduce)
            COPPICE_CHECK(op.peer >= 0, "{} has messages whose other end is known only when it runs",
                          schedule.strategy);
        if (op.kind == OpKind::Send) sends[{rank, op.peer, op.channel}].push_back({row, op.slice, false});
        if (op.kind == OpKind::Recv) receives[{op.peer, rank, op.channel}].push_back({row, op.slice, false});
        if (op.kind == OpKind::RecvReduce) receives[{op.peer, rank, op.channel}].push_back({row, op.slice, true});
    });
    rows.emplace_back("done");
    const auto node = [](Rank rank, std::size_t row) { return fmt::format("r{}_{}", rank, row); };
    std::string text = fmt::format("digraph {} {{\n  node [shape=point]; edge [fontsize=9];\n  splines=line;\n",
                                   quoted(schedule.strategy));
    for (std::size_t row = 0; row < rows.size(); ++row) {
        text += fmt::format("  {{ rank=same; t{} [shape=plaintext, label={}];", row, quoted(rows[row]));
        for (Rank rank = 0; rank < schedule.ranks; ++rank) text += " " + node(rank, row) + ";";
        text += " }\n";
        if (row > 0) text += fmt::format("  t{} -> t{} [style=invis];\n", row - 1, row);
    }
    for (Rank rank = 0; rank < schedule.ranks; ++rank) {
        const std::string what = rank < schedule.workers ? "rank" : "server";
        text += fmt::format("  {} [shape=box, label={}];\n", node(rank, 0), quoted(fmt::format("{} {}", what, rank)));
        for (std::size_t row = 1; row < rows.size(); ++row)
            text += fmt::format("  {} -> {} [arrowhead=none, color=gray, weight=10];\n", node(rank, row - 1),
                                node(rank, row));
    }
    for (const auto& [route, from] : sends) {
        const std::vector<End>& to = receives[route];
        for (std::size_t k = 0; k < from.size() && k < to.size(); ++k)
            text += fmt::format("  {} -> {} [label={}, style={}, constraint=false];\n",
                                node(std::get<0>(route), from[k].row), node(std::get<1>(route), to[k].row + 1),
                                quoted(slice_text(schedule, to[k].slice)), to[k].adds ? "solid" : "dashed");
    }
    return text + "}\n";
}

}  // namespace coppice::program
