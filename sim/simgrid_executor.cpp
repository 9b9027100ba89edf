#include "sim/simgrid_executor.hpp"

#include "common/diag/error.hpp"
#include "common/schedule/proof/describe.hpp"
#include "sim/byte_stream.hpp"
#include "sim/platform.hpp"
#include "sim/simgrid_headers.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

namespace coppice {

namespace sg = simgrid::s4u;

namespace {

// The messages of a route (sender, receiver, channel), counted at both ends: number k is under way from when both have
// posted their k-th.
struct Route {
    std::uint64_t sends = 0;
    std::uint64_t receives = 0;
    double started_s = 0;  // the latest
    std::uint64_t started() const { return std::min(sends, receives); }
};

// What all ranks of one simulation share.
struct World {
    const Schedule& schedule;
    const Binding& binding;
    const CostModel& cost;
    const SimOptions& options;
    SimPlatform platform;
    std::set<std::pair<Rank, std::uint16_t>> from_any;  // (receiver, channel) that take whichever message comes first
    std::vector<Rank> names;                            // names[r] == r: what a message carries is a pointer to it
    std::vector<std::unique_ptr<RankProgram>> programs;
    SimResult result;
    std::map<std::tuple<Rank, Rank, std::uint16_t>, Route> routes;  // kept only if some link is slower both ways

    std::uint64_t bytes(const Slice& slice) const { return slice_bytes(schedule, binding, slice); }
    std::int32_t node_of(Rank rank) const { return cost.cluster().node_of(rank, schedule.workers); }
};

// Activities under way, each with the completion to report for it. S4U waits for any of a vector, at a cost linear in
// its length: a server that has 1023 messages under way spends 0.2 s more in all, so it is left at that.
class Pending {
public:
    void add(sg::ActivityPtr activity, const Completion& completion) {
        activities_.push_back(std::move(activity));
        completions_.push_back(completion);
    }
    Completion wait() {
        COPPICE_CHECK(!activities_.empty(), "a rank waits for nothing");
        const std::size_t at = wait_for_any();
        const Completion completion = completions_[at];
        activities_[at] = std::move(activities_.back());
        activities_.pop_back();
        completions_[at] = completions_.back();
        completions_.pop_back();
        return completion;
    }

private:
    std::size_t wait_for_any() {
        if (activities_.size() == 1) {
            activities_[0]->wait();  // the cheaper call, and every second one in a ring
            return 0;
        }
#if SIMGRID_VERSION >= 40000  // no wait_any over a vector any more
        sg::ActivitySet set(activities_);
        const sg::ActivityPtr ended = set.wait_any();
        return static_cast<std::size_t>(std::find(activities_.begin(), activities_.end(), ended) - activities_.begin());
#else
        return static_cast<std::size_t>(sg::Activity::wait_any(activities_));
#endif
    }

    std::vector<sg::ActivityPtr> activities_;
    std::vector<Completion> completions_;
};

// A rank's port. Everything is called from the rank's actor.
class SimPort : public BlockingPort {
public:
    SimPort(World& world, Rank rank) : world_(world), rank_(rank) {}

    void start_send(OpAt at, Rank peer, const Op& op) override {
        const double overhead_s = link_to(peer).overhead_s;
        if (overhead_s <= 0 && preparing_.empty()) {
            post_send(at, peer, op);
            return;
        }
        preparing_.push_back({at, peer, op, overhead_s});
        if (preparing_.size() == 1) prepare_next();
    }

    void start_recv(OpAt at, Rank peer, const Op& op) override {
        if (at.lane >= received_.size()) received_.resize(at.lane + 1);
        sg::Mailbox* mailbox = mailbox_of(peer, rank_, op.channel);
        sg::CommPtr comm = mailbox->get_async<Rank>(&received_[at.lane]);
        pending_.add(comm, {at, peer == kAnyRank ? kUnknownSender : peer});
        if (both_ways_ && peer != kAnyRank) note(at.lane, {peer, rank_, op.channel}, &Route::receives, peer, op);
    }

    void start_sum(OpAt at, const Op& op) override {
        const SumPlace place = rank_ < world_.schedule.workers ? SumPlace::Device : SumPlace::Host;
        execute(at, op.inputs * world_.cost.sum_s(world_.bytes(op.slice), place));
    }

    void start_copy(OpAt at, const Op& op) override { execute(at, world_.cost.copy_s(world_.bytes(op.slice))); }

    void start_work(OpAt at, const Op& op) override {
        COPPICE_CHECK(op.work < world_.binding.work_s.size(), "work {} has no duration", op.work);
        execute(at, world_.binding.work_s[op.work]);
    }

    Completion wait_next() override {
        for (;;) {
            if (!instant_.empty()) {
                const Completion completion = instant_.front();
                instant_.pop_front();
                return completion;
            }
            Completion completion = pending_.wait();
            if (completion.matched == kOverhead) {
                const Prepared send = preparing_.front();
                preparing_.pop_front();
                post_send(send.at, send.peer, send.op);
                if (!preparing_.empty()) prepare_next();
                continue;
            }
            if (completion.matched == kWaited) {
                completion.matched = under_way_[completion.at.lane].peer;
                return completion;
            }
            if (completion.matched == kUnknownSender) completion.matched = *received_[completion.at.lane];
            if (both_ways_ && waits_for_other_direction(completion)) continue;
            return completion;
        }
    }

    void hand_over_traffic() {
        for (const auto& [peer, pair] : traffic_) {
            world_.result.traffic.push_back({rank_, peer, pair.messages, pair.bytes});
        }
    }

private:
    // Instead of a matched rank, while an activity is under way.
    static constexpr Rank kUnknownSender = -10;  // will be known from the message
    static constexpr Rank kOverhead = -11;       // not an operation's end but that of the overhead before a send
    static constexpr Rank kWaited = -12;         // a receive's end, after what the other direction cost it

    struct Prepared {
        OpAt at;
        Rank peer;
        Op op;
        double overhead_s;
    };

    // A message of this rank, under way or the latest of its lane.
    struct UnderWay {
        Route* route = nullptr;
        std::uint64_t number = 0;  // of the route
        std::uint64_t bytes = 0;
        Rank peer = 0;
        bool sends = false;
        double end_s = -1;  // below 0: not yet
        bool started() const { return route != nullptr && route->started() > number; }
        // Only the latest of a route has its start kept; a lane has one message of a route at a time.
        bool is_latest() const { return route->started() == number + 1; }
    };

    void note(std::uint32_t lane, const std::tuple<Rank, Rank, std::uint16_t>& key, std::uint64_t Route::*end,
              Rank peer, const Op& op) {
        Route& route = world_.routes[key];
        const std::uint64_t before = route.started();
        const std::uint64_t number = (route.*end)++;
        if (route.started() > before) route.started_s = sg::Engine::get_clock();
        if (lane >= under_way_.size()) under_way_.resize(lane + 1);
        under_way_[lane] = {&route, number, world_.bytes(op.slice), peer, op.kind == OpKind::Send};
    }

    // A receive during which this rank was sending, too, has taken longer on a link that is slower both ways: by what
    // the link says for this size, in the proportion of the time that they had in common. Known only at its end, and
    // waited for then. True: it is being waited for.
    bool waits_for_other_direction(const Completion& completion) {
        if (completion.at.lane >= under_way_.size()) return false;
        const double now_s = sg::Engine::get_clock();
        UnderWay& message = under_way_[completion.at.lane];
        if (!message.started() || message.end_s >= 0) return false;
        message.end_s = now_s;
        if (message.sends) return false;
        const double begin_s = message.route->started_s;
        double common_s = 0;
        for (const UnderWay& other : under_way_) {
            if (!other.sends || !other.started() || !other.is_latest()) continue;
            if (world_.node_of(other.peer) == world_.node_of(rank_)) continue;
            const double end_s = other.end_s < 0 ? now_s : other.end_s;
            common_s = std::max(common_s, end_s - std::max(begin_s, other.route->started_s));
        }
        if (common_s <= 0 || now_s <= begin_s) return false;
        const Link& link = link_to(message.peer);
        // Beyond what it has taken here one way, which may be more than the link says.
        const double extra_s =
            std::max(0.0, CostModel::both_ways_s(link, message.bytes) - CostModel::shared_link_s(link, message.bytes));
        if (extra_s <= 0) return false;
        pending_.add(start_exec(world_.platform.clocks, extra_s * common_s / (now_s - begin_s)),
                     {completion.at, kWaited});
        return true;
    }

    // Without a duration an operation ends at once; it still must not end inside of its start.
    void execute(OpAt at, double duration_s) {
        if (duration_s <= 0) {
            instant_.push_back({at});
            return;
        }
        pending_.add(start_exec(world_.platform.devices, duration_s), {at});
    }

    sg::ExecPtr start_exec(const std::vector<sg::Host*>& hosts, double duration_s) const {
        // Hosts do one unit of work a second.
        sg::ExecPtr exec = sg::Exec::init()->set_flops_amount(duration_s);
        exec->set_host(hosts[static_cast<std::size_t>(rank_)]);
        exec->start();
        return exec;
    }

    void prepare_next() {
        const Prepared& next = preparing_.front();
        pending_.add(start_exec(world_.platform.senders, next.overhead_s), {next.at, kOverhead});
    }

    const Link& link_to(Rank peer) const {
        const Cluster& cluster = world_.cost.cluster();
        return world_.node_of(rank_) == world_.node_of(peer) ? *cluster.node_link : cluster.link;
    }

    void post_send(OpAt at, Rank peer, const Op& op) {
        const std::uint64_t bytes = world_.bytes(op.slice);
        sg::CommPtr comm =
            mailbox_of(rank_, peer, op.channel)->put_init(&world_.names[static_cast<std::size_t>(rank_)], bytes);
        const double cap = CostModel::message_rate_cap(link_to(peer), bytes);
        if (cap > 0) comm->set_rate(cap);
        comm->start();
        pending_.add(comm, {at});
        if (both_ways_) note(at.lane, {rank_, peer, op.channel}, &Route::sends, peer, op);
        if (world_.options.count_traffic) {
            SimPairTraffic& pair = traffic_[peer];
            ++pair.messages;
            pair.bytes += bytes;
        }
    }

    // One for each (sender, receiver, channel), so that the k-th send meets the k-th receive; one for all senders where
    // the receiver takes whichever comes first.
    sg::Mailbox* mailbox_of(Rank from, Rank to, std::uint16_t channel) {
        const bool any = world_.from_any.count({to, channel}) > 0;
        sg::Mailbox*& mailbox = mailboxes_[{any ? kAnyRank : from, to, channel}];
        if (mailbox == nullptr) {
            mailbox = sg::Mailbox::by_name(any ? fmt::format("*>{}:{}", to, channel)
                                               : fmt::format("{}>{}:{}", from, to, channel));
        }
        return mailbox;
    }

    World& world_;
    Rank rank_;
    bool both_ways_ = !world_.platform.clocks.empty();
    std::vector<UnderWay> under_way_;  // by lane
    Pending pending_;
    std::deque<Completion> instant_;
    std::deque<Prepared> preparing_;  // the front: on the sending processor; the rest queue up
    std::deque<Rank*> received_;      // by lane: where the message under way leaves its sender's name
    std::map<std::tuple<Rank, Rank, std::uint16_t>, sg::Mailbox*> mailboxes_;
    std::map<Rank, SimPairTraffic> traffic_;
};

// A generous guess of the simulated time: as if all that rank 0 and the last rank do came one after another and every
// message had to share its link with all ranks.
double horizon_s(const Schedule& schedule, const Binding& binding, const CostModel& cost) {
    double most_s = 0;
    for (const Rank rank : {Rank{0}, schedule.ranks - 1}) {
        double sum_s = 0;
        for_each_op_repeated(schedule, rank, [&](std::uint32_t, const Op& op, std::uint64_t times) {
            if (op.kind == OpKind::Wait) return;
            const bool work = op.kind == OpKind::Compute || op.kind == OpKind::Update;
            const double once_s = work ? binding.work_s.at(op.work)
                                       : cost.send_s(slice_bytes(schedule, binding, op.slice)) * schedule.ranks;
            sum_s += static_cast<double>(times) * once_s;
        });
        most_s = std::max(most_s, sum_s);
    }
    return most_s;
}

std::set<std::pair<Rank, std::uint16_t>> receivers_from_any(const Schedule& schedule) {
    std::set<std::pair<Rank, std::uint16_t>> any;
    std::set<std::pair<Rank, std::uint16_t>> pairwise;
    for (Rank rank = 0; rank < schedule.ranks; ++rank) {
        for_each_op_repeated(schedule, rank, [&](std::uint32_t, const Op& op, std::uint64_t) {
            if (op.kind != OpKind::Recv && op.kind != OpKind::RecvReduce) return;
            (op.peer == kAnyRank ? any : pairwise).insert({rank, op.channel});
        });
    }
    for (const auto& [rank, channel] : any) {
        COPPICE_CHECK(pairwise.count({rank, channel}) == 0,
                      "rank {} receives on channel {} from any rank and from a named one", rank, channel);
    }
    return any;
}

[[noreturn]] void report_deadlock(const World& world) {
    std::string text;
    for (const auto& program : world.programs) {
        for (const RankProgram::Pending& pending : program->pending()) {
            if (text.size() > 1000) break;
            text += "\n  " + proof::in_words(world.schedule, program->rank(), pending.at, pending.op);
        }
    }
    COPPICE_CHECK(false, "deadlock in the simulation of {}:{}", world.schedule.strategy, text);
}

void start_actor(World& world, Rank rank) {
    RankProgram& program = *world.programs[static_cast<std::size_t>(rank)];
    const auto body = [&world, &program, rank] {
        SimPort port(world, rank);
        run_rank(program, port);
        world.result.rank_end_s[static_cast<std::size_t>(rank)] = sg::Engine::get_clock();
        port.hand_over_traffic();
    };
    sg::Actor::create(fmt::format("rank {}", rank), world.platform.devices[static_cast<std::size_t>(rank)], body);
}

}  // namespace

double SimResult::workers_end_s(std::int32_t workers) const {
    return *std::max_element(rank_end_s.begin(), rank_end_s.begin() + workers);
}

SimResult simulate(const Schedule& schedule, const Binding& binding, const CostModel& cost, const SimOptions& options) {
    static bool simulated = false;
    COPPICE_CHECK(!simulated && !sg::Engine::has_instance(), "one simulation a process; simulate_isolated plays more");
    simulated = true;
    COPPICE_CHECK(schedule.ranks > 0, "a schedule of {} ranks", schedule.ranks);
    const auto engine = start_simgrid(cost.link_bytes_per_s(), horizon_s(schedule, binding, cost));

    World world{schedule, binding, cost, options, {}, receivers_from_any(schedule), {}, {}, {}, {}};
    world.platform = build_platform(cost.cluster(), schedule.workers, schedule.ranks);
    world.result.rank_end_s.resize(static_cast<std::size_t>(schedule.ranks));
    for (Rank rank = 0; rank < schedule.ranks; ++rank) world.names.push_back(rank);
    for (Rank rank = 0; rank < schedule.ranks; ++rank) {
        world.programs.push_back(std::make_unique<RankProgram>(schedule, rank, options.observer));
        start_actor(world, rank);
    }
    sg::Engine::on_deadlock_cb([&world] { report_deadlock(world); });
    engine->run();

    SimResult& result = world.result;
    result.total_s = *std::max_element(result.rank_end_s.begin(), result.rank_end_s.end());
    std::sort(result.traffic.begin(), result.traffic.end(), [](const SimPairTraffic& a, const SimPairTraffic& b) {
        return std::pair(a.from, a.to) < std::pair(b.from, b.to);
    });
    return std::move(result);
}

double simulated_now_s() {
    return sg::Engine::get_clock();
}

std::vector<SimResult> simulate_isolated(const std::vector<SimJob>& jobs, const IsolateOptions& options) {
    std::vector<IsolatedJob> isolated;
    for (const SimJob& job : jobs) {
        isolated.push_back({job.label, [&job] {
                                SimOptions sim_options;
                                sim_options.count_traffic = job.count_traffic;
                                const SimResult result = simulate(*job.schedule, job.binding, job.cost, sim_options);
                                ByteWriter writer;
                                writer.put(result.total_s);
                                writer.put_all(result.rank_end_s);
                                writer.put_all(result.traffic);
                                return writer.take();
                            }});
    }
    std::vector<SimResult> results;
    for (const std::string& bytes : run_isolated(isolated, options)) {
        ByteReader reader(bytes);
        SimResult& result = results.emplace_back();
        result.total_s = reader.get<double>();
        result.rank_end_s = reader.get_all<double>();
        result.traffic = reader.get_all<SimPairTraffic>();
    }
    return results;
}

}  // namespace coppice
