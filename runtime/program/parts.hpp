// Measurements on the first ranks of the job while the others stand by.
#pragma once

#include "runtime/program/bench_measure.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace coppice::program {

// Communicators of the first n ranks, made once for each n. Ranks outside have none.
class Parts {
public:
    explicit Parts(const Communicator& world) : world_(world) {}

    const Communicator* first(std::int32_t ranks);

    // Makes the all-reduce on the first `ranks` ranks and measures it there; nothing on the others, which sleep until
    // it is done, however long that takes. Collective over all ranks of the job. What `make` throws, all throw.
    std::optional<Measured> measure_on_first(
        std::int32_t ranks, const MeasureOptions& options,
        const std::function<std::unique_ptr<AllReduce>(const Communicator& part)>& make);

private:
    const Communicator& world_;
    std::map<std::int32_t, std::unique_ptr<Communicator>> parts_;
};

}  // namespace coppice::program
