// Which chunk of the tensor is where. Chunks of a tensor are not all of one length (chunk_range), so coppice must know
// for a slot of scratch whose chunk it holds; MSCCL, whose chunks are all equal, need not say.
#include "common/msccl/lowering.hpp"

#include <fmt/format.h>

#include <deque>
#include <optional>
#include <tuple>

namespace coppice::msccl {

namespace {

constexpr std::int64_t kNothing = -1;

struct Message {
    std::uint32_t chunk = 0;
    std::uint32_t count = 0;
    const MscclStep* sent = nullptr;
};

class Trace {
public:
    explicit Trace(const MscclAlgo& algo) : algo_(algo) {
        for (std::size_t gpu = 0; gpu < algo.gpus.size(); ++gpu) {
            memories_.push_back(memory_of(algo, gpu));
            held_.emplace_back(memories_[gpu].size(), kNothing);
            for (std::uint32_t chunk = 0; chunk < algo.chunks; ++chunk) held_[gpu][chunk] = chunk;
            chunks_.emplace_back(algo.gpus[gpu].blocks.size());
        }
    }

    ChunkTable run() {
        bool moved = true;
        while (moved) {
            moved = false;
            for (std::size_t gpu = 0; gpu < algo_.gpus.size(); ++gpu)
                for (std::size_t block = 0; block < algo_.gpus[gpu].blocks.size(); ++block)
                    while (step(gpu, block)) moved = true;
        }
        check_end();
        return std::move(chunks_);
    }

private:
    using Connection = std::tuple<Rank, Rank, std::uint16_t>;  // from, to, channel

    // The next step of the block, if it can be done now.
    bool step(std::size_t gpu, std::size_t number) {
        const MscclBlock& block = algo_.gpus[gpu].blocks[number];
        std::vector<std::uint32_t>& done = chunks_[gpu][number];
        if (done.size() == block.steps.size()) return false;
        const MscclStep& now = block.steps[done.size()];
        if (now.wait_block >= 0 &&
            chunks_[gpu][static_cast<std::size_t>(now.wait_block)].size() <= static_cast<std::size_t>(now.wait_step))
            return false;
        std::optional<std::uint32_t> chunk;
        if (msccl_receives(now.type)) {
            std::deque<Message>& inbox = messages_[{block.recv, static_cast<Rank>(gpu), block.channel}];
            if (inbox.empty()) return false;
            const Message& message = inbox.front();
            if (message.count != now.count)
                fail_at(
                    algo_, now, fmt::format("cnt=\"{}\"", now.count),
                    fmt::format("{}, as gpu {} sends here (line {})", message.count, block.recv, message.sent->line));
            chunk = message.chunk;
            inbox.pop_front();
        }
        if (msccl_reads_source(now.type)) chunk = read(gpu, now, now.source, chunk);
        if (now.type == MscclType::Reduce) read(gpu, now, now.target, chunk);
        if (msccl_writes_target(now.type)) write(gpu, now, *chunk);
        if (msccl_sends(now.type))
            messages_[{static_cast<Rank>(gpu), block.send, block.channel}].push_back({*chunk, now.count, &now});
        done.push_back(chunk.value_or(0));
        return true;
    }

    // `wanted`: what it is added to, or what is added to it.
    std::uint32_t read(std::size_t gpu, const MscclStep& step, const MscclPlace& place,
                       std::optional<std::uint32_t> wanted) const {
        const std::uint32_t slot = memories_[gpu].slot(place);
        const std::int64_t first = held_[gpu][slot];
        for (std::uint32_t i = 0; i < step.count; ++i) {
            const std::int64_t held = held_[gpu][slot + i];
            if (held == kNothing)
                fail_at(algo_, step,
                        fmt::format("{} of {}", msccl_type_name(step.type), memories_[gpu].in_words(slot + i)),
                        fmt::format("something that was written before on gpu {}", gpu));
            if (held != first + i)
                fail_at(algo_, step,
                        fmt::format("{} of {} and {}, which hold chunks {} and {}", msccl_type_name(step.type),
                                    memories_[gpu].in_words(slot), memories_[gpu].in_words(slot + i), first, held),
                        "chunks that follow one another in the tensor too",
                        "coppice's chunks differ in length where the tensor does not divide evenly");
        }
        if (wanted && first != *wanted)
            fail_at(algo_, step,
                    fmt::format("{} of chunk {} and, in {}, chunk {}", msccl_type_name(step.type), *wanted,
                                memories_[gpu].in_words(slot), first),
                    "twice the same chunk");
        return static_cast<std::uint32_t>(first);
    }

    void write(std::size_t gpu, const MscclStep& step, std::uint32_t chunk) {
        const std::uint32_t slot = memories_[gpu].slot(step.target);
        if (memories_[gpu].in_tensor(slot) && step.target.offset != chunk)
            fail_at(algo_, step,
                    fmt::format("chunk {}, which {} puts into {}", chunk, msccl_type_name(step.type),
                                memories_[gpu].in_words(slot)),
                    fmt::format("chunk {} there, or scratch", step.target.offset),
                    "coppice's chunks differ in length where the tensor does not divide evenly");
        for (std::uint32_t i = 0; i < step.count; ++i) held_[gpu][slot + i] = chunk + i;
    }

    void check_end() const {
        for (std::size_t gpu = 0; gpu < algo_.gpus.size(); ++gpu)
            for (std::size_t number = 0; number < algo_.gpus[gpu].blocks.size(); ++number) check_done(gpu, number);
        for (const auto& [connection, left] : messages_)
            if (!left.empty())
                fail_at(algo_, *left.front().sent, fmt::format("a message to gpu {}", std::get<1>(connection)),
                        fmt::format("a step of gpu {} that receives it (from {}, channel {})", std::get<1>(connection),
                                    std::get<0>(connection), std::get<2>(connection)));
    }

    void check_done(std::size_t gpu, std::size_t number) const {
        const MscclBlock& block = algo_.gpus[gpu].blocks[number];
        const std::vector<std::uint32_t>& done = chunks_[gpu][number];
        if (done.size() == block.steps.size()) return;
        const MscclStep& stuck = block.steps[done.size()];
        const std::string which =
            fmt::format("step {} of tb {} of gpu {}, which waits for ever", done.size(), number, gpu);
        const bool for_block =
            stuck.wait_block >= 0 && chunks_[gpu][static_cast<std::size_t>(stuck.wait_block)].size() <=
                                         static_cast<std::size_t>(stuck.wait_step);
        if (for_block)
            fail_at(algo_, stuck, which, fmt::format("an end of step {} of tb {}", stuck.wait_step, stuck.wait_block));
        fail_at(algo_, stuck, which, fmt::format("a message of gpu {} on channel {}", block.recv, block.channel));
    }

    const MscclAlgo& algo_;
    std::vector<Memory> memories_;
    std::vector<std::vector<std::int64_t>> held_;  // by gpu, slot
    std::map<Connection, std::deque<Message>> messages_;
    ChunkTable chunks_;  // of the steps that are done
};

}  // namespace

ChunkTable trace_chunks(const MscclAlgo& algo) {
    return Trace(algo).run();
}

}  // namespace coppice::msccl
