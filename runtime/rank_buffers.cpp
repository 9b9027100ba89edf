#include "runtime/rank_buffers.hpp"

#include "common/diag/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace coppice {

void FreeAligned::operator()(std::byte* memory) const {
    std::free(memory);
}

Memory allocate(std::uint64_t bytes, std::string_view what_for) {
    constexpr std::uint64_t kAlignment = 64;
    if (bytes > SIZE_MAX - kAlignment)
        throw EnvironmentError(fmt::format("allocate {} bytes for {}", bytes, what_for), std::strerror(ENOMEM));
    const std::uint64_t rounded = std::max(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
    void* memory = std::aligned_alloc(kAlignment, rounded);
    if (memory == nullptr)
        throw EnvironmentError(fmt::format("allocate {} bytes for {}", bytes, what_for), std::strerror(ENOMEM));
    return Memory(static_cast<std::byte*>(memory));
}

RankBuffers::RankBuffers(const Schedule& schedule, const Binding& binding, Rank rank, ElementType type)
    : schedule_(schedule),
      binding_(binding),
      rank_(rank),
      type_(type),
      element_bytes_(coppice::element_bytes(type)),
      buffers_(schedule.buffers.size()) {
    for (const TensorBinding& tensor : binding.tensors)
        COPPICE_CHECK(tensor.element_bytes == element_bytes_, "elements of {} bytes bound to {}", tensor.element_bytes,
                      element_type_name(type));
    std::vector<bool> touched(schedule.buffers.size());
    if (rank < schedule.workers) touched[schedule.result_buffer] = true;  // input and result, even without operations
    for_each_op(schedule, rank, [&](std::uint32_t, const Op& op) {
        if (op.kind == OpKind::Wait || op.kind == OpKind::Compute || op.kind == OpKind::Update) return;
        touched[op.slice.buffer] = true;
        if (op.kind == OpKind::Reduce || op.kind == OpKind::Copy) touched[op.source.buffer] = true;
    });
    for (std::uint16_t buffer = 0; buffer < buffers_.size(); ++buffer) {
        if (!touched[buffer]) continue;
        const std::uint64_t bytes = buffer_elements(buffer) * element_bytes_;
        buffers_[buffer] = allocate(bytes, fmt::format("buffer {} of rank {}", schedule.buffers[buffer].name, rank));
        allocated_bytes_ += bytes;
    }
}

void RankBuffers::reset() {
    for (std::uint16_t buffer = 0; buffer < buffers_.size(); ++buffer) {
        if (!buffers_[buffer]) continue;
        const BufferInit init = schedule_.buffers[buffer].init;
        const bool zero = init == BufferInit::Zero || (init == BufferInit::Contribution && rank_ >= schedule_.workers);
        if (zero) std::memset(buffers_[buffer].get(), 0, buffer_elements(buffer) * element_bytes_);
    }
}

std::byte* RankBuffers::at(const Slice& slice) const {
    COPPICE_CHECK(buffers_[slice.buffer], "rank {} has not allocated buffer {}", rank_, slice.buffer);
    return buffers_[slice.buffer].get() + elements({slice.buffer, 0, slice.first}) * element_bytes_;
}

std::uint64_t RankBuffers::buffer_elements(std::uint16_t buffer) const {
    return elements({buffer, 0, schedule_.slots(buffer)});
}

}  // namespace coppice
