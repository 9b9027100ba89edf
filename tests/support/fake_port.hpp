// The tests' executor: plays all ranks of a schedule in one thread, with real numbers and a clock of its own.
//
//   data      every buffer is a vector of doubles; worker r's contribution to element i is contribution(r, i), small
//             integers, so that sums are exact in any order and expected_sum(i) can be compared with ==
//   traffic   messages and bytes per pair of ranks
//   clock     analytic, nothing shared: a message takes pricing.message_s(bytes) from the moment that both ends are
//             posted, whatever else is under way. So it is also the "uncontended" price of a schedule. Only a sender's
//             overhead is serial per rank, as in LogGP.
// Times are seconds. With data off, buffers are not made (large schedules).
#pragma once

#include "common/diag/error.hpp"
#include "common/schedule/binding.hpp"
#include "common/schedule/interpreter.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace coppice::testing {

struct FakePricing {
    std::function<double(std::uint64_t bytes)> message_s = [](std::uint64_t) { return 0.0; };
    std::function<double(Rank, std::uint64_t bytes)> sum_s = [](Rank, std::uint64_t) { return 0.0; };
    std::function<double(std::uint64_t bytes)> copy_s = [](std::uint64_t) { return 0.0; };
    double overhead_s = 0;
};

inline double contribution(Rank worker, std::uint64_t element) {
    return static_cast<double>((worker + 1) * 1000 + static_cast<std::int64_t>(element % 997));
}

inline double expected_sum(std::int32_t workers, std::uint64_t element) {
    double sum = 0;
    for (Rank worker = 0; worker < workers; ++worker) sum += contribution(worker, element);
    return sum;
}

class FakeWorld {
public:
    struct PairTraffic {
        std::uint64_t messages = 0;
        std::uint64_t bytes = 0;
        friend bool operator==(const PairTraffic&, const PairTraffic&) = default;
    };

    FakeWorld(const Schedule& schedule, const Binding& binding, FakePricing pricing = {}, bool with_data = true,
              OpObserver* observer = nullptr)
        : schedule_(schedule), binding_(binding), pricing_(std::move(pricing)), with_data_(with_data) {
        for (Rank rank = 0; rank < schedule.ranks; ++rank) {
            ranks_.push_back(std::make_unique<RankState>(*this, rank, observer));
        }
    }

    // Plays to the end. False: deadlock (blocked() tells where).
    bool run() {
        for (auto& rank : ranks_) rank->program.start_ready(*rank);
        while (!events_.empty()) {
            const Event event = events_.top();
            events_.pop();
            now_s_ = event.at_s;
            RankState& rank = *ranks_[static_cast<std::size_t>(event.rank)];
            if (event.delivers) deliver(event);
            if (event.sum_of != nullptr) apply(rank, *event.sum_of, event.completion.at);
            rank.program.complete(event.completion, rank);
            rank.program.start_ready(rank);
            if (rank.program.done()) rank.end_s = now_s_;
        }
        return blocked().empty();
    }

    double now_s() const { return now_s_; }
    double end_s(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]->end_s; }
    const std::map<std::pair<Rank, Rank>, PairTraffic>& traffic() const { return traffic_; }
    const std::vector<double>& data(Rank rank, std::uint16_t buffer) const {
        return ranks_[static_cast<std::size_t>(rank)]->buffers[buffer];
    }
    std::vector<Rank> blocked() const {
        std::vector<Rank> result;
        for (const auto& rank : ranks_) {
            if (!rank->program.done()) result.push_back(rank->program.rank());
        }
        return result;
    }
    const RankProgram& program(Rank rank) const { return ranks_[static_cast<std::size_t>(rank)]->program; }

private:
    struct Posted {
        Rank rank;
        OpAt at;
        Op op;
        double posted_s;
    };
    using Payload = std::shared_ptr<std::vector<double>>;
    struct Event {
        double at_s;
        std::uint64_t number;  // ties go in the order in which they were made
        Rank rank;
        Completion completion;
        Payload delivers;            // a receive: what arrives
        std::shared_ptr<Op> sum_of;  // a sum, a copy: applied when it ends
        std::shared_ptr<Op> receive;
        bool operator>(const Event& other) const { return std::tie(at_s, number) > std::tie(other.at_s, other.number); }
    };

    struct RankState : Port {
        RankState(FakeWorld& in, Rank rank, OpObserver* observer)
            : world(in), program(in.schedule_, rank, observer), buffers(in.make_buffers(rank)) {}
        void start_send(OpAt at, Rank peer, const Op& op) override {
            overhead_end_s = std::max(overhead_end_s, world.now_s_) + world.pricing_.overhead_s;
            world.post_send({program.rank(), at, op, overhead_end_s}, peer);
        }
        void start_recv(OpAt at, Rank peer, const Op& op) override {
            world.post_recv({program.rank(), at, op, world.now_s_}, peer);
        }
        void start_sum(OpAt at, const Op& op) override {
            const double once_s = world.pricing_.sum_s(program.rank(), world.bytes(op.slice));
            world.arithmetic(program.rank(), at, op, op.inputs * once_s);
        }
        void start_copy(OpAt at, const Op& op) override {
            world.arithmetic(program.rank(), at, op, world.pricing_.copy_s(world.bytes(op.slice)));
        }
        void start_work(OpAt at, const Op& op) override {
            world.push({world.now_s_ + world.binding_.work_s.at(op.work), 0, program.rank(), {at}, {}, {}, {}});
        }

        FakeWorld& world;
        RankProgram program;
        std::vector<std::vector<double>> buffers;
        std::map<std::uint32_t, std::vector<double>> aside;  // by lane: received, to be summed
        double overhead_end_s = 0;
        double end_s = 0;
    };

    std::vector<std::vector<double>> make_buffers(Rank rank) const {
        std::vector<std::vector<double>> buffers(schedule_.buffers.size());
        if (!with_data_) return buffers;
        for (std::size_t i = 0; i < buffers.size(); ++i) {
            const BufferSpec& spec = schedule_.buffers[i];
            const std::uint64_t elements = binding_.tensors[spec.tensor].elements;
            const bool undefined = spec.init == BufferInit::Undefined;
            buffers[i].assign(elements * spec.copies, undefined ? -1e18 : 0.0);
            if (spec.init != BufferInit::Contribution || rank >= schedule_.workers) continue;
            for (std::uint64_t e = 0; e < buffers[i].size(); ++e) buffers[i][e] = contribution(rank, e % elements);
        }
        return buffers;
    }

    std::uint64_t bytes(const Slice& slice) const { return slice_bytes(schedule_, binding_, slice); }

    double* at(RankState& rank, const Slice& slice) {
        const std::uint64_t before = slice_elements(schedule_, binding_, {slice.buffer, 0, slice.first});
        return rank.buffers[slice.buffer].data() + before;
    }

    void push(Event event) {
        event.number = ++events_made_;
        events_.push(std::move(event));
    }

    void arithmetic(Rank rank, OpAt where, const Op& op, double duration_s) {
        push({now_s_ + duration_s, 0, rank, {where}, {}, std::make_shared<Op>(op), {}});
    }

    void post_send(const Posted& send, Rank to) {
        const std::pair place{to, send.op.channel};
        for (auto* queue : {&receives_[{send.rank, place}], &receives_[{kAnyRank, place}]}) {
            if (queue->empty()) continue;
            const Posted receive = queue->front();
            queue->pop_front();
            return transfer(send, receive);
        }
        sends_[place].push_back(send);
    }

    void post_recv(const Posted& receive, Rank from) {
        auto& waiting = sends_[{receive.rank, receive.op.channel}];
        const auto match = std::find_if(waiting.begin(), waiting.end(),
                                        [&](const Posted& send) { return from == kAnyRank || send.rank == from; });
        if (match == waiting.end()) {
            receives_[{from, {receive.rank, receive.op.channel}}].push_back(receive);
            return;
        }
        const Posted send = *match;
        waiting.erase(match);
        transfer(send, receive);
    }

    void transfer(const Posted& send, const Posted& receive) {
        const std::uint64_t sent = bytes(send.op.slice);
        COPPICE_CHECK(sent == bytes(receive.op.slice), "{} sends {} bytes, {} expects {}", send.rank, sent,
                      receive.rank, bytes(receive.op.slice));
        PairTraffic& pair = traffic_[{send.rank, receive.rank}];
        ++pair.messages;
        pair.bytes += sent;
        auto payload = std::make_shared<std::vector<double>>();
        if (with_data_) {
            const double* from = at(*ranks_[static_cast<std::size_t>(send.rank)], send.op.slice);
            payload->assign(from, from + slice_elements(schedule_, binding_, send.op.slice));
        }
        const double end_s = std::max(send.posted_s, receive.posted_s) + pricing_.message_s(sent);
        push({end_s, 0, send.rank, {send.at}, {}, {}, {}});
        push({end_s, 0, receive.rank, {receive.at, send.rank}, payload, {}, std::make_shared<Op>(receive.op)});
    }

    void deliver(const Event& event) {
        if (!with_data_) return;
        RankState& rank = *ranks_[static_cast<std::size_t>(event.rank)];
        if (event.receive->kind == OpKind::RecvReduce) {
            rank.aside[event.completion.at.lane] = *event.delivers;
        } else {
            std::copy(event.delivers->begin(), event.delivers->end(), at(rank, event.receive->slice));
        }
    }

    // The arithmetic of a RecvReduce, Reduce or Copy.
    void apply(RankState& rank, const Op& op, OpAt where) {
        if (!with_data_) return;
        const std::uint64_t n = slice_elements(schedule_, binding_, op.slice);
        double* target = at(rank, op.slice);
        const double* source = op.kind == OpKind::RecvReduce ? rank.aside[where.lane].data() : at(rank, op.source);
        if (op.kind == OpKind::Copy) {
            std::copy(source, source + n, target);
            return;
        }
        for (std::uint32_t input = 0; input < op.inputs; ++input) {
            for (std::uint64_t i = 0; i < n; ++i) target[i] += source[input * n + i];
        }
    }

    const Schedule& schedule_;
    const Binding& binding_;
    FakePricing pricing_;
    bool with_data_;
    std::vector<std::unique_ptr<RankState>> ranks_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t events_made_ = 0;
    std::map<std::pair<Rank, std::uint16_t>, std::deque<Posted>> sends_;  // by receiver and channel, unmatched
    std::map<std::pair<Rank, std::pair<Rank, std::uint16_t>>, std::deque<Posted>> receives_;  // by sender or any
    std::map<std::pair<Rank, Rank>, PairTraffic> traffic_;
    double now_s_ = 0;
};

}  // namespace coppice::testing
