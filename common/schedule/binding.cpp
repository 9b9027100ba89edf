#include "common/schedule/binding.hpp"

#include "common/diag/error.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace coppice {

ElementRange chunk_range(std::uint64_t elements, std::uint32_t chunks, std::uint32_t chunk) {
    COPPICE_CHECK(chunk < chunks, "chunk {} of {}", chunk, chunks);
    const std::uint64_t base = elements / chunks;
    const std::uint64_t longer = elements % chunks;  // so many chunks, the first, have one element more
    return {.first = chunk * base + std::min<std::uint64_t>(chunk, longer), .count = base + (chunk < longer ? 1 : 0)};
}

namespace {

// Elements in front of a slot of a buffer.
std::uint64_t elements_before(std::uint64_t elements, std::uint32_t chunks, std::uint64_t slot) {
    const auto chunk = static_cast<std::uint32_t>(slot % chunks);
    return slot / chunks * elements + chunk_range(elements, chunks, chunk).first;
}

}  // namespace

std::uint64_t slice_elements(const Schedule& schedule, const Binding& binding, const Slice& slice) {
    COPPICE_CHECK(slice.buffer < schedule.buffers.size(), "buffer {} of {}", slice.buffer, schedule.buffers.size());
    const std::uint16_t tensor = schedule.buffers[slice.buffer].tensor;
    COPPICE_CHECK(tensor < binding.tensors.size(), "tensor {} has no binding", tensor);
    const std::uint64_t end = std::uint64_t{slice.first} + slice.count;
    COPPICE_CHECK(end <= schedule.slots(slice.buffer), "slots {}..{} of {} in buffer {}", slice.first, end,
                  schedule.slots(slice.buffer), slice.buffer);
    const std::uint64_t elements = binding.tensors[tensor].elements;
    const std::uint32_t chunks = schedule.tensors[tensor].chunks;
    return elements_before(elements, chunks, end) - elements_before(elements, chunks, slice.first);
}

std::uint64_t slice_bytes(const Schedule& schedule, const Binding& binding, const Slice& slice) {
    const std::uint64_t elements = slice_elements(schedule, binding, slice);
    return elements * binding.tensors[schedule.buffers[slice.buffer].tensor].element_bytes;
}

std::uint64_t largest_staging_bytes(const Schedule& schedule, const Binding& binding) {
    std::uint64_t largest = 0;
    for (Rank rank = 0; rank < schedule.workers; ++rank) {
        std::map<std::uint32_t, std::uint64_t> aside;  // by lane
        std::set<std::uint16_t> buffers;
        for_each_op_repeated(schedule, rank, [&](std::uint32_t lane, const Op& op, std::uint64_t) {
            if (op.kind == OpKind::Wait || op.kind == OpKind::Compute || op.kind == OpKind::Update) return;
            if (op.slice.buffer != schedule.result_buffer) buffers.insert(op.slice.buffer);
            if (op.kind == OpKind::RecvReduce)
                aside[lane] = std::max(aside[lane], slice_bytes(schedule, binding, op.slice));
        });
        std::uint64_t bytes = 0;
        for (const auto& [lane, most] : aside) bytes += most;
        for (const std::uint16_t buffer : buffers)
            bytes += slice_bytes(schedule, binding, {buffer, 0, schedule.slots(buffer)});
        largest = std::max(largest, bytes);
    }
    return largest;
}

std::uint64_t bytes_sent(const Schedule& schedule, const Binding& binding) {
    std::uint64_t bytes = 0;
    for (Rank rank = 0; rank < schedule.ranks; ++rank)
        for_each_op(schedule, rank, [&](std::uint32_t, const Op& op) {
            if (op.kind == OpKind::Send) bytes += slice_bytes(schedule, binding, op.slice);
        });
    return bytes;
}

}  // namespace coppice
