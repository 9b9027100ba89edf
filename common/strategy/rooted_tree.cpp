#include "common/strategy/rooted_tree.hpp"

#include "common/diag/error.hpp"

#include <algorithm>
#include <utility>

namespace coppice::builtin {

namespace {

std::size_t at(Rank rank) {
    return static_cast<std::size_t>(rank);
}

}  // namespace

RootedTree tree_of_parents(std::vector<std::optional<Rank>> parent) {
    RootedTree tree;
    tree.children.resize(parent.size());
    std::size_t roots = 0;
    for (std::size_t rank = 0; rank < parent.size(); ++rank) {
        if (parent[rank]) {
            tree.children[at(*parent[rank])].push_back(static_cast<Rank>(rank));
        } else {
            tree.root = static_cast<Rank>(rank);
            ++roots;
        }
    }
    COPPICE_CHECK(roots == 1, "{} roots among {} ranks", roots, parent.size());
    tree.parent = std::move(parent);
    tree.from_leaves = {tree.root};
    for (std::size_t next = 0; next < tree.from_leaves.size(); ++next) {
        const auto& children = tree.children[at(tree.from_leaves[next])];
        tree.from_leaves.insert(tree.from_leaves.end(), children.begin(), children.end());
    }
    COPPICE_CHECK(tree.from_leaves.size() == tree.parent.size(), "only {} of {} ranks hang together",
                  tree.from_leaves.size(), tree.parent.size());
    std::reverse(tree.from_leaves.begin(), tree.from_leaves.end());
    return tree;
}

RootedTree binomial_tree(std::int32_t ranks) {
    std::vector<std::optional<Rank>> parent(at(ranks));
    for (Rank rank = 1; rank < ranks; ++rank) parent[at(rank)] = rank & (rank - 1);
    return tree_of_parents(std::move(parent));
}

RootedTree k_ary_tree(std::int32_t ranks, std::int32_t k) {
    std::vector<std::optional<Rank>> parent(at(ranks));
    for (Rank rank = 1; rank < ranks; ++rank) parent[at(rank)] = (rank - 1) / k;
    return tree_of_parents(std::move(parent));
}

}  // namespace coppice::builtin
