#include "runtime/program/run_options.hpp"

#include "common/diag/error.hpp"
#include "common/units/size_list.hpp"
#include "runtime/program/command.hpp"

#include <fmt/format.h>

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

}  // namespace coppice::program
