// What the parts of the import share: an MSCCL gpu's steps as coppice's operations, before it is known which chunk of
// the tensor a slot of scratch holds.
//
// Memory of a gpu in one row of slots ("raw": as MSCCL counts them):
//
//     input 0..C-1 │ output C..2C-1 │ scratch 2C.. │ landing of a tb │ landing of another ...
//
// where output is input if in place. Landing is where a message is put that is summed and sent on without being kept
// (rrs), or that must be received before its place is free.
#pragma once

#include "common/msccl/msccl_xml.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace coppice::msccl {

struct Memory {
    std::uint32_t chunks = 0;
    std::uint32_t scratch = 0;
    bool in_place = true;

    std::uint32_t size() const { return 2 * chunks + scratch; }  // without landings
    std::uint32_t slot(const MscclPlace& place) const;
    bool in_tensor(std::uint32_t slot) const { return slot < 2 * chunks; }  // its chunk is its offset
    std::string in_words(std::uint32_t slot) const;                         // "input[3]"
};

Memory memory_of(const MscclAlgo& algo, std::size_t gpu);

struct RawOp {
    std::uint32_t lane = 0;
    Op op;  // slices in raw slots, of buffer 0
    std::size_t block = 0;
    std::size_t step = 0;  // that it comes from
};

struct LoweredGpu {
    Memory memory;
    std::vector<RawOp> ops;  // in order of emission
    std::uint32_t lanes = 0;
    std::uint32_t slots = 0;  // with landings
};

// UserError for races and for steps that wait in a circle.
LoweredGpu lower_gpu(const MscclAlgo& algo, std::size_t gpu);

// By gpu, block, step: the chunk of the tensor that the first slot which the step moves belongs to.
using ChunkTable = std::vector<std::vector<std::vector<std::uint32_t>>>;

// Follows the data as MSCCL would move it, where a send never waits for its receiver. UserError for what is read
// without having been written, for messages that do not meet, and for chunks that are put in another one's place.
ChunkTable trace_chunks(const MscclAlgo& algo);

[[noreturn]] void fail_at(const MscclAlgo& algo, const MscclStep& step, std::string found, std::string expected,
                          std::string hint = "");

}  // namespace coppice::msccl
