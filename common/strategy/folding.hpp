// Any number of ranks for algorithms that need a power of two: of the first 2 (p - c) ranks, c the power of two below
// p, each even one gives what it has to the odd one behind it, stands by, and is told the result. The c that are left
// are numbered anew.
//
//     p = 6, c = 4    rank   0 ─▶ 1   2 ─▶ 3   4   5
//                     core        0        1   2   3
//
// Source: Rabenseifner, "Optimization of collective reduction operations" (ICCS 2004), on numbers of processes that are
// no power of two; Thakur, Rabenseifner, Gropp (2005).
#pragma once

#include "common/schedule/schedule.hpp"

#include <bit>
#include <optional>

namespace coppice::builtin {

struct Folding {
    explicit Folding(std::int32_t workers)
        : core(static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(workers)))),
          folded(workers - core),
          rounds(static_cast<std::uint32_t>(std::countr_zero(static_cast<std::uint32_t>(core)))) {}

    std::int32_t core;     // c
    std::int32_t folded;   // p - c
    std::uint32_t rounds;  // log2 c

    bool stands_by(Rank rank) const { return rank < 2 * folded && rank % 2 == 0; }
    // Whether the rank before it stands by.
    bool speaks_for_two(Rank rank) const { return rank < 2 * folded && rank % 2 == 1; }
    // None: it stands by.
    std::optional<std::int32_t> number_of(Rank rank) const {
        if (stands_by(rank)) return std::nullopt;
        return rank < 2 * folded ? rank / 2 : rank - folded;
    }
    Rank rank_of(std::int32_t number) const { return number < folded ? 2 * number + 1 : number + folded; }
};

// The two phases around the core's, on its lanes. `all` is the whole tensor. Both lanes of the core begin behind the
// fold; its lane `send` has to end behind all that it does.
Phase fold_phase(const Folding& folding, const Slice& all, std::uint32_t send, std::uint32_t receive);
Phase unfold_phase(const Folding& folding, const Slice& all, std::uint32_t send, std::uint32_t receive);

}  // namespace coppice::builtin
