// Operations in words, for the verifier's findings: "rank 3 lane 1 op 7 (recv_reduce from 2 into data[4..5))".
// Safe for operations that are wrong: nothing here trusts a buffer's number.
#pragma once

#include "common/schedule/interpreter.hpp"
#include "common/schedule/verifier.hpp"

#include <string>

namespace coppice::proof {

std::string in_words(const Schedule& schedule, const Slice& slice);
std::string in_words(const Schedule& schedule, const Op& op);
std::string in_words(const Schedule& schedule, Rank rank, OpAt at, const Op& op);

// A flaw of the operation: its words, a colon and `what`.
Flaw flaw_at(const Schedule& schedule, Rank rank, OpAt at, const Op& op, const std::string& what);

// The operation at a place, found by expanding the rank again: only findings need it.
Op op_at(const Schedule& schedule, Rank rank, OpAt at);
// Where the n-th (from 0) send of `from` to `to`, or receive of `to` from `from`, stands.
enum class End { Send, Recv };
struct Placed {
    OpAt at;
    Op op;
};
Placed nth_message(const Schedule& schedule, End end, Rank from, Rank to, std::uint16_t channel, std::uint32_t n);

inline bool is_receive(OpKind kind) {
    return kind == OpKind::Recv || kind == OpKind::RecvReduce;
}

}  // namespace coppice::proof
