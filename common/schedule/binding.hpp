// Sizes and durations for a schedule: how many elements a tensor has and of what size, how long a work takes.
// The one place that divides a tensor into chunks and owns the remainders.
#pragma once

#include "common/schedule/schedule.hpp"

#include <cstdint>
#include <vector>

namespace coppice {

struct TensorBinding {
    std::uint64_t elements = 0;
    std::uint32_t element_bytes = 4;
};

struct Binding {
    std::vector<TensorBinding> tensors;  // one per Schedule::tensors
    std::vector<double> work_s;          // seconds, by Op::work
};

struct ElementRange {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
};

// Chunk `chunk` of `chunks`: the first elements % chunks chunks have one element more than the rest.
ElementRange chunk_range(std::uint64_t elements, std::uint32_t chunks, std::uint32_t chunk);

// Elements / bytes of a slice of consecutive slots (which may run over several copies).
std::uint64_t slice_elements(const Schedule& schedule, const Binding& binding, const Slice& slice);
std::uint64_t slice_bytes(const Schedule& schedule, const Binding& binding, const Slice& slice);

// What the worker that needs most of it needs beside the result buffer: its other buffers, and on each lane a place
// aside for the largest message that is received to be summed. (Servers have memory of their own.)
std::uint64_t largest_staging_bytes(const Schedule& schedule, const Binding& binding);

// Of all sends of all ranks.
std::uint64_t bytes_sent(const Schedule& schedule, const Binding& binding);

}  // namespace coppice
