#include "runtime/mpi_port.hpp"

#include "common/diag/error.hpp"
#include "common/schedule/proof/describe.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace coppice {

namespace {

// Elements of the longest segment: at least one, and no more than MPI can be told.
std::uint64_t segment_limit(const MpiOptions& options, std::uint32_t element_bytes) {
    std::uint64_t bytes = options.largest_message_bytes;
    if (options.segment_bytes > 0) bytes = std::min(bytes, options.segment_bytes);
    return std::max<std::uint64_t>(1, bytes / element_bytes);
}

}  // namespace

MpiPort::MpiPort(const Communicator& comm, const Schedule& schedule, const Binding& binding, const RankBuffers& buffers,
                 const MpiOptions& options)
    : comm_(comm),
      schedule_(schedule),
      binding_(binding),
      buffers_(buffers),
      options_(options),
      datatype_(mpi_datatype(buffers.type())),
      longest_segment_(segment_limit(options, buffers.element_bytes())),
      idle_(options.wait) {
    COPPICE_CHECK(options.segments_in_flight > 0, "no segment may be in flight");
    COPPICE_CHECK(options.largest_message_bytes <= kLargestMessageBytes, "messages of {} bytes",
                  options.largest_message_bytes);
    std::uint64_t longest_message = 0;
    for_each_op(schedule, comm.rank(), [&](std::uint32_t, const Op& op) {
        if (op.kind == OpKind::RecvReduce) longest_message = std::max(longest_message, buffers.elements(op.slice));
    });
    aside_bytes_ = std::min(longest_segment_, longest_message) * buffers.element_bytes();
}

MpiPort::~MpiPort() {
    int finalized = 0;
    MPI_Finalized(&finalized);
    for (std::size_t i = 0; i < requests_.size() && finalized == 0; ++i) {
        if (requests_[i] == MPI_REQUEST_NULL) continue;  // ended with the error that brought us here
        // A receive must not write into memory that is gone. A send cannot be withdrawn; who is here is about to abort.
        if (messages_[segments_[i].lane].op.kind != OpKind::Send) MPI_Cancel(&requests_[i]);
        MPI_Request_free(&requests_[i]);
    }
}

void MpiPort::start_send(OpAt at, Rank peer, const Op& op) {
    PairTraffic& pair = sent_[peer];
    ++pair.messages;
    pair.bytes += slice_bytes(schedule_, binding_, op.slice);
    start_message(at, peer, op);
}

void MpiPort::start_recv(OpAt at, Rank peer, const Op& op) {
    start_message(at, peer, op);
}

void MpiPort::start_message(OpAt at, Rank peer, const Op& op) {
    if (at.lane >= messages_.size()) messages_.resize(at.lane + 1);
    Message& message = messages_[at.lane];
    COPPICE_CHECK(message.finished == message.segments, "lane {} has a message under way", at.lane);
    message = {
        .at = at, .op = op, .peer = peer, .place = buffers_.at(op.slice), .elements = buffers_.elements(op.slice)};
    // An empty message travels too: it says that the sender has come this far.
    message.segments = std::max<std::uint64_t>(1, (message.elements + longest_segment_ - 1) / longest_segment_);
    post_segments(message);
}

std::uint64_t MpiPort::segment_elements(const Message& message, std::uint64_t number) const {
    return std::min(longest_segment_, message.elements - number * longest_segment_);
}

void MpiPort::post_segments(Message& message) {
    while (message.posted < message.segments && message.posted - message.through < options_.segments_in_flight) {
        if (message.peer == kAnyRank && message.posted > 0) return;  // from whom the rest comes is not known yet
        post(message, message.posted++);
    }
}

void MpiPort::post(Message& message, std::uint64_t number) {
    Segment segment{message.at.lane, number, nullptr};
    std::byte* place = message.place + number * longest_segment_ * buffers_.element_bytes();
    const auto elements = static_cast<int>(segment_elements(message, number));
    const int tag = message.op.channel;
    MPI_Request request = MPI_REQUEST_NULL;
    if (message.op.kind == OpKind::Send) {
        // The last one synchronously: the message has then left this rank when MPI says so. Buffered, it would be
        // complete at once, and the lane's next message share the link with it, which the schedule has one after
        // another (a tree's root: its first child, on which most ranks wait, would get half of the rate).
        const bool last = number + 1 == message.segments;
        comm_.check(
            (last ? MPI_Issend : MPI_Isend)(place, elements, datatype_, message.peer, tag, comm_.get(), &request),
            last ? "MPI_Issend" : "MPI_Isend");
        ++segments_sent_;
    } else {
        if (message.op.kind == OpKind::RecvReduce) {
            if (spare_.empty()) spare_.push_back(allocate(aside_bytes_, "a segment to be summed"));
            segment.aside = std::move(spare_.back());
            spare_.pop_back();
            place = segment.aside.get();
        }
        const int from = message.peer == kAnyRank ? MPI_ANY_SOURCE : message.peer;
        comm_.check(MPI_Irecv(place, elements, datatype_, from, tag, comm_.get(), &request), "MPI_Irecv");
    }
    requests_.push_back(request);
    segments_.push_back(std::move(segment));
}

bool MpiPort::poll() {
    if (requests_.empty()) return false;
    indices_.resize(requests_.size());
    statuses_.resize(requests_.size());
    int count = 0;
    const int code =
        MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(), statuses_.data());
    if (code == MPI_ERR_IN_STATUS) {
        for (int i = 0; i < count; ++i) {
            const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
            const Segment& segment = segments_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])];
            const Message& message = messages_[segment.lane];
            if (status.MPI_ERROR == MPI_SUCCESS || status.MPI_ERROR == MPI_ERR_PENDING) continue;
            comm_.check(status.MPI_ERROR, proof::in_words(schedule_, comm_.rank(), message.at, message.op));
        }
    }
    comm_.check(code, "MPI_Testsome");
    if (count <= 0) return false;

    // Taken out first, so that what is posted meanwhile does not get in between.
    std::vector<std::pair<int, MPI_Status>> through;
    for (int i = 0; i < count; ++i)
        through.emplace_back(indices_[static_cast<std::size_t>(i)], statuses_[static_cast<std::size_t>(i)]);
    std::sort(through.begin(), through.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Segment> taken;
    for (const auto& [index, status] : through) {
        const auto at = static_cast<std::size_t>(index);
        taken.push_back(std::move(segments_[at]));
        if (at + 1 != segments_.size()) {
            segments_[at] = std::move(segments_.back());
            requests_[at] = requests_.back();
        }
        segments_.pop_back();
        requests_.pop_back();
    }
    for (std::size_t i = 0; i < taken.size(); ++i) segment_through(std::move(taken[i]), through[i].second);
    return true;
}

void MpiPort::segment_through(Segment segment, const MPI_Status& status) {
    Message& message = messages_[segment.lane];
    ++message.through;
    if (message.op.kind == OpKind::Send) {
        post_segments(message);
        segment_finished(message);
        return;
    }
    int received = 0;
    comm_.check(MPI_Get_count(&status, datatype_, &received), "MPI_Get_count");
    COPPICE_CHECK(static_cast<std::uint64_t>(received) == segment_elements(message, segment.number),
                  "{}: segment {} has {} elements of {}",
                  proof::in_words(schedule_, comm_.rank(), message.at, message.op), segment.number, received,
                  segment_elements(message, segment.number));
    if (message.peer == kAnyRank) message.peer = status.MPI_SOURCE;
    post_segments(message);
    if (segment.aside) {
        arrivals_.push_back(std::move(segment));
    } else {
        segment_finished(message);
    }
}

void MpiPort::segment_finished(Message& message) {
    if (++message.finished < message.segments) return;
    const bool received = message.op.kind != OpKind::Send;
    ready_.push_back({message.at, received ? message.peer : kAnyRank});
}

bool MpiPort::sum_one_arrival() {
    if (arrivals_.empty()) return false;
    Segment segment = std::move(arrivals_.front());
    arrivals_.pop_front();
    Message& message = messages_[segment.lane];
    std::byte* target = message.place + segment.number * longest_segment_ * buffers_.element_bytes();
    add_elements(buffers_.type(), target, segment.aside.get(), segment_elements(message, segment.number));
    spare_.push_back(std::move(segment.aside));
    segment_finished(message);
    return true;
}

// A recv_reduce has been summed as it came; a reduce is still to be done.
void MpiPort::start_sum(OpAt at, const Op& op) {
    if (op.kind == OpKind::RecvReduce) {
        ready_.push_back({at});
    } else {
        local_.push_back({at, op});
    }
}

void MpiPort::start_copy(OpAt at, const Op& op) {
    local_.push_back({at, op});
}

// The next piece of the first sum or copy: of all its inputs, in their order.
bool MpiPort::do_one_piece() {
    if (local_.empty()) return false;
    constexpr std::uint64_t kPieceBytes = 256 * 1024;
    LocalWork& work = local_.front();
    const Op& op = work.op;
    const std::uint64_t elements = buffers_.elements(op.slice);
    const std::uint64_t piece = std::min(kPieceBytes / buffers_.element_bytes(), elements - work.done);
    const std::uint64_t offset_bytes = work.done * buffers_.element_bytes();
    std::byte* target = buffers_.at(op.slice) + offset_bytes;
    for (std::uint32_t input = 0; input < op.inputs; ++input) {
        const Slice block{op.source.buffer, op.source.first + input * op.slice.count, op.slice.count};
        COPPICE_CHECK(buffers_.elements(block) == elements, "{}: block {} has {} elements, the target {}",
                      proof::in_words(schedule_, comm_.rank(), work.at, op), input, buffers_.elements(block), elements);
        const std::byte* source = buffers_.at(block) + offset_bytes;
        if (op.kind == OpKind::Copy) {
            std::memmove(target, source, piece * buffers_.element_bytes());
        } else {
            add_elements(buffers_.type(), target, source, piece);
        }
    }
    work.done += piece;
    if (work.done == elements) {
        ready_.push_back({work.at});
        local_.pop_front();
    }
    return true;
}

void MpiPort::start_work(OpAt at, const Op& op) {
    COPPICE_CHECK(op.work < binding_.work_s.size(), "work {} has no duration", op.work);
    const Clock::time_point free = timers_.empty() ? Clock::now() : timers_.back().end;
    const auto lasts =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(binding_.work_s[op.work]));
    timers_.push_back({free + lasts, at});
}

bool MpiPort::end_timers() {
    bool ended = false;
    while (!timers_.empty() && timers_.front().end <= Clock::now()) {
        ready_.push_back({timers_.front().at});
        timers_.pop_front();
        ended = true;
    }
    return ended;
}

Completion MpiPort::wait_next() {
    for (;;) {
        if (!ready_.empty()) {
            const Completion completion = ready_.front();
            ready_.pop_front();
            return completion;
        }
        const bool moved = poll();
        const bool summed = sum_one_arrival() || do_one_piece();
        const bool worked = end_timers();
        if (moved || summed || worked || !timers_.empty()) idle_.progressed();
        if (moved || summed || worked) continue;
        COPPICE_CHECK(!requests_.empty() || !timers_.empty(), "rank {} waits for nothing", comm_.rank());
        if (!idle_.wait()) report_standstill();
    }
}

std::string MpiPort::pending_in_words() const {
    constexpr std::size_t kMost = 10;
    std::string text;
    std::size_t count = 0;
    if (program_ == nullptr) return text;
    for (const RankProgram::Pending& pending : program_->pending()) {
        if (!pending.started) continue;
        if (++count > kMost) continue;
        text += "\n  " + proof::in_words(schedule_, comm_.rank(), pending.at, pending.op);
        if (pending.at.lane >= messages_.size() || !(messages_[pending.at.lane].at == pending.at)) continue;
        const Message& message = messages_[pending.at.lane];
        if (message.segments > 1)
            text += fmt::format(", {} of {} segments complete", message.finished, message.segments);
    }
    if (count > kMost) text += fmt::format("\n  and {} more", count - kMost);
    return text;
}

void MpiPort::report_standstill() const {
    throw EnvironmentError(fmt::format("complete {} on rank {} of {}", schedule_.strategy, comm_.rank(), comm_.size()),
                           fmt::format("nothing has been completed for {} s (--timeout); under way:{}",
                                       options_.wait.timeout_s, pending_in_words()));
}

}  // namespace coppice
