// The folder in which a command of coppice-run leaves its records (-o): rewritten whole after each row, so that what
// was measured before a failure is there. Only rank 0 has one.
#pragma once

#include "common/result/record.hpp"
#include "common/scenario/scenario.hpp"
#include "runtime/mpi_call.hpp"
#include "runtime/program/bench_measure.hpp"
#include "runtime/program/run_options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace coppice::program {

class ResultFolder {
public:
    // `command`: "coppice-run bench". No folder: nothing is written. EnvironmentError if it cannot be made.
    ResultFolder(std::optional<std::string> folder, std::string command, std::vector<std::string> arguments,
                 const Crowd& crowd, std::int32_t ranks);

    void write(const std::vector<Record>& records, const Scenario* scenario) const;
    void say_written() const;  // on stderr, at the end

private:
    std::optional<std::string> folder_;
    std::string command_;
    std::vector<std::string> arguments_;
    std::vector<std::pair<std::string, std::string>> context_;
};

// What is the same in the record of any measurement: repetitions, segments, whether the sums were right; if not, that
// is also said on stderr. Returns how many elements were wrong.
std::uint64_t describe_measurement(const Measured& measured, const MeasureSetup& setup, const std::string& label,
                                   Record& record);

// On standard output, where the format is csv or jsonl.
void print_records(const std::string& format, const std::vector<Record>& records);

}  // namespace coppice::program
