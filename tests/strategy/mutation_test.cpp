// The verifier must fail on broken schedules. Every mutation is applied to every strategy where it makes sense, at the
// first, the middle and the last place where it can be; the finding names rank, lane, operation and the reason.
#include "tests/support/mutation.hpp"
#include "tests/support/strategy_cases.hpp"

#include <functional>
#include <optional>
#include <regex>
#include <set>

namespace coppice {
namespace {

using testing::at;
using testing::insert_after;
using testing::Lists;
using testing::Site;
using testing::with_lists;
using Item = RoundOps::Item;

bool is_send(const Item& item) {
    return item.op.kind == OpKind::Send;
}
bool is_recv(const Item& item) {
    return item.op.kind == OpKind::Recv;
}
bool is_recv_reduce(const Item& item) {
    return item.op.kind == OpKind::RecvReduce;
}
bool is_receive(const Item& item) {
    return is_recv(item) || is_recv_reduce(item);
}
bool is_reduce(const Item& item) {
    return item.op.kind == OpKind::Reduce;
}

struct Broken {
    Schedule schedule;
    Lists lists;
};

struct Mutation {
    std::string name;
    std::string reason;  // a regular expression: what is found in one of the plain strategies
    std::function<bool(const Item&)> where;
    // False: makes no sense at this place.
    std::function<bool(Broken&, Site)> apply;
    bool harmless_elsewhere = false;  // not a wound in every schedule that is not plain
};

void PrintTo(const Mutation& mutation, std::ostream* os) {
    *os << mutation.name;
}

std::uint32_t slots_of_data(const Broken& broken) {
    return broken.schedule.slots(0);
}

// --- messages that do not meet ---

std::vector<Mutation> unmatched() {
    return {
        {"dropped receive", "is never received: \\d+ sends", is_receive,
         [](Broken& b, Site s) {
             erase(b.lists, s);
             return true;
         }},
        {"dropped send", "is never sent: \\d+ receives", is_send,
         [](Broken& b, Site s) {
             erase(b.lists, s);
             return true;
         }},
        {"one send too many", "is never received: \\d+ sends", is_send,
         [](Broken& b, Site s) {
             b.lists[s.rank].push_back(at(b.lists, s));
             return true;
         }},
        {"wrong peer", "is never received|the same route is on lane", is_send,
         [](Broken& b, Site s) {
             Op& op = at(b.lists, s).op;
             do op.peer = (op.peer + 1) % b.schedule.ranks;
             while (op.peer == static_cast<Rank>(s.rank));
             return b.schedule.ranks > 2;
         }},
        {"wrong channel", "is never received", is_receive,
         [](Broken& b, Site s) {
             at(b.lists, s).op.channel = 77;
             return true;
         }},
        {"receive of nothing", "takes 0 slots, but rank \\d+ lane \\d+ op \\d+ .* has 1", is_receive,
         [](Broken& b, Site s) {
             at(b.lists, s).op.slice.count = 0;
             return true;
         }},
        {"a route on two lanes", "the same route is on lane", is_send,
         [](Broken& b, Site s) {
             const auto same = [&](const Item& i) { return is_send(i) && i.op.peer == at(b.lists, s).op.peer; };
             const auto first = std::find_if(b.lists[s.rank].begin(), b.lists[s.rank].end(), same);
             const bool another = first != b.lists[s.rank].begin() + static_cast<std::ptrdiff_t>(s.index);
             at(b.lists, s).lane = 900;
             return another;
         }},
        {"receive before send everywhere", "deadlock: it waits for rank", is_receive,
         [](Broken& b, Site) {
             for (auto& list : b.lists) {
                 for (Item& item : list) item.lane = 0;
                 const auto first = std::find_if(list.begin(), list.end(), is_receive);
                 if (first != list.end()) std::rotate(list.begin(), first, first + 1);
             }
             return true;
         }},
    };
}

// --- operations that cannot be ---

std::vector<Mutation> misshapen() {
    const auto set_peer = [](Rank peer) {
        return [peer](Broken& b, Site s) {
            at(b.lists, s).op.peer = peer;
            return true;
        };
    };
    return {
        {"send to itself", "the rank itself is its peer", is_send,
         [](Broken& b, Site s) {
             at(b.lists, s).op.peer = static_cast<Rank>(s.rank);
             return true;
         }},
        {"send to nobody", "there is no rank 5000, only", is_send, set_peer(5000)},
        {"receive from nobody", "there is no rank -7, only", is_receive, set_peer(-7)},
        {"send to any rank", "there is no rank -1, only", is_send, set_peer(kAnyRank)},
        {"send to a matched rank", "no receive from any rank comes before it", is_send, set_peer(kMatchedRank)},
        {"slice out of bounds", "out of bounds: [a-z]+ has \\d+ slots", is_receive,
         [](Broken& b, Site s) {
             Slice& slice = at(b.lists, s).op.slice;
             slice.first = b.schedule.slots(slice.buffer);
             return true;
         }},
        {"slice that wraps around", "out of bounds: [a-z]+ has \\d+ slots", is_send,
         [](Broken& b, Site s) {
             at(b.lists, s).op.slice = {.buffer = 0, .first = 0xffffffff, .count = 2};
             return true;
         }},
        {"no such buffer", "there is no buffer 77, only", is_send,
         [](Broken& b, Site s) {
             at(b.lists, s).op.slice.buffer = 77;
             return true;
         }},
        {"one input too many", "slots of source for \\d+ blocks of 1", is_reduce,
         [](Broken& b, Site s) {
             ++at(b.lists, s).op.inputs;
             return true;
         }},
        {"sum of itself", "source and target overlap", is_reduce,
         [](Broken& b, Site s) {
             Op& op = at(b.lists, s).op;
             op.source = op.slice;
             op.inputs = 1;
             return true;
         }},
    };
}

// --- contributions that go astray ---

std::vector<Mutation> wrong_sums() {
    const auto doubled = [](Broken& b, Site s) {
        const Site sender = sender_of(b.lists, s);
        insert_after(b.lists, s, at(b.lists, s));
        insert_after(b.lists, sender, at(b.lists, sender));
        return true;
    };
    const auto lost = [](Broken& b, Site s) {
        const Site sender = sender_of(b.lists, s);
        erase(b.lists, s);
        erase(b.lists, sender);
        return true;
    };
    return {
        {"doubled contribution", "adds worker \\d+'s contribution to data\\[\\d+..\\d+\\) twice", is_recv_reduce,
         doubled},
        {"lost message",
         "(nothing writes|is the last to write|overwrites what) .* ends with \\d+ of \\d+ contributions, without "
         "worker|"
         "reads stage.* undefined",
         is_receive, lost},
        {"overwritten instead of added", "overwrites what worker.* ends with \\d+ of \\d+ contributions|race on data",
         is_recv_reduce,
         [](Broken& b, Site s) {
             at(b.lists, s).op.kind = OpKind::Recv;
             return true;
         }},
        {"added instead of overwritten", "contribution to data.* twice|reads stage.* undefined", is_recv,
         [](Broken& b, Site s) {
             at(b.lists, s).op.kind = OpKind::RecvReduce;
             return true;
         }},
        {"wrong chunk sent", "takes chunk \\d+, but rank \\d+ lane \\d+ op \\d+ .* brings chunk \\d+|race on", is_send,
         [](Broken& b, Site s) {
             Slice& slice = at(b.lists, s).op.slice;
             slice.first = (slice.first + 1) % slots_of_data(b);
             return slots_of_data(b) > 1;
         }},
        {"receives in the wrong order", "takes chunk \\d+, but|race on data", is_receive,
         [](Broken& b, Site s) {
             for (std::size_t i = s.index + 1; i < b.lists[s.rank].size(); ++i) {
                 Item& later = b.lists[s.rank][i];
                 if (!is_receive(later) || later.op.peer != at(b.lists, s).op.peer) continue;
                 std::swap(later.op.slice, at(b.lists, s).op.slice);
                 return true;
             }
             return false;
         }},
        {"undefined read", "reads scratch\\[0..1\\), which is undefined", is_send,
         [](Broken& b, Site s) {
             const Slice sent = at(b.lists, s).op.slice;
             b.schedule.buffers.push_back({"scratch", 0, 1, BufferInit::Undefined});
             at(b.lists, s).op.slice = {static_cast<std::uint16_t>(b.schedule.buffers.size() - 1), 0, 1};
             return sent.first == 0;
         }},
        {"stage read before it is written", "reads stage\\[0..1\\), which is undefined", is_reduce,
         [](Broken& b, Site s) {
             auto& list = b.lists[s.rank];
             std::rotate(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(s.index),
                         list.begin() + static_cast<std::ptrdiff_t>(s.index) + 1);
             std::set<std::uint32_t> lanes;
             for (const Item& item : list) lanes.insert(item.lane);
             for (const std::uint32_t lane : lanes)
                 insert_after(b.lists, {s.rank, 0}, {lane, {.kind = OpKind::Wait, .wait_lane = 0}});
             return true;
         }},
    };
}

// --- operations of several lanes that are not ordered ---

// A wait that orders something: other lanes have operations before it, and its own has messages after it.
bool wait_matters(const Lists& lists, Site site) {
    const auto& list = lists[site.rank];
    const Item& wait = list[site.index];
    bool others = false;
    bool messages = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (i < site.index) others = others || (list[i].lane != wait.lane && list[i].op.kind != OpKind::Wait);
        if (i > site.index) messages = messages || (list[i].lane == wait.lane && list[i].op.kind != OpKind::Wait);
    }
    return others && messages;
}

std::vector<Mutation> races() {
    return {
        {"dropped wait",
         "race on [a-z]+\\[\\d+..\\d+\\): rank \\d+ lane \\d+ op \\d+ \\(.*\\) (reads|writes|sums into) it",
         [](const Item& item) { return item.op.kind == OpKind::Wait; },
         [](Broken& b, Site s) {
             const bool matters = wait_matters(b.lists, s);
             erase(b.lists, s);
             return matters;
         },
         true},  // one wait of several that order the same two operations
        {"commutative not declared", "race on data", is_recv_reduce,
         [](Broken& b, Site s) {
             const Item changed = at(b.lists, s);
             const auto beside = [&](std::size_t index) {
                 if (index >= b.lists[s.rank].size()) return false;
                 const Item& other = b.lists[s.rank][index];
                 return other.op.commutative && other.lane != changed.lane;
             };
             at(b.lists, s).op.commutative = false;
             return changed.op.commutative && (beside(s.index - 1) || beside(s.index + 1));
         }},
        {"overlapping write", "race on ", is_receive,
         [](Broken& b, Site s) {
             const Site sender = sender_of(b.lists, s);
             Item receive = at(b.lists, s);
             Item send = at(b.lists, sender);
             receive.lane = send.lane = 900;
             receive.op.channel = send.op.channel = 7;
             receive.op.kind = OpKind::Recv;
             insert_after(b.lists, s, receive);
             insert_after(b.lists, sender, send);
             return true;
         }},
    };
}

std::vector<Mutation> mutations() {
    std::vector<Mutation> all;
    for (const auto& group : {unmatched(), misshapen(), wrong_sums(), races()})
        all.insert(all.end(), group.begin(), group.end());
    return all;
}

// Those in which a wound has one consequence. In a schedule with more lanes, chunks and waits it has several, and which
// of them the verifier meets first is the schedule's business.
bool is_plain(const StrategyChoice& choice) {
    const std::string name = choice.canonical();
    const auto says = [&](const char* parameter) { return name.find(parameter) != std::string::npos; };
    const bool one_server = name.starts_with("ps") && !says("servers=") && !says("partitions=") && !says("pull=");
    return one_server || name == "tree" || name == "ring";
}

void expect_found(const Verdict& verdict, const Mutation& mutation, bool plain) {
    ASSERT_FALSE(verdict.ok()) << "the verifier did not notice";
    const std::string& message = verdict.flaw->message;
    if (plain) {
        EXPECT_TRUE(std::regex_search(message, std::regex(mutation.reason))) << message;
    }
    const std::string place = "rank " + std::to_string(verdict.flaw->rank) + " lane " +
                              std::to_string(verdict.flaw->lane) + " op " + std::to_string(verdict.flaw->index) + " (";
    const std::string untouched = "rank " + std::to_string(verdict.flaw->rank) + ": nothing writes ";
    EXPECT_TRUE(message.starts_with(place) || message.starts_with(untouched)) << message;
}

class Mutations : public ::testing::TestWithParam<Mutation> {};

TEST_P(Mutations, are_found_in_every_strategy_that_they_can_break) {
    const Mutation& mutation = GetParam();
    int applied = 0;
    for (const StrategyChoice& choice : testing::strategy_variants()) {
        for (const std::int32_t p : {2, 3, 4, 5, 8, 13}) {
            if (testing::refused(choice, p) || (mutation.harmless_elsewhere && !is_plain(choice))) continue;
            const Schedule schedule = testing::schedule_of(choice, p);
            const Lists lists = testing::lists_of(schedule);
            const std::vector<Site> places = testing::sites(lists, mutation.where);
            if (places.empty()) continue;
            for (const std::size_t place : std::set<std::size_t>{0, places.size() / 2, places.size() - 1}) {
                Broken broken{schedule, lists};
                if (!mutation.apply(broken, places[place])) continue;
                SCOPED_TRACE(mutation.name + " in " + choice.canonical() + " p=" + std::to_string(p) + " place " +
                             std::to_string(place));
                expect_found(verify(with_lists(broken.schedule, broken.lists)), mutation, is_plain(choice));
                ++applied;
            }
        }
    }
    EXPECT_GE(applied, 4);
}

std::string name_of(const ::testing::TestParamInfo<Mutation>& info) {
    return std::regex_replace(info.param.name, std::regex("[^a-z]"), "_");
}

INSTANTIATE_TEST_SUITE_P(Verifier, Mutations, ::testing::ValuesIn(mutations()), name_of);

// A strategy that needs no wait at all has no business to emit any; but where it is made of others, what holds its
// parts apart does so whatever they are.
TEST(Mutations, without_any_of_its_waits_a_schedule_is_broken) {
    for (const StrategyChoice& choice : testing::strategy_variants()) {
        if (choice.strategy->name == "hierarchical") continue;
        for (const std::int32_t p : {4, 8, 13}) {
            if (testing::refused(choice, p)) continue;
            const Schedule schedule = testing::schedule_of(choice, p);
            Lists lists = testing::lists_of(schedule);
            std::size_t waits = 0;
            for (auto& list : lists)
                waits += std::erase_if(list, [](const Item& item) { return item.op.kind == OpKind::Wait; });
            if (waits == 0) continue;
            EXPECT_FALSE(verify(with_lists(schedule, lists)).ok()) << choice.canonical() << " p=" << p;
        }
    }
}

TEST(Mutations, nothing_is_found_where_nothing_is_broken) {
    for (const StrategyChoice& choice : testing::strategy_variants()) {
        for (const std::int32_t p : {1, 2, 3, 8, 13}) {
            if (testing::refused(choice, p)) continue;
            const Schedule schedule = testing::schedule_of(choice, p);
            const Verdict verdict = verify(with_lists(schedule, testing::lists_of(schedule)));
            EXPECT_TRUE(verdict.ok()) << verdict.flaw->message;
        }
    }
}

}  // namespace
}  // namespace coppice
