// MSCCL's XML: the format in which msccl-tools hands all-reduces (and other collectives) to MSCCL's interpreter. An
// import makes a Schedule of it, an export the reverse; what is honoured, and how it is mapped: docs/msccl.md.
//
//     <algo name ngpus nchunksperloop nchannels coll="allreduce" inplace ...>
//       <gpu id i_chunks o_chunks s_chunks>           input, output and scratch, counted in chunks
//         <tb id send recv chan>                      a thread block: its steps run in order, with one peer each way
//           <step s type srcbuf srcoff dstbuf dstoff cnt depid deps hasdep/>
//
//     text ── parse_msccl ──▶ MscclAlgo ── import_msccl ──▶ Schedule, proved ── export_msccl ──▶ text
//
// Whatever cannot be honoured is a UserError with file, line and column.
#pragma once

#include "common/diag/error.hpp"
#include "common/schedule/schedule.hpp"
#include "common/schedule/verifier.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

enum class MscclType : std::uint8_t {
    Send,                // s     src to the peer
    Recv,                // r     the peer's message to dst
    RecvReduceCopy,      // rrc   dst = src + the message
    RecvCopySend,        // rcs   the message to dst, and on to the peer
    RecvReduceSend,      // rrs   src + the message on to the peer, kept nowhere
    RecvReduceCopySend,  // rrcs  dst = src + the message, and on to the peer
    Copy,                // cpy   dst = src
    Reduce,              // re    dst += src
    Nop,                 // nop   nothing: waits
};

std::string_view msccl_type_name(MscclType type);  // "rrcs"
bool msccl_receives(MscclType type);
bool msccl_sends(MscclType type);
bool msccl_reads_source(MscclType type);   // on the gpu itself: of s, rrc, rrs, rrcs, cpy, re
bool msccl_writes_target(MscclType type);  // on the gpu itself: of r, rrc, rcs, rrcs, cpy, re

struct MscclPlace {
    char buffer = 'i';  // i, o, s
    std::uint32_t offset = 0;
};

struct MscclStep {
    MscclType type = MscclType::Nop;
    MscclPlace source;  // means something only where msccl_reads_source, msccl_writes_target say so
    MscclPlace target;
    std::uint32_t count = 0;
    std::int32_t wait_block = -1;  // waits for step `wait_step` of that block of the same gpu; -1: for none
    std::int32_t wait_step = -1;
    bool awaited = false;  // hasdep
    int line = 0;          // of the file
    int column = 0;
};

struct MscclBlock {
    Rank send = -1;  // -1: none
    Rank recv = -1;
    std::uint16_t channel = 0;
    std::vector<MscclStep> steps;
    int line = 0;
    int column = 0;
};

struct MscclGpu {
    std::uint32_t scratch_chunks = 0;
    std::vector<MscclBlock> blocks;  // by id
};

struct MscclAlgo {
    std::string file;  // for errors
    std::string name;
    std::uint32_t chunks = 1;
    bool in_place = true;        // input and output are the same memory
    std::vector<MscclGpu> gpus;  // by id
};

// Structure, numbers, peers, offsets and dependencies are checked; that it is an all-reduce is not.
MscclAlgo parse_msccl(std::string_view text, const std::string& file);

struct ImportedSchedule {
    Schedule schedule;
    Verdict verdict;  // ok
};

// `strategy`: what the schedule is called. UserError where the file is no all-reduce that can be proved.
ImportedSchedule import_msccl(const MscclAlgo& algo, const std::string& strategy);

// Of an all-reduce (proved); UserError at `where` if MSCCL's XML has no words for it.
std::string export_msccl(const Schedule& schedule, const SourceLocation& where);

}  // namespace coppice
