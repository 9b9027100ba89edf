// Trees over ranks 0..p-1.
#pragma once

#include "common/schedule/schedule.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace coppice::builtin {

// A parent's number may be below or above its children's; `from_leaves` is an order in which children come first.
struct RootedTree {
    Rank root = 0;
    std::vector<std::optional<Rank>> parent;
    std::vector<std::vector<Rank>> children;  // in the order in which their sums are taken
    std::vector<Rank> from_leaves;

    std::int32_t ranks() const { return static_cast<std::int32_t>(parent.size()); }
    const std::vector<Rank>& children_of(Rank rank) const { return children[static_cast<std::size_t>(rank)]; }
    const std::optional<Rank>& parent_of(Rank rank) const { return parent[static_cast<std::size_t>(rank)]; }
};

// Each from the parents of 1..p-1, all of them smaller than their children, so with root 0.
//   binomial   parent of r: r without its lowest set bit; smallest subtree first
//   k-ary      parent of r: (r - 1) / k; k = 1 is a chain
RootedTree binomial_tree(std::int32_t ranks);
RootedTree k_ary_tree(std::int32_t ranks, std::int32_t k);
// Children in ascending order. COPPICE_CHECK: one root, no cycle.
RootedTree tree_of_parents(std::vector<std::optional<Rank>> parent);

}  // namespace coppice::builtin
