#include "runtime/program/bench_report.hpp"

#include "common/program/numbers.hpp"
#include "common/step/all_reduce.hpp"
#include "common/units/quantity.hpp"
#include "common/version.hpp"
#include "runtime/program/mpi_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace coppice::program {

namespace {

std::string microseconds(double seconds) {
    const double us = seconds * 1e6;
    return us < 100 ? fmt::format("{:.2f}", us) : us < 10000 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us);
}

std::string gigabytes(double bytes_per_s) {
    return fmt::format("{:.3f}", bytes_per_s / 1e9);
}

constexpr const char* kRow = "{:>12} {:>11}  {:<{}} {:>5} {:>4} {:>10} {:>10} {:>10} {:>8} {:>8} {:>7}";

}  // namespace

BenchReport::BenchReport(const BenchSetup& setup, const std::vector<std::string>& arguments, const Crowd& crowd,
                         std::int32_t ranks)
    : setup_(setup), folder_(setup.output, "coppice-run bench", arguments, crowd, ranks) {
    for (const Contender& contender : setup.contenders) name_width_ = std::max(name_width_, contender.requested.size());
    name_width_ = std::max<std::size_t>(name_width_, 8);
    warn_of_crowd(crowd, ranks);
    if (setup.format == "csv") print(to_csv({}));
    if (setup.format != "table") return;
    std::string text =
        fmt::format("# coppice-run {} bench: {}, {} repetitions after {} of warm-up, segments of {}, {} in flight\n",
                    kVersion, element_type_name(setup.type), setup.repetitions, setup.warmup,
                    setup.mpi.segment_bytes == 0 ? "any size" : fmt::format("{} B", grouped(setup.mpi.segment_bytes)),
                    setup.mpi.segments_in_flight);
    if (setup.cluster) text += fmt::format("# predicted: closed form for cluster {}\n", setup.cluster->name);
    const auto line = [&](auto... titles) {
        std::string row = fmt::format(fmt::runtime(kRow), titles...);
        row[0] = '#';
        return row;
    };
    text += line("size", "count", "strategy", name_width_, "work-", "ser-", "time min", "median", "max", "algbw",
                 "busbw", "#wrong");
    text += setup.cluster ? "  predicted   error  schedule\n" : "  schedule\n";
    text += line("(B)", "(elements)", "", name_width_, "ers", "vers", "(us)", "(us)", "(us)", "(GB/s)", "(GB/s)", "");
    text += setup.cluster ? "       (us)\n" : "\n";
    print(text);
}

Record BenchReport::describe(const Contender& contender, std::uint64_t bytes) const {
    Record record;
    record.kind = "measurement";
    record.engine = "mpi";
    if (setup_.scenario) {
        record.scenario = setup_.scenario->name;
        record.scenario_hash = setup_.scenario->hash;
        record.seed = setup_.scenario->seed;
    }
    record.mode = "all-reduce";
    record.strategy_requested = contender.requested;
    record.schedule_hash = contender.schedule_hash;
    record.gpus = contender.workers;
    record.servers = contender.refusal ? 0 : contender.ranks - contender.workers;
    record.gradient_type = element_record_name(setup_.type);
    record.gradient_bytes = static_cast<std::int64_t>(bytes);
    record.version = kVersion;
    record.key = make_key(record);
    if (contender.refusal) {
        record.status = "n/a";
        record.status_reason = *contender.refusal;
    } else {
        record.status = "ok";
        record.strategy = contender.name;
    }
    return record;
}

std::optional<double> BenchReport::predicted_s(const Contender& contender, std::uint64_t bytes) const {
    if (!setup_.cluster || !contender.choice || contender.refusal) return std::nullopt;
    if (engine_refuses(closed_form_engine(), *contender.choice->strategy, contender.workers, *setup_.cluster))
        return std::nullopt;
    const std::uint32_t element = element_bytes(setup_.type);
    return contender.choice->strategy->closed_form_s(contender.collective, bytes / element, element,
                                                     CostModel(*setup_.cluster));
}

void BenchReport::row(const Contender& contender, std::uint64_t bytes, const std::optional<Measured>& measured) {
    Record record = describe(contender, bytes);
    const std::optional<double> predicted = predicted_s(contender, bytes);
    if (measured) {
        record.allreduce_min_s = measured->repetition_s.front();
        record.allreduce_max_s = measured->repetition_s.back();
        if (contender.choice) {
            record.messages = static_cast<std::int64_t>(measured->sent.messages);
            record.bytes_sent = static_cast<std::int64_t>(measured->sent.bytes);
        }
        set_all_reduce_time(record, measured->median_s());
        wrong_ += describe_measurement(*measured, setup_, fmt::format("{}, {} bytes", contender.name, bytes), record);
        if (!contender.choice) record.segment_bytes.reset();  // how MPI cuts its messages is not known
    }
    records_.push_back(record);
    std::vector<Record> fresh{record};
    if (predicted) {
        Record prediction = describe(contender, bytes);
        prediction.kind = "prediction";
        prediction.engine = "closed-form";
        prediction.cluster = setup_.cluster->name;
        prediction.messages = record.messages;
        prediction.bytes_sent = record.bytes_sent;
        set_all_reduce_time(prediction, *predicted);
        records_.push_back(prediction);
        fresh.push_back(prediction);
    }
    if (setup_.format == "table") print_row(record, predicted);
    print_records(setup_.format, fresh);
    folder_.write(records_, setup_.scenario ? &*setup_.scenario : nullptr);
}

void BenchReport::print_row(const Record& record, const std::optional<double>& predicted_s) const {
    const std::int64_t elements = record.gradient_bytes / element_bytes(setup_.type);
    const bool ran = record.allreduce_s.has_value();
    const auto when = [&](const std::optional<double>& seconds) { return ran ? microseconds(*seconds) : "n/a"; };
    std::string line =
        fmt::format(fmt::runtime(kRow), record.gradient_bytes, elements, record.strategy_requested, name_width_,
                    record.gpus, record.servers, when(record.allreduce_min_s), when(record.allreduce_s),
                    when(record.allreduce_max_s), ran ? gigabytes(record.algbw_bytes_per_s.value_or(0)) : "n/a",
                    ran ? gigabytes(record.busbw_bytes_per_s.value_or(0)) : "n/a",
                    ran ? std::to_string(*record.wrong_elements) : "n/a");
    if (setup_.cluster)
        line += fmt::format(" {:>10} {:>7}", predicted_s ? microseconds(*predicted_s) : "",
                            predicted_s && ran && *record.allreduce_s > 0
                                ? fmt::format("{:+.1f}%", (*predicted_s / *record.allreduce_s - 1) * 100)
                                : "");
    line += "  " + (ran ? record.schedule_hash : record.status_reason);
    if (ran && record.strategy != record.strategy_requested) line += " " + record.strategy;
    while (line.back() == ' ') line.pop_back();
    print(line + "\n");
}

void BenchReport::end() {
    if (setup_.format == "table")
        print(fmt::format("# wrong elements: {} {}\n", wrong_, wrong_ == 0 ? "OK" : "FAILED"));
    folder_.say_written();
}

}  // namespace coppice::program
