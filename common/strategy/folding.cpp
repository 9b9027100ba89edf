#include "common/strategy/folding.hpp"

namespace coppice::builtin {

Phase fold_phase(const Folding& folding, const Slice& all, std::uint32_t send, std::uint32_t receive) {
    return {.name = "fold",
            .rounds = 1,
            .uniform = false,
            .rule = [folding, all, send, receive](Rank rank, std::uint32_t, RoundOps& ops) {
                if (folding.stands_by(rank)) ops.send(send, rank + 1, all);
                if (!folding.speaks_for_two(rank)) return;
                ops.recv_reduce(receive, rank - 1, all);
                ops.wait(send, receive);
            }};
}

Phase unfold_phase(const Folding& folding, const Slice& all, std::uint32_t send, std::uint32_t receive) {
    return {.name = "unfold",
            .rounds = 1,
            .uniform = false,
            .rule = [folding, all, send, receive](Rank rank, std::uint32_t, RoundOps& ops) {
                if (folding.speaks_for_two(rank)) ops.send(send, rank - 1, all);
                if (!folding.stands_by(rank)) return;
                ops.wait(receive, send);  // what is overwritten has been sent
                ops.recv(receive, rank + 1, all);
            }};
}

}  // namespace coppice::builtin
