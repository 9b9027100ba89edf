#include "common/calibration/probe_fit.hpp"

#include "common/calibration/fitted_parts.hpp"
#include "common/cost/cost_model.hpp"
#include "common/diag/error.hpp"
#include "common/units/median.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>

namespace coppice {

namespace {

std::vector<ProbeRecord> those_of(const std::vector<ProbeRecord>& records, std::string_view what) {
    std::vector<ProbeRecord> found;
    for (const ProbeRecord& record : records)
        if (record.what == what) found.push_back(record);
    return found;
}

std::size_t sizes_of(const std::vector<ProbeRecord>& records) {
    std::set<std::int64_t> sizes;
    for (const ProbeRecord& record : records) sizes.insert(record.bytes);
    return sizes.size();
}

class Fitter {
public:
    Fitter(const Cluster& base, const std::vector<ProbeRecord>& records, const SourceLocation& where)
        : records_(records), where_(where) {
        fit_.cluster = base;
    }

    ProbeFit run(FitOptions options, bool device_is_host) {
        const std::vector<ProbeRecord> one_way = messages();
        fit_link(one_way, options);
        // What is sent in other pieces (the probe tries several) is another way to send.
        const auto alike = [&](std::string_view what) {
            std::vector<ProbeRecord> found;
            for (const ProbeRecord& record : those_of(records_, what))
                if (record.segment_bytes == one_way.front().segment_bytes &&
                    record.segments_in_flight == one_way.front().segments_in_flight)
                    found.push_back(record);
            return found;
        };
        options.overhead_s = fit_.overhead_s;
        fit_both_ways(alike("both-ways"), options);
        check_incast(alike("incast"));
        set_rates(device_is_host);
        return std::move(fit_);
    }

private:
    [[noreturn]] void fail(std::string found, std::string expected, std::string hint) const {
        throw UserError({where_, "", std::move(found), std::move(expected), std::move(hint)});
    }

    // The one-way records: of enough sizes, and all sent in the same way.
    std::vector<ProbeRecord> messages() const {
        std::vector<ProbeRecord> one_way = those_of(records_, "one-way");
        for (const ProbeRecord& record : one_way) {
            if (record.segment_bytes == one_way.front().segment_bytes &&
                record.segments_in_flight == one_way.front().segments_in_flight)
                continue;
            fail(fmt::format("messages in pieces of {} ({} at a time) and of {} ({})", one_way.front().segment_bytes,
                             one_way.front().segments_in_flight, record.segment_bytes, record.segments_in_flight),
                 "one way to send: one size of pieces for all 'one-way' records", "fit one probe at a time");
        }
        const std::size_t sizes = sizes_of(one_way);
        if (sizes < static_cast<std::size_t>(kLeastPointsOfSegment))
            fail(fmt::format("'one-way' records of {} size{}", sizes, sizes == 1 ? "" : "s"),
                 fmt::format("at least {} sizes, to tell latency from bandwidth", kLeastPointsOfSegment),
                 "coppice-run probe --bytes '4 B,1 KiB..16 MiB'");
        return one_way;
    }

    void fit_link(const std::vector<ProbeRecord>& one_way, FitOptions options) {
        std::vector<TimedSize> points;
        double shortest_s = one_way.front().seconds;
        for (const ProbeRecord& record : one_way) {
            points.push_back({static_cast<double>(record.bytes), record.seconds});
            shortest_s = std::min(shortest_s, record.seconds);
        }
        options.overhead_s = overhead(shortest_s);
        fit_.overhead_s = options.overhead_s;
        fit_.link = fit_piecewise(points, options);
        Link link = link_of(fit_.link, options.overhead_s);
        link.segment_bytes = static_cast<std::uint64_t>(one_way.front().segment_bytes);
        if (one_way.front().segments_in_flight > 0)
            link.segments_in_flight = static_cast<std::uint32_t>(one_way.front().segments_in_flight);
        fit_.cluster.link = std::move(link);
        const auto loose = std::count_if(one_way.begin(), one_way.end(),
                                         [](const ProbeRecord& record) { return record.stop == "limit"; });
        if (loose > 0)
            fit_.notes.push_back(
                fmt::format("{} of {} one-way times are not known within the probe's precision: its "
                            "limit of time or repetitions came first",
                            loose, one_way.size()));
    }

    double overhead(double shortest_s) {
        std::vector<double> seconds;
        for (const ProbeRecord& record : those_of(records_, "overhead")) seconds.push_back(record.seconds);
        if (seconds.empty()) {
            fit_.notes.emplace_back("no 'overhead' record: the overhead is 0, and the sender's part in the latency");
            return 0;
        }
        const double measured_s = seven_digits(median(seconds));
        // A message cannot take less than its sender's part: where the posting of many is slower than one, it is less.
        if (measured_s <= shortest_s) return measured_s;
        fit_.notes.push_back(fmt::format("an overhead of {} is more than the shortest message takes ({}): capped there",
                                         format_rounded(measured_s, Dimension::Seconds),
                                         format_rounded(shortest_s, Dimension::Seconds)));
        return shortest_s;
    }

    // What a message takes while its receiver sends as much; the checks show how much more than one way alone it is.
    void fit_both_ways(const std::vector<ProbeRecord>& records, FitOptions options) {
        const CostModel cost(fit_.cluster);
        std::vector<TimedSize> points;
        for (const ProbeRecord& record : records) {
            points.push_back({static_cast<double>(record.bytes), record.seconds});
            options.overhead_s = std::min(options.overhead_s, record.seconds);
            fit_.checks.push_back({record.what, record.bytes, record.senders, record.seconds,
                                   cost.send_s(static_cast<std::uint64_t>(record.bytes))});
        }
        if (sizes_of(records) < static_cast<std::size_t>(kLeastPointsOfSegment)) {
            fit_.notes.push_back(
                fmt::format("fewer than {} sizes of 'both-ways' records: the two ways are taken to be "
                            "apart",
                            kLeastPointsOfSegment));
            return;
        }
        fit_.both_ways = fit_piecewise(points, options);
        fit_.cluster.link.both_ways = link_of(*fit_.both_ways, 0).segments;
    }

    // An empty message says go, then all send at once to one link.
    void check_incast(const std::vector<ProbeRecord>& records) {
        const CostModel cost(fit_.cluster);
        for (const ProbeRecord& record : records) {
            const double all_s = cost.overhead_s() + cost.incast_s(static_cast<std::uint64_t>(record.senders),
                                                                   static_cast<std::uint64_t>(record.bytes));
            fit_.checks.push_back({record.what, record.bytes, record.senders, record.seconds, cost.send_s(0) + all_s});
        }
    }

    std::optional<double> rate_of(std::string_view what) const {
        std::int64_t largest = 0;
        for (const ProbeRecord& record : those_of(records_, what)) largest = std::max(largest, record.bytes);
        if (largest == 0) return std::nullopt;
        std::vector<double> rates;
        for (const ProbeRecord& record : those_of(records_, what))
            if (record.bytes == largest) rates.push_back(static_cast<double>(largest) / record.seconds);
        return seven_digits(median(rates));
    }

    void set_rates(bool device_is_host) {
        const std::optional<double> sum = rate_of("sum");
        const std::optional<double> update = rate_of("update");
        if (sum)
            fit_.cluster.host.sum_bytes_per_s = *sum;
        else
            fit_.notes.emplace_back("no 'sum' record: host.sum_rate is the base's");
        if (!device_is_host) return;
        if (!sum || !update)
            fail(fmt::format("no '{}' record", sum ? "update" : "sum"),
                 "records 'sum' and 'update', since --device-is-host takes the device's rates from them", "");
        fit_.cluster.device.sum_bytes_per_s = *sum;
        fit_.cluster.device.update_bytes_per_s = *update;
    }

    const std::vector<ProbeRecord>& records_;
    const SourceLocation& where_;
    ProbeFit fit_;
};

}  // namespace

ProbeFit fit_probe(const Cluster& base, const std::vector<ProbeRecord>& records, const SourceLocation& where,
                   FitOptions options, bool device_is_host) {
    return Fitter(base, records, where).run(options, device_is_host);
}

std::string describe_probe(const std::vector<ProbeRecord>& records) {
    std::set<std::string> hosts;
    std::set<std::string> libraries;
    for (const ProbeRecord& record : records) {
        for (const std::string& host : {record.from, record.to})
            if (!host.empty()) hosts.insert(host);
        if (!record.mpi.empty()) libraries.insert(record.mpi);
    }
    return fmt::format("coppice-run probe on {}{}",
                       hosts.empty() ? "unnamed hosts" : fmt::format("{}", fmt::join(hosts, ", ")),
                       libraries.empty() ? "" : fmt::format(" ({})", fmt::join(libraries, ", ")));
}

}  // namespace coppice
