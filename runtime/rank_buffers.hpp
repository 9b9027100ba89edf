// The memory of one rank: its buffers as the schedule names them, allocated only if the rank touches them. The one
// place that knows what kind of memory that is (the host's; a device's would be another).
#pragma once

#include "common/schedule/binding.hpp"
#include "runtime/element_type.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace coppice {

// Uninitialised memory aligned for vector instructions. EnvironmentError if there is not enough.
struct FreeAligned {
    void operator()(std::byte* memory) const;
};
using Memory = std::unique_ptr<std::byte[], FreeAligned>;
Memory allocate(std::uint64_t bytes, std::string_view what_for);

class RankBuffers {
public:
    // All tensors are of `type`: binding and type must agree on the size of an element.
    RankBuffers(const Schedule& schedule, const Binding& binding, Rank rank, ElementType type);

    // As before the first operation: zeros where the schedule says so; contributions are the caller's to write, except
    // that a server's are zeros.
    void reset();

    std::byte* at(const Slice& slice) const;
    std::uint64_t elements(const Slice& slice) const { return slice_elements(schedule_, binding_, slice); }
    ElementType type() const { return type_; }
    std::uint32_t element_bytes() const { return element_bytes_; }

    // The whole of a buffer; nullptr if this rank does not touch it.
    std::byte* data(std::uint16_t buffer) const { return buffers_[buffer].get(); }
    std::uint64_t buffer_elements(std::uint16_t buffer) const;
    std::uint64_t allocated_bytes() const { return allocated_bytes_; }

private:
    const Schedule& schedule_;
    const Binding& binding_;
    Rank rank_;
    ElementType type_;
    std::uint32_t element_bytes_;
    std::vector<Memory> buffers_;
    std::uint64_t allocated_bytes_ = 0;
};

}  // namespace coppice
