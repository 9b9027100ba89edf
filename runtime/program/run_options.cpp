#include "runtime/program/run_options.hpp"

#include "common/diag/error.hpp"
#include "common/units/size_list.hpp"
#include "runtime/program/command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace coppice::program {

namespace po = boost::program_options;

void add_message_options(po::options_description& options) {
    options.add_options()("segment", po::value<std::string>()->value_name("SIZE"),
                          "messages travel in pieces of this size; 0 B: whole; default: the cluster's, else 256 KiB")(
        "in-flight", po::value<std::int32_t>()->value_name("N"),
        "so many pieces of a message are posted at a time; default: the cluster's, else 8")(
        "timeout", po::value<double>()->default_value(30)->value_name("SECONDS"),
        "without any progress for so long all ranks are ended");
}

std::int32_t whole_number(const Arguments& read, const char* name, std::int32_t lowest, std::int32_t highest) {
    const auto value = read.values[name].as<std::int32_t>();
    if (value < lowest || value > highest)
        throw UserError({{fmt::format("--{}", name), 0, 0},
                         "",
                         std::to_string(value),
                         fmt::format("a whole number from {} to {}", lowest, highest),
                         ""});
    return value;
}

double positive_number(const Arguments& read, const char* name, const char* what) {
    const auto value = read.values[name].as<double>();
    if (!(value > 0 && value < 1e9))
        throw UserError({{fmt::format("--{}", name), 0, 0}, "", fmt::format("{}", value), what, ""});
    return value;
}

MpiOptions read_message_options(const Arguments& read, const std::optional<Cluster>& cluster) {
    MpiOptions options;
    if (cluster && cluster->link.segment_bytes) options.segment_bytes = *cluster->link.segment_bytes;
    if (cluster && cluster->link.segments_in_flight) options.segments_in_flight = *cluster->link.segments_in_flight;
    if (read.has("segment")) options.segment_bytes = parse_size(read.text("segment"), {"--segment", 0, 0});
    if (read.has("in-flight"))
        options.segments_in_flight = static_cast<std::uint32_t>(whole_number(read, "in-flight", 1, 1'000'000));
    options.wait.timeout_s = positive_number(read, "timeout", "a number of seconds above 0");
    options.wait.interrupt = interrupt_flag();
    return options;
}

void add_measure_options(po::options_description& options, std::int32_t warmup, std::int32_t repetitions) {
    options.add_options()("warmup", po::value<std::int32_t>()->default_value(warmup)->value_name("N"),
                          "repetitions that do not count")(
        "repetitions,r", po::value<std::int32_t>()->default_value(repetitions)->value_name("N"),
        "repetitions that count")("format,f", po::value<std::string>()->default_value("table")->value_name("NAME"),
                                  "table, csv or jsonl, on standard output")(
        "output,o", po::value<std::string>()->value_name("DIR"),
        "also writes records there (rank 0), whole after each row");
    add_message_options(options);
}

void read_measure_options(const Arguments& read, const std::optional<Cluster>& cluster, MeasureSetup& setup) {
    setup.format = choice(read, "format", {"table", "csv", "jsonl"});
    setup.warmup = whole_number(read, "warmup", 0, 1'000'000);
    setup.repetitions = whole_number(read, "repetitions", 1, 1'000'000);
    setup.mpi = read_message_options(read, cluster);
    if (read.has("output")) setup.output = read.text("output");
}

ElementType gradient_type_of(const Scenario& scenario, const std::string& hint) {
    const auto type = element_type_named(scenario.workload.gradient_type);
    if (!type)
        throw UserError({{scenario.name, 0, 0},
                         "workload.gradient_type",
                         "'" + scenario.workload.gradient_type + "'",
                         fmt::format("a type that coppice-run can sum: {}", fmt::join(element_type_names(), ", ")),
                         hint});
    return *type;
}

}  // namespace coppice::program
