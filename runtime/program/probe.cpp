// coppice-run probe: what the machine can do, measured in the units of the cost model, for coppice fit.
#include "common/diag/error.hpp"
#include "common/result/atomic_file.hpp"
#include "common/result/context.hpp"
#include "common/units/quantity.hpp"
#include "common/units/size_list.hpp"
#include "common/version.hpp"
#include "runtime/agreement.hpp"
#include "runtime/program/command.hpp"
#include "runtime/program/mpi_library.hpp"
#include "runtime/program/probe_measure.hpp"
#include "runtime/program/run_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>

namespace coppice::program {

namespace po = boost::program_options;

namespace {

const HelpText kHelp{
    "mpirun -np RANKS coppice-run probe [options]",
    "Measures latency and bandwidth by message size (one way, both ways at once, all into one), the processor's part\n"
    "in a message, and the rates of sums and updates in the host's memory: what coppice fit makes a cluster file of.\n"
    "Start one rank a host. Messages travel as in bench; unless --segment says so, several sizes of segments are "
    "tried\n"
    "and the best is kept. Each point is repeated until the 95 % interval of its median is within --precision, or "
    "until\n"
    "--most-time; the last column says which.",
    "  mpirun -np 8 coppice-run probe -o probe.jsonl\n"
    "  mpirun -np 2 coppice-run probe --bytes '4 B..64 MiB:*4' --segment '256 KiB'\n"
    "  coppice fit probe.jsonl --base ethernet-10g --name mine -o mine.toml\n"};

po::options_description probe_options() {
    po::options_description options;
    options.add_options()("bytes,b",
                          po::value<std::string>()->default_value("4 B,64 B,1 KiB..16 MiB")->value_name("LIST"),
                          "message sizes: '1 MiB', '64 KiB..32 MiB' (doubles), '1 kB..1 GB:*10'")(
        "precision", po::value<double>()->default_value(2)->value_name("PERCENT"),
        "half of the median's 95 % interval that is narrow enough")(
        "most-time", po::value<double>()->default_value(3)->value_name("SECONDS"), "for a point")(
        "most-repetitions", po::value<std::int32_t>()->default_value(10000)->value_name("N"), "of a point")(
        "format,f", po::value<std::string>()->default_value("table")->value_name("NAME"),
        "table or jsonl, on standard output")("output,o", po::value<std::string>()->value_name("FILE"),
                                              "also writes the records there (rank 0), whole after each point");
    add_message_options(options);
    return options;
}

struct ProbeSetup {
    std::vector<std::uint64_t> sizes;
    bool choose_segment = false;
    ProbeOptions options;
    std::string format;
    std::optional<std::string> output;
};

ProbeSetup read_setup(const std::vector<std::string>& arguments, std::int32_t ranks) {
    const Arguments read = read_arguments(arguments, probe_options(), {}, kHelp);
    if (ranks < 2)
        throw UserError({{"command line", 0, 0},
                         "",
                         "1 rank",
                         "at least 2 ranks, one a host: messages are measured",
                         "mpirun -np 2 coppice-run probe"});
    ProbeSetup setup;
    setup.sizes = parse_size_list(read.text("bytes"), {"--bytes", 0, 0});
    for (const std::uint64_t size : setup.sizes) {
        if (size % sizeof(float) == 0) continue;
        throw UserError({{"--bytes", 0, 0}, "", fmt::format("{} bytes", size), "multiples of 4 bytes (float32)", ""});
    }
    setup.format = choice(read, "format", {"table", "jsonl"});
    setup.choose_segment = !read.has("segment");
    setup.options.mpi = read_message_options(read, std::nullopt);
    setup.options.patience.precision = positive_number(read, "precision", "a percentage above 0") / 100;
    setup.options.patience.most_s = positive_number(read, "most-time", "a number of seconds above 0");
    setup.options.patience.most = whole_number(read, "most-repetitions", 3, 1'000'000);
    setup.options.patience.least = std::min(setup.options.patience.least, setup.options.patience.most);
    if (read.has("output")) setup.output = read.text("output");
    return setup;
}

std::vector<Fact> facts_of(const ProbeSetup& setup) {
    const Patience& patience = setup.options.patience;
    return {{"version", fmt::format("{} ({})", kVersion, kRevision)},
            {"list of sizes", fmt::format("{}", fmt::join(setup.sizes, " "))},
            {"segment", fmt::format("{} x {}", setup.options.mpi.segment_bytes, setup.options.mpi.segments_in_flight)},
            {"patience", fmt::format("{} {} {}", patience.precision, patience.most_s, patience.most)}};
}

// The ranks of the job that take part: the first of each host, so that messages go over the network; all of them where
// there is one host only.
struct Part {
    std::unique_ptr<Communicator> comm;  // none: this rank stands by
    std::vector<std::string> hosts;      // by rank of `comm`; on every rank
};

Part split(const Communicator& world, const std::vector<int>& members, const std::vector<std::string>& hosts) {
    const auto place = std::find(members.begin(), members.end(), world.rank());
    MPI_Comm comm = MPI_COMM_NULL;
    world.check(MPI_Comm_split(world.get(), place == members.end() ? MPI_UNDEFINED : 0, world.rank(), &comm),
                "MPI_Comm_split");
    Part part;
    for (const int member : members) part.hosts.push_back(hosts[static_cast<std::size_t>(member)]);
    if (comm != MPI_COMM_NULL) {
        part.comm = std::make_unique<Communicator>(comm);
        MPI_Comm_free(&comm);
    }
    return part;
}

// Of all ranks.
std::vector<std::string> host_names(const Communicator& world, const WaitOptions& wait) {
    using Name = std::array<char, MPI_MAX_PROCESSOR_NAME>;
    Name mine{};
    int length = 0;
    world.check(MPI_Get_processor_name(mine.data(), &length), "MPI_Get_processor_name");
    std::vector<Name> all(static_cast<std::size_t>(world.size()));
    world.all_gather(&mine, all.data(), sizeof mine, "MPI_Iallgather of host names", wait);
    std::vector<std::string> names;
    for (const Name& name : all) names.emplace_back(name.data());
    return names;
}

class ProbeReport {
public:
    explicit ProbeReport(const ProbeSetup& setup) : setup_(setup) {
        if (setup.format != "table") return;
        print(
            fmt::format("# coppice-run {} probe: until the median is known within {:g} %, or {:g} s a point\n{}\n{}\n",
                        kVersion, setup.options.patience.precision * 100, setup.options.patience.most_s,
                        fmt::format(kRow, "#what", "size (B)", "senders", "segment", "median (us)", "interval (us)",
                                    "min (us)", "rate (GB/s)", "times", "stop"),
                        "#"));
    }

    void add(ProbeRecord record, const std::vector<std::string>& hosts, std::size_t from, std::size_t to) {
        record.from = hosts.at(from);
        record.to = hosts.at(to);
        record.mpi = mpi_library();
        record.version = kVersion;
        if (setup_.format == "jsonl") print(to_json_lines(std::vector<ProbeRecord>{record}));
        if (setup_.format == "table") print_row(record);
        records_.push_back(std::move(record));
        if (setup_.output) write_whole(*setup_.output, to_json_lines(records_));
    }

    void end() const {
        const auto loose = std::count_if(records_.begin(), records_.end(),
                                         [](const ProbeRecord& one) { return one.stop != "interval"; });
        if (loose > 0)
            fmt::print(stderr,
                       "coppice-run: {} of {} points are not known within {:g} %: the limit (--most-time, "
                       "--most-repetitions) came first\n",
                       loose, records_.size(), setup_.options.patience.precision * 100);
        if (setup_.output) fmt::print(stderr, "coppice-run: wrote {}\n", *setup_.output);
    }

private:
    static constexpr const char* kRow = "{:<10} {:>10} {:>7} {:>10} {:>12} {:>23} {:>12} {:>11} {:>6}  {}";

    static void print_row(const ProbeRecord& r) {
        const double moved = static_cast<double>(r.bytes) *
                             static_cast<double>(std::max<std::int64_t>(r.what == "incast" ? r.senders : 1, 1));
        print(fmt::format(
            fmt::runtime(std::string(kRow) + "\n"), r.what, r.bytes, r.senders > 0 ? std::to_string(r.senders) : "",
            r.segment_bytes > 0 ? std::to_string(r.segment_bytes) : "", fmt::format("{:.2f}", r.seconds * 1e6),
            fmt::format("{:.2f}..{:.2f}", r.low_s * 1e6, r.high_s * 1e6), fmt::format("{:.2f}", r.min_s * 1e6),
            fmt::format("{:.4f}", moved / r.seconds / 1e9), r.repetitions, r.stop));
    }

    const ProbeSetup& setup_;
    std::vector<ProbeRecord> records_;
};

class Probe {
public:
    Probe(const Communicator& world, const ProbeSetup& setup, ProbeReport* report)
        : world_(world), setup_(setup), options_(setup.options), report_(report) {
        wait_ = options_.mpi.wait;
        standing_by_ = wait_;
        standing_by_.doze = true;
        standing_by_.timeout_s = 1e9;
        const std::vector<std::string> hosts = host_names(world, wait_);
        std::vector<int> firsts;
        for (int rank = 0; rank < world.size(); ++rank) {
            const auto same = [&](int one) {
                return hosts[static_cast<std::size_t>(one)] == hosts[static_cast<std::size_t>(rank)];
            };
            if (std::none_of(firsts.begin(), firsts.end(), same)) firsts.push_back(rank);
        }
        if (firsts.size() < 2) {
            firsts.clear();
            for (int rank = 0; rank < world.size(); ++rank) firsts.push_back(rank);
        }
        all_ = split(world, firsts, hosts);
        pair_ = split(world, {firsts[0], firsts[1]}, hosts);
    }

    void run() {
        if (setup_.choose_segment) choose_segment();
        for (const std::uint64_t bytes : setup_.sizes) measure(pair_, probe_one_way, bytes);
        for (const std::uint64_t bytes : setup_.sizes) measure(all_, probe_both_ways, bytes);
        for (const std::uint64_t bytes : setup_.sizes)
            if (all_.hosts.size() > 2 && bytes >= 64 * 1024) measure(all_, probe_incast, bytes);
        measure(pair_, probe_overhead, 4);
        for (const std::uint64_t bytes : {256 * 1024, 1024 * 1024, 16 * 1024 * 1024}) {
            alone(probe_sum, bytes);
            alone(probe_update, bytes);
        }
    }

private:
    using OnRanks = ProbeRecord (*)(const Communicator&, std::uint64_t, const ProbeOptions&);
    using OnOne = ProbeRecord (*)(std::uint64_t, const ProbeOptions&);

    ProbeRecord measure(const Part& part, OnRanks what, std::uint64_t bytes) {
        ProbeRecord record;
        if (part.comm) record = what(*part.comm, bytes, options_);
        // Who has no part sleeps here until the others are through.
        world_.barrier("MPI_Ibarrier after a point", part.comm ? wait_ : standing_by_);
        if (report_ != nullptr)
            report_->add(record, part.hosts, record.what == "incast" ? 1 : 0, record.what == "incast" ? 0 : 1);
        return record;
    }

    void alone(OnOne what, std::uint64_t bytes) {
        if (world_.rank() == 0) report_->add(what(bytes, options_), all_.hosts, 0, 0);
        world_.barrier("MPI_Ibarrier after a point", world_.rank() == 0 ? wait_ : standing_by_);
    }

    // By the pattern that is hardest on the network (each host sends and receives), at sizes from one segment up: what
    // is best for long messages may cost short ones a handshake. Of the segments whose time, relative to the fastest at
    // each size, is on average within 1 % of the best the largest, which costs the processor least.
    void choose_segment() {
        constexpr std::uint64_t kMessages[] = {64 * 1024, 256 * 1024, 1024 * 1024};
        constexpr std::uint64_t kCandidates[] = {1024 * 1024, 256 * 1024, 128 * 1024, 60 * 1024, 32 * 1024};
        std::vector<double> relative(std::size(kCandidates));
        for (const std::uint64_t message : kMessages) {
            std::vector<double> seconds;
            for (const std::uint64_t candidate : kCandidates) {
                options_.mpi.segment_bytes = candidate;
                // What rank 0 has measured decides on all ranks.
                double one = measure(all_, probe_both_ways, message).seconds;
                if (world_.rank() != 0) one = 0;
                world_.all_reduce(&one, 1, MPI_DOUBLE, MPI_MAX, "MPI_Iallreduce of a time", wait_);
                seconds.push_back(one);
            }
            const double best_s = *std::min_element(seconds.begin(), seconds.end());
            for (std::size_t i = 0; i < seconds.size(); ++i) relative[i] += seconds[i] / best_s / std::size(kMessages);
        }
        const double best = *std::min_element(relative.begin(), relative.end());
        std::size_t chosen = 0;
        while (relative[chosen] > 1.01 * best) ++chosen;
        options_.mpi.segment_bytes = kCandidates[chosen];
        if (world_.rank() == 0)
            fmt::print(stderr, "coppice-run: segments of {} are best here for messages of 64 KiB to 1 MiB in a ring\n",
                       format_quantity(static_cast<double>(kCandidates[chosen]), Dimension::Bytes));
    }

    const Communicator& world_;
    const ProbeSetup& setup_;
    ProbeOptions options_;
    ProbeReport* report_;  // on rank 0
    WaitOptions wait_;
    WaitOptions standing_by_;
    Part all_;
    Part pair_;
};

}  // namespace

int run_probe(const Communicator& world, const std::vector<std::string>& arguments) {
    if (asks_for_help(arguments)) {
        if (world.rank() == 0) read_arguments({"--help"}, probe_options(), {}, kHelp);
        return 0;
    }
    WaitOptions wait;
    wait.interrupt = interrupt_flag();
    ProbeSetup setup;
    together(world, wait, [&] { setup = read_setup(arguments, world.size()); });
    require_same(world, wait, facts_of(setup));
    const Crowd crowd = survey_crowd(world, wait);
    setup.options.mpi.wait.yield = crowd.crowded;
    std::optional<ProbeReport> report;
    together(world, wait, [&] {
        if (world.rank() != 0) return;
        if (setup.output) write_whole(*setup.output, "");
        warn_of_crowd(crowd, world.size());
        report.emplace(setup);
    });
    Probe probe(world, setup, report ? &*report : nullptr);
    probe.run();
    if (report) report->end();
    return 0;
}

}  // namespace coppice::program
