// One synchronous parameter server: all push, the server sums, all pull.
//
//     w1 ─┐            ┌─▶ w1      n messages into the server, which share its link (the incast), n sums
//     w2 ─┼─▶ server ──┼─▶ w2      on its processor, n messages out: the reason why it does not scale.
//     w3 ─┘            └─▶ w3
//
//     placement  colocated: rank 0 is worker and server (n = p-1), as in FireCaffe; sums on its device
//                dedicated: a rank behind the workers, on a machine of its own (n = p); sums on its processor
//     sum        arrival: summed as they come, one lane a worker; rounding depends on the order
//                ordered: received into a stage of n copies, then summed in the order of ranks, so that a run can
//                         be repeated bit for bit
//
// The server's lane i speaks with its i-th worker. Between push and pull lane 0 waits for all lanes and the others for
// lane 0: n waits, not n^2.
//
// n pushes leave n senders at the same time and arrive together, since they share the server's link evenly; so the sums
// are not overlapped with the wire. The server posts its n sends one after another, each with its overhead; the last
// cannot end before its own n o + alpha + W/B:
//
//     T = o + alpha + n W/B  +  n W/gamma  +  alpha + max(o + n W/B, n o + W/B)
//
// Sources: Li et al., "Scaling distributed machine learning with the parameter server" (OSDI 2014); Dean et al. (2012);
// Iandola et al., "FireCaffe", arXiv 1511.00175: its |W| p / BW counts one way.
#include "common/strategy/builtin.hpp"

#include <algorithm>

namespace coppice::builtin {

namespace {

constexpr std::string_view kName = "ps";
constexpr std::uint16_t kStage = 1;
constexpr Slice kAll{.buffer = 0, .first = 0, .count = 1};

const std::vector<ParameterSpec>& specs() {
    static const std::vector<ParameterSpec> table = {
        {.name = "placement",
         .help = "the server is rank 0, a worker too, or has a machine of its own",
         .otherwise = "colocated",
         .choices = {"colocated", "dedicated"}},
        {.name = "sum",
         .help = "as gradients arrive, or staged and in the order of ranks (repeatable bit for bit)",
         .otherwise = "arrival",
         .choices = {"arrival", "ordered"}}};
    return table;
}

struct Plan {
    explicit Plan(const CollectiveCase& collective)
        : workers(collective.workers),
          dedicated(value_of(specs(), collective.parameters, "placement") == "dedicated"),
          ordered(value_of(specs(), collective.parameters, "sum") == "ordered"),
          server(dedicated ? workers : 0),
          clients(workers == 1 ? 0 : static_cast<std::uint32_t>(dedicated ? workers : workers - 1)) {}
    Rank client(std::uint32_t i) const { return static_cast<Rank>(i) + (dedicated ? 0 : 1); }

    std::int32_t workers;
    bool dedicated;
    bool ordered;
    Rank server;
    std::uint32_t clients;  // n
};

void push(const Plan& plan, Rank rank, RoundOps& ops) {
    if (rank != plan.server) return ops.send(0, plan.server, kAll);
    for (std::uint32_t i = 0; i < plan.clients; ++i) {
        if (plan.ordered) {
            ops.recv(i, plan.client(i), {.buffer = kStage, .first = i, .count = 1});
        } else {
            ops.recv_reduce_commutative(i, plan.client(i), kAll);
        }
    }
}

void pull(const Plan& plan, Rank rank, RoundOps& ops) {
    if (rank != plan.server) return ops.recv(0, plan.server, kAll);
    ops.wait_all(0);
    if (plan.ordered) ops.reduce(0, kAll, {.buffer = kStage, .first = 0, .count = plan.clients}, plan.clients);
    for (std::uint32_t i = 1; i < plan.clients; ++i) ops.wait(i, 0);
    for (std::uint32_t i = 0; i < plan.clients; ++i) ops.send(i, plan.client(i), kAll);
}

// One worker has nobody to exchange anything with: no messages, and no server either.
Schedule schedule(const CollectiveCase& collective) {
    const Plan plan(collective);
    Schedule result = in_place_schedule(canonical_name(kName, specs(), collective.parameters), plan.workers, 1);
    if (plan.clients == 0) return result;
    if (plan.dedicated) ++result.ranks;
    if (plan.ordered) result.buffers.push_back({.name = "stage", .tensor = 0, .copies = plan.clients});
    result.phases.push_back({.name = "push", .rounds = 1, .rule = [plan](Rank rank, std::uint32_t, RoundOps& ops) {
                                 push(plan, rank, ops);
                             }});
    result.phases.push_back({.name = "pull", .rounds = 1, .rule = [plan](Rank rank, std::uint32_t, RoundOps& ops) {
                                 pull(plan, rank, ops);
                             }});
    return result;
}

Contract contract(const CollectiveCase& collective) {
    const std::uint64_t n = Plan(collective).clients;
    return {
        .chunks = 1, .steps = n > 0 ? 2u : 0u, .chunks_sent = 2 * n, .max_sent_by_rank = n, .max_received_by_rank = n};
}

double closed_form_s(const CollectiveCase& collective, std::uint64_t elements, std::uint32_t element_bytes,
                     const CostModel& cost) {
    const Plan plan(collective);
    if (plan.clients == 0) return 0;
    const std::uint64_t bytes = elements * element_bytes;
    const double wire_s = cost.incast_s(plan.clients, bytes);
    const double push_s = cost.overhead_s() + wire_s;
    const double sum_s = plan.clients * cost.sum_s(bytes, plan.dedicated ? SumPlace::Host : SumPlace::Device);
    const double pull_s =
        std::max(cost.overhead_s() + wire_s, plan.clients * cost.overhead_s() + cost.message_s(bytes));
    return push_s + sum_s + pull_s;
}

}  // namespace

Strategy ps() {
    return {.name = kName,
            .help = "one synchronous parameter server: all workers push, the server sums, all pull",
            .closed_form = "2 alpha + o + n W/B + max(o + n W/B, n o + W/B) + n W/gamma, n = p-1 (dedicated: p)",
            .source = "Li et al., OSDI 2014; Dean et al. 2012; FireCaffe, arXiv 1511.00175",
            .parameters = specs(),
            .refuses = refuses_no_workers,
            .schedule = schedule,
            .contract = contract,
            .closed_form_s = closed_form_s};
}

}  // namespace coppice::builtin
