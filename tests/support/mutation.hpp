// Breaks schedules: expands one to lists of operations, edits them, and makes a schedule of the lists again.
#pragma once

#include "common/schedule/schedule.hpp"

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace coppice::testing {

// By rank, in order of emission. A wait is re-emitted: it is for what then stands before it.
using Lists = std::vector<std::vector<RoundOps::Item>>;

struct Site {
    std::size_t rank;
    std::size_t index;
};

inline Lists lists_of(const Schedule& schedule) {
    Lists lists(static_cast<std::size_t>(schedule.ranks));
    for (Rank rank = 0; rank < schedule.ranks; ++rank) {
        for_each_op(schedule, rank, [&](std::uint32_t lane, const Op& op) {
            lists[static_cast<std::size_t>(rank)].push_back({lane, op});
        });
    }
    return lists;
}

inline void emit(RoundOps& ops, const RoundOps::Item& item) {
    if (item.op.kind != OpKind::Wait) {
        ops.compute(item.lane, 0);  // for the counts; then whatever the operation is, right or wrong
        ops.items().back().op = item.op;
    } else if (item.op.wait_lane == kAllLanes) {
        ops.wait_all(item.lane);
    } else {
        ops.wait(item.lane, item.op.wait_lane);
    }
}

// One phase of one round that emits the lists.
inline Schedule with_lists(const Schedule& original, Lists lists) {
    Schedule schedule = original;
    const auto shared = std::make_shared<const Lists>(std::move(lists));
    schedule.phases = {{"edited", 1, false, [shared](Rank rank, std::uint32_t, RoundOps& ops) {
                            for (const RoundOps::Item& item : (*shared)[static_cast<std::size_t>(rank)])
                                emit(ops, item);
                        }}};
    return schedule;
}

template <typename Predicate>
std::vector<Site> sites(const Lists& lists, Predicate predicate) {
    std::vector<Site> found;
    for (std::size_t rank = 0; rank < lists.size(); ++rank) {
        for (std::size_t i = 0; i < lists[rank].size(); ++i)
            if (predicate(lists[rank][i])) found.push_back({rank, i});
    }
    return found;
}

inline RoundOps::Item& at(Lists& lists, Site site) {
    return lists[site.rank][site.index];
}

inline void erase(Lists& lists, Site site) {
    lists[site.rank].erase(lists[site.rank].begin() + static_cast<std::ptrdiff_t>(site.index));
}

inline void insert_after(Lists& lists, Site site, const RoundOps::Item& item) {
    lists[site.rank].insert(lists[site.rank].begin() + static_cast<std::ptrdiff_t>(site.index) + 1, item);
}

// The send that a receive meets: the k-th with the k-th.
inline Site sender_of(const Lists& lists, Site receive) {
    const Op& op = lists[receive.rank][receive.index].op;
    const auto same = [&](const Op& other, Rank peer, bool sends) {
        return (other.kind == OpKind::Send) == sends && other.kind != OpKind::Wait && other.kind != OpKind::Reduce &&
               other.peer == peer && other.channel == op.channel;
    };
    std::size_t k = 0;
    for (std::size_t i = 0; i < receive.index; ++i)
        if (same(lists[receive.rank][i].op, op.peer, false)) ++k;
    const auto sender = static_cast<std::size_t>(op.peer);
    for (std::size_t i = 0;; ++i)
        if (same(lists[sender].at(i).op, static_cast<Rank>(receive.rank), true) && k-- == 0) return {sender, i};
}

}  // namespace coppice::testing
