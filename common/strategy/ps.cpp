// Synchronous parameter servers: all push, each server sums its part, all pull.
//
//     w1 ─┐            ┌─▶ w1      n messages into the server, which share its link (the incast), n sums
//     w2 ─┼─▶ server ──┼─▶ w2      on its processor, n messages out: the reason why one does not scale.
//     w3 ─┘            └─▶ w3
//
//     placement  colocated: server s is worker s p / S as well (n = p-1), as in FireCaffe; sums on its device
//                dedicated: ranks behind the workers, each on a machine of its own (n = p); sums on its processor
//     sum        arrival: summed as they come, one lane a worker; rounding depends on the order
//                ordered: received into a stage of n copies, then summed in the order of ranks, so that a run can
//                         be repeated bit for bit; for one server with one partition
//     servers    S, or all: as many as workers. Chunk c of the tensor is summed by server c mod S
//     partitions K for each server: the tensor is cut in S K chunks (partition_bytes of BytePS: W / (S K))
//     pull       after-all: a server hands out when it has all its partitions; each: every one as soon as it is summed,
//                while the next are pushed
//
// Lanes of a server: i receives from its i-th client, and hands out to it (pull=each: lane n + i does, and lane 2 n
// waits for all sums of a partition on behalf of these: 2 n waits, not n^2). Lanes of a client, behind those: one for
// each server, and one more to pull (pull=each). Clients begin with different servers.
//
// One server, one partition: n pushes leave n senders at the same time and arrive together, since they share the
// server's link evenly; so the sums are not overlapped with the wire. The server posts its n sends one after another,
// each with its overhead; the last cannot end before its own n o + alpha + W/B:
//
//     T = o + alpha + n W/B  +  n W/gamma  +  alpha + max(o + n W/B, n o + W/B)
//
// Otherwise an upper bound, with w = ceil(W / (S K)), of everything one after another; the busiest link has l = n
// messages one way (dedicated: max(n, S)), that of a worker which is a server too m = n + S - 1, pushes and pulls
// (dedicated: m = l):
//
//     after-all    T <= K ((S + n) o + 2 (alpha + l w/B) + n w/gamma)
//     each         T <= K ((S + n) o + alpha + m w/B + n w/gamma) + alpha + l w/B
//
// S = p servers among the workers with long messages: 2 (p-1)/p W/B, as a ring.
// Sources: Li et al., "Scaling distributed machine learning with the parameter server" (OSDI 2014); Dean et al. (2012);
// Iandola et al., "FireCaffe", arXiv 1511.00175: its |W| p / BW counts one way. Jiang et al., "A unified architecture
// for accelerating distributed DNN training" (BytePS, OSDI 2020), on partitions and servers on every machine.
#include "common/strategy/builtin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace coppice::builtin {

namespace {

constexpr std::string_view kName = "ps";
constexpr std::uint16_t kStage = 1;

const std::vector<ParameterSpec>& specs() {
    static const std::vector<ParameterSpec> table = {
        {.name = "placement",
         .help = "a server is a worker too, or has a machine of its own",
         .otherwise = "colocated",
         .choices = {"colocated", "dedicated"}},
        {.name = "sum",
         .help = "as gradients arrive, or staged and in the order of ranks (repeatable bit for bit; one server, one "
                 "partition)",
         .otherwise = "arrival",
         .choices = {"arrival", "ordered"}},
        {.name = "servers",
         .help = "how many share the tensor; all: as many as workers",
         .otherwise = "1",
         .choices = {"all"},
         .lowest = 1,
         .highest = 1024,
         .tried = {"all"}},
        {.name = "partitions", .help = "pieces of a server's share", .otherwise = "1", .lowest = 1, .highest = 256},
        {.name = "pull",
         .help = "when a server has summed all its partitions, or each as soon as it is summed",
         .otherwise = "after-all",
         .choices = {"after-all", "each"}}};
    return table;
}

std::string_view value(const CollectiveCase& collective, std::string_view name) {
    return value_of(specs(), collective.parameters, name);
}

std::uint32_t number(const CollectiveCase& collective, std::string_view name) {
    return static_cast<std::uint32_t>(number_of(specs(), collective.parameters, name));
}

std::uint32_t servers_of(const CollectiveCase& collective) {
    return value(collective, "servers") == "all" ? static_cast<std::uint32_t>(collective.workers)
                                                 : number(collective, "servers");
}

struct Plan {
    explicit Plan(const CollectiveCase& collective)
        : workers(collective.workers),
          dedicated(value(collective, "placement") == "dedicated"),
          ordered(value(collective, "sum") == "ordered"),
          each(value(collective, "pull") == "each"),
          servers(workers == 1 ? 0 : servers_of(collective)),
          partitions(number(collective, "partitions")),
          clients(workers == 1 ? 0 : static_cast<std::uint32_t>(dedicated ? workers : workers - 1)) {}

    Rank server(std::uint32_t s) const {
        const auto count = static_cast<std::int64_t>(servers);
        return dedicated ? workers + static_cast<Rank>(s) : static_cast<Rank>(s * std::int64_t{workers} / count);
    }
    // The server that the rank is.
    std::optional<std::uint32_t> served_by(Rank rank) const {
        if (dedicated) {
            if (rank < workers) return std::nullopt;
            return static_cast<std::uint32_t>(rank - workers);
        }
        const auto s = static_cast<std::uint32_t>((rank * std::int64_t{servers} + workers - 1) / workers);
        if (s < servers && server(s) == rank) return s;
        return std::nullopt;
    }
    bool is_client(Rank rank) const { return rank < workers; }
    // The i-th client of the server on that rank.
    Rank client(Rank server_rank, std::uint32_t i) const {
        const auto other = static_cast<Rank>(i);
        return !dedicated && other >= server_rank ? other + 1 : other;
    }
    Slice chunk(std::uint32_t s, std::uint32_t partition) const { return {0, partition * servers + s, 1}; }
    std::uint32_t chunks() const { return clients == 0 ? 1 : servers * partitions; }

    // Two servers among the workers push to each other and hand out to each other.
    std::uint16_t pull_channel() const { return servers > 1 ? 1 : 0; }

    // --- lanes ---
    std::uint32_t hand_out_lane(std::uint32_t i) const { return each ? clients + i : i; }
    std::uint32_t gate_lane() const { return each ? 2 * clients : 0; }
    std::uint32_t first_client_lane(Rank rank) const {
        if (!served_by(rank)) return 0;
        return each ? 2 * clients + 1 : clients;
    }
    std::uint32_t push_lane(Rank rank, std::uint32_t s) const { return first_client_lane(rank) + s; }
    std::uint32_t pull_lane(Rank rank, std::uint32_t s) const {
        return first_client_lane(rank) + (each ? servers : 0) + s;
    }

    std::int32_t workers;
    bool dedicated;
    bool ordered;
    bool each;
    std::uint32_t servers;     // S
    std::uint32_t partitions;  // K
    std::uint32_t clients;     // n
};

// All servers but the rank's own, each rank beginning with another one.
template <class Visit>
void for_each_server(const Plan& plan, Rank rank, Visit&& visit) {
    const auto first = static_cast<std::uint32_t>(rank * std::int64_t{plan.servers} / plan.workers) + 1;
    for (std::uint32_t t = 0; t < plan.servers; ++t) {
        const std::uint32_t s = (first + t) % plan.servers;
        if (plan.server(s) != rank) visit(s);
    }
}

void take_in(const Plan& plan, Rank rank, std::uint32_t s, std::uint32_t partition, RoundOps& ops) {
    for (std::uint32_t i = 0; i < plan.clients; ++i) {
        if (plan.ordered)
            ops.recv(i, plan.client(rank, i), {.buffer = kStage, .first = i, .count = 1});
        else
            ops.recv_reduce_commutative(i, plan.client(rank, i), plan.chunk(s, partition));
    }
}

// The gate's lane behind all that has been taken in, and the lanes that hand out behind it.
void sums_complete(const Plan& plan, std::uint32_t s, RoundOps& ops) {
    const std::uint32_t gate = plan.gate_lane();
    for (std::uint32_t i = 0; i < plan.clients; ++i)
        if (i != gate) ops.wait(gate, i);
    if (plan.ordered)
        ops.reduce(gate, plan.chunk(s, 0), {.buffer = kStage, .first = 0, .count = plan.clients}, plan.clients);
    for (std::uint32_t i = 0; i < plan.clients; ++i)
        if (plan.hand_out_lane(i) != gate) ops.wait(plan.hand_out_lane(i), gate);
}

void hand_out(const Plan& plan, Rank rank, std::uint32_t s, std::uint32_t partition, RoundOps& ops) {
    for (std::uint32_t i = 0; i < plan.clients; ++i)
        ops.send(plan.hand_out_lane(i), plan.client(rank, i), plan.chunk(s, partition), plan.pull_channel());
}

void push(const Plan& plan, Rank rank, std::uint32_t partition, RoundOps& ops) {
    if (const auto s = plan.served_by(rank)) take_in(plan, rank, *s, partition, ops);
    if (!plan.is_client(rank)) return;
    for_each_server(plan, rank, [&](std::uint32_t s) {
        ops.send(plan.push_lane(rank, s), plan.server(s), plan.chunk(s, partition));
    });
}

void pull(const Plan& plan, Rank rank, std::uint32_t partition, RoundOps& ops) {
    if (const auto s = plan.served_by(rank)) hand_out(plan, rank, *s, partition, ops);
    if (!plan.is_client(rank)) return;
    for_each_server(plan, rank, [&](std::uint32_t s) {
        ops.recv(plan.pull_lane(rank, s), plan.server(s), plan.chunk(s, partition), plan.pull_channel());
    });
}

void push_and_pull(const Plan& plan, Rank rank, std::uint32_t partition, RoundOps& ops) {
    if (const auto s = plan.served_by(rank)) {
        take_in(plan, rank, *s, partition, ops);
        sums_complete(plan, *s, ops);
        hand_out(plan, rank, *s, partition, ops);
    }
    if (!plan.is_client(rank)) return;
    for_each_server(plan, rank, [&](std::uint32_t s) {
        ops.send(plan.push_lane(rank, s), plan.server(s), plan.chunk(s, partition));
        ops.wait(plan.pull_lane(rank, s), plan.push_lane(rank, s));  // what is overwritten has been sent
        ops.recv(plan.pull_lane(rank, s), plan.server(s), plan.chunk(s, partition), plan.pull_channel());
    });
}

std::optional<std::string> refuses(const CollectiveCase& collective) {
    if (const auto refusal = refuses_no_workers(collective)) return refusal;
    const bool parts = value(collective, "servers") != "1" || value(collective, "partitions") != "1";
    if (parts && value(collective, "sum") == "ordered") return "sum=ordered is for one server with one partition";
    const bool colocated = value(collective, "placement") == "colocated";
    if (collective.workers > 1 && colocated && servers_of(collective) > static_cast<std::uint32_t>(collective.workers))
        return fmt::format("{} servers among {} workers", servers_of(collective), collective.workers);
    return std::nullopt;
}

// One worker has nobody to exchange anything with: no messages, and no server either.
Schedule schedule(const CollectiveCase& collective) {
    const Plan plan(collective);
    Schedule result =
        in_place_schedule(canonical_name(kName, specs(), collective.parameters), plan.workers, plan.chunks());
    if (plan.clients == 0) return result;
    if (plan.dedicated) result.ranks += static_cast<std::int32_t>(plan.servers);
    if (plan.ordered) result.buffers.push_back({.name = "stage", .tensor = 0, .copies = plan.clients});
    using Round = void (*)(const Plan&, Rank, std::uint32_t, RoundOps&);
    const auto add = [&](const char* name, Round round) {
        result.phases.push_back({.name = name,
                                 .rounds = plan.partitions,
                                 .uniform = true,
                                 .rule = [plan, round](Rank rank, std::uint32_t partition, RoundOps& ops) {
                                     round(plan, rank, partition, ops);
                                 }});
    };
    if (plan.each) {
        add("push and pull", push_and_pull);
        return result;
    }
    add("push", push);
    result.phases.push_back({.name = "sums", .rounds = 1, .rule = [plan](Rank rank, std::uint32_t, RoundOps& ops) {
                                 if (const auto s = plan.served_by(rank)) sums_complete(plan, *s, ops);
                             }});
    add("pull", pull);
    return result;
}

// A server among the workers hands out to n and pushes to S - 1.
Contract contract(const CollectiveCase& collective) {
    const Plan plan(collective);
    const std::uint64_t n = plan.clients;
    const std::uint64_t k = plan.partitions;
    const std::uint64_t s = plan.servers;
    const std::uint64_t most = plan.dedicated ? std::max(n, s) * k : n == 0 ? 0 : (n + s - 1) * k;
    return {.chunks = plan.chunks(),
            .steps = n == 0 ? 0 : static_cast<std::uint32_t>(plan.each ? k + 1 : 2 * k),
            .chunks_sent = 2 * n * s * k,
            .max_sent_by_rank = most,
            .max_received_by_rank = most,
            .exact = s * k <= 1};
}

double closed_form_s(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                     const CostModel& cost) {
    const Plan plan(collective);
    if (plan.clients == 0) return 0;
    const double n = plan.clients;
    const double s = plan.servers;
    const double k = plan.partitions;
    const double o = cost.overhead_s();
    const std::uint64_t bytes = largest_chunk_bytes(elements, element_bytes, plan.chunks());
    const double sums_s = n * cost.sum_s(bytes, plan.dedicated ? SumPlace::Host : SumPlace::Device);
    if (plan.servers * plan.partitions == 1) {
        const double incast_s = cost.incast_s(plan.clients, bytes);
        return o + incast_s + sums_s + std::max(o + incast_s, n * o + cost.message_s(bytes));
    }
    const double overheads_s = (s + n) * o;
    const std::uint32_t one_way = plan.dedicated ? std::max(plan.clients, plan.servers) : plan.clients;  // l
    const std::uint32_t both_ways = plan.dedicated ? one_way : plan.clients + plan.servers - 1;          // m
    const double one_way_s = cost.incast_s(one_way, bytes);  // alpha + l w/B
    if (!plan.each) return k * (overheads_s + 2 * one_way_s + sums_s);
    return k * (overheads_s + cost.incast_s(both_ways, bytes) + sums_s) + one_way_s;
}

}  // namespace

Strategy ps() {
    return {.name = kName,
            .help = "synchronous parameter servers, one or many: all workers push, servers sum, all pull",
            .closed_form =
                "2 alpha + o + n W/B + max(o + n W/B, n o + W/B) + n W/gamma, n = p-1 (dedicated: p); S servers, K "
                "partitions, w = W/(S K): at most K ((S + n) o + 2 (alpha + l w/B) + n w/gamma), l = n (dedicated: "
                "max(n, S))",
            .source = "Li et al., OSDI 2014; Dean et al. 2012; FireCaffe, arXiv 1511.00175; BytePS, OSDI 2020",
            .parameters = specs(),
            .refuses = refuses,
            .schedule = schedule,
            .contract = contract,
            .closed_form_s = closed_form_s};
}

}  // namespace coppice::builtin
