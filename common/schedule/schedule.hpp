// A schedule: what each rank does in a collective, as data. It has no sizes (those are in a Binding), no
// durations (CostModel) and no executor (the interpreter plays it on a port).
//
//   rank 0   lane 0:  send ──── send ──── send            operations of one lane run one after another,
//            lane 1:  recv_reduce ── recv_reduce ──       lanes run side by side like CUDA streams,
//                         └──wait──▶ (lane 0)             a wait orders one lane behind others.
//
// Buffers are named, per rank, and divided into chunks ("slots"); an operation works on a Slice of consecutive
// slots. Messages: the k-th send from a to b on a channel meets the k-th receive of b from a on that channel,
// and is a rendezvous: data moves once both are posted. For each (sender, receiver, channel) all sends are on
// one lane and all receives on one lane, so k is well defined (the verifier insists).
//
// Compact: a ring on 1024 ranks has 2,095,104 messages, so a schedule holds phases of rounds and a rule
// (rank, round) -> operations that is expanded lazily, rank by rank, while it is played.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace coppice {

using Rank = std::int32_t;
constexpr Rank kAnyRank = -1;      // recv, recv_reduce: whichever rank's message on this channel comes first
constexpr Rank kMatchedRank = -2;  // send: to the rank that the latest kAnyRank receive of this lane heard from

enum class OpKind : std::uint8_t {
    Send,        // slice -> peer
    Recv,        // peer's message overwrites slice
    RecvReduce,  // peer's message is added to slice (received aside, then summed: see gamma in docs/cost-model.md)
    Reduce,      // slice += each of `inputs` equal blocks of source, in their order
    Copy,        // slice = source
    Compute,     // occupies the rank's device for work `work` of the binding (forward, backward of some layers)
    Update,      // the same, for the optimiser's step
    Wait,        // nothing; the lane goes on when the operations it names are complete
};

std::string_view op_kind_name(OpKind kind);  // "send", "recv_reduce", ...

struct Slice {
    std::uint16_t buffer = 0;
    std::uint32_t first = 0;  // slot
    std::uint32_t count = 0;  // slots; 0 is a legal, empty message
};

struct Op {
    OpKind kind = OpKind::Wait;
    // RecvReduce only: several of these may be under way on one slice at a time, in any order. The sum is then
    // correct but its floating-point rounding depends on the order of arrival: not repeatable bit for bit from run
    // to run (all ranks still end with the same bits, since one place sums). Schedules that must be repeatable
    // receive into slots of their own and Reduce them in a fixed order.
    bool commutative = false;
    std::uint16_t channel = 0;
    Rank peer = 0;
    Slice slice{};
    Slice source{};            // Reduce, Copy
    std::uint32_t inputs = 1;  // Reduce: source.count == inputs * slice.count
    std::uint32_t work = 0;    // Compute, Update: index into Binding::work_s
    // Wait: the first `wait_count` operations (waits included) emitted to lane wait_lane; to all lanes together in
    // order of emission where wait_lane is kAllLanes. Filled in by RoundOps.
    std::uint32_t wait_lane = 0;
    std::uint64_t wait_count = 0;
};

constexpr std::uint32_t kAllLanes = 0xffffffff;

// What a rule emits. Order of emission matters twice: within a lane it is the order of execution, and a wait
// refers to what has been emitted (by this and all earlier rounds of this rank) before it, as a CUDA event recorded now
// would.
class RoundOps {
public:
    struct Item {
        std::uint32_t lane;
        Op op;
    };

    void send(std::uint32_t lane, Rank to, Slice slice, std::uint16_t channel = 0);
    void recv(std::uint32_t lane, Rank from, Slice slice, std::uint16_t channel = 0);
    void recv_reduce(std::uint32_t lane, Rank from, Slice slice, std::uint16_t channel = 0);
    void recv_reduce_commutative(std::uint32_t lane, Rank from, Slice slice, std::uint16_t channel = 0);
    void reduce(std::uint32_t lane, Slice target, Slice source, std::uint32_t inputs);
    void copy(std::uint32_t lane, Slice target, Slice source);
    void compute(std::uint32_t lane, std::uint32_t work);
    void update(std::uint32_t lane, std::uint32_t work);
    void wait(std::uint32_t lane, std::uint32_t for_lane);  // until all emitted to for_lane so far is complete
    void wait_all(std::uint32_t lane);                      // until all emitted so far to any lane is complete

    // The interpreter's side: hands over what was emitted since the last call and keeps the counts.
    std::vector<Item>& items() { return items_; }

private:
    void emit(std::uint32_t lane, const Op& op);
    std::vector<Item> items_;
    std::vector<std::uint64_t> emitted_;  // per lane
    std::uint64_t emitted_total_ = 0;
};

struct TensorSpec {
    std::string name;
    std::uint32_t chunks = 1;  // how many nearly equal pieces (chunk_range in binding.hpp) it is divided into
};

enum class BufferInit : std::uint8_t {
    Contribution,  // holds this worker's own contribution (on a server: zeros)
    Zero,          // zeros, the neutral element
    Undefined,     // must be written before it is read
};

// `copies` images of a tensor one after another: slot = copy * chunks + chunk.
struct BufferSpec {
    std::string name;
    std::uint16_t tensor = 0;
    std::uint32_t copies = 1;
    BufferInit init = BufferInit::Undefined;
};

struct Phase {
    std::string name;  // "reduce-scatter"
    std::uint32_t rounds = 0;
    // Declares that every round has, for each rank, the same operations but for the slots: same kinds, lanes, peers,
    // channels and slice lengths. An executor may then play some rounds and advance by the rest; the verifier expands
    // all and refuses a false declaration.
    bool uniform = false;
    std::function<void(Rank, std::uint32_t round, RoundOps&)> rule;
};

// What must hold at the end, per slot of the result buffer.
enum class Postcondition : std::uint8_t {
    AllReduce,    // every worker has every worker's contribution exactly once
    AsyncServer,  // every server has every worker's contribution exactly once; every worker has its own, and nothing
                  // twice
};

struct Schedule {
    std::string strategy;  // canonical name with parameters: "ps(placement=dedicated)"
    std::int32_t workers = 0;
    std::int32_t ranks = 0;  // workers first, then dedicated servers
    std::vector<TensorSpec> tensors;
    std::vector<BufferSpec> buffers;
    std::uint16_t result_buffer = 0;  // where precondition and postcondition are stated
    std::vector<Phase> phases;
    Postcondition postcondition = Postcondition::AllReduce;

    std::int32_t servers() const { return ranks - workers; }
    std::uint32_t slots(std::uint16_t buffer) const {
        return tensors[buffers[buffer].tensor].chunks * buffers[buffer].copies;
    }
};

// Calls visit(lane, op) for all operations of one rank in order of emission, with waits resolved.
void for_each_op(const Schedule& schedule, Rank rank, const std::function<void(std::uint32_t lane, const Op&)>& visit);

// A cheap survey: of a uniform phase only the first round, whose operations count `times` times. The counts of waits
// mean nothing here.
void for_each_op_repeated(const Schedule& schedule, Rank rank,
                          const std::function<void(std::uint32_t lane, const Op&, std::uint64_t times)>& visit);

// How many lanes a rank uses: one more than the highest it ever emits to. Of a uniform phase one round tells all.
std::uint32_t lane_count(const Schedule& schedule, Rank rank);

// 64-bit FNV-1a over the expanded operations of all ranks, buffers and tensors (not over names): 16 hex digits. Two
// schedules with the same hash do the same; every record carries it.
std::string schedule_hash(const Schedule& schedule);

}  // namespace coppice
