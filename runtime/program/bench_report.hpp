// The results of coppice-run bench, row by row as they come: a table in the manner of nccl-tests, CSV or JSON Lines on
// standard output, and files. Only rank 0 has one.
#pragma once

#include "common/result/record.hpp"
#include "runtime/program/bench_measure.hpp"
#include "runtime/program/bench_plan.hpp"
#include "runtime/program/result_folder.hpp"

#include <optional>
#include <string>
#include <vector>

namespace coppice::program {

class BenchReport {
public:
    BenchReport(const BenchSetup& setup, const std::vector<std::string>& arguments, const Crowd& crowd,
                std::int32_t ranks);

    // Without a measurement: it does not run, for the contender's reason.
    void row(const Contender& contender, std::uint64_t bytes, const std::optional<Measured>& measured);
    void end();
    std::uint64_t wrong_elements() const { return wrong_; }

private:
    Record describe(const Contender& contender, std::uint64_t bytes) const;
    std::optional<double> predicted_s(const Contender& contender, std::uint64_t bytes) const;
    void print_row(const Record& record, const std::optional<double>& predicted_s) const;

    const BenchSetup& setup_;
    ResultFolder folder_;
    std::vector<Record> records_;
    std::size_t name_width_ = 0;
    std::uint64_t wrong_ = 0;
};

}  // namespace coppice::program
