#include "runtime/program/parts.hpp"

#include "runtime/agreement.hpp"

namespace coppice::program {

const Communicator* Parts::first(std::int32_t ranks) {
    const auto found = parts_.find(ranks);
    if (found != parts_.end()) return found->second.get();
    MPI_Comm part = MPI_COMM_NULL;
    const int color = world_.rank() < ranks ? 0 : MPI_UNDEFINED;
    world_.check(MPI_Comm_split(world_.get(), color, world_.rank(), &part), "MPI_Comm_split");
    std::unique_ptr<Communicator>& made = parts_[ranks];
    if (part != MPI_COMM_NULL) {
        made = std::make_unique<Communicator>(part);
        MPI_Comm_free(&part);
    }
    return made.get();
}

std::optional<Measured> Parts::measure_on_first(
    std::int32_t ranks, const MeasureOptions& options,
    const std::function<std::unique_ptr<AllReduce>(const Communicator& part)>& make) {
    const Communicator* part = first(ranks);
    WaitOptions wait = options.wait;
    if (part == nullptr) {
        wait.doze = true;
        wait.timeout_s = 1e9;
    }
    std::unique_ptr<AllReduce> all_reduce;
    together(world_, wait, [&] {
        if (part != nullptr) all_reduce = make(*part);
    });
    std::optional<Measured> measured;
    if (part != nullptr) measured = measure(*part, *all_reduce, options);
    world_.barrier("MPI_Ibarrier after a row", wait);
    return measured;
}

}  // namespace coppice::program
