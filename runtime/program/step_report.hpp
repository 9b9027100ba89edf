// The results of coppice-run step, row by row as they come: a table, CSV or JSON Lines on standard output, and files.
// Only rank 0 has one.
#pragma once

#include "common/result/record.hpp"
#include "common/step/prediction.hpp"
#include "runtime/program/bench_measure.hpp"
#include "runtime/program/result_folder.hpp"
#include "runtime/program/run_options.hpp"

#include <optional>
#include <string>
#include <vector>

namespace coppice::program {

struct StepSetup : MeasureSetup {
    Scenario scenario;
};

class StepReport {
public:
    // All that is given must outlive the report. `predictions`: one record a plan, by closed form.
    StepReport(const StepSetup& setup, const Predictor& predictor, const std::vector<StepPlan>& plans,
               std::vector<Record> predictions, ResultFolder folder);

    // Of the next plan. Without a measurement: it does not run, for the reason given.
    void row(const std::optional<Measured>& measured, const std::string& refusal);
    void end();
    std::uint64_t wrong_elements() const { return wrong_; }

private:
    Record describe(const StepPlan& plan, const std::optional<Measured>& measured, const std::string& refusal);
    void print_row(const Record& record, const Record& prediction) const;

    const StepSetup& setup_;
    const Predictor& predictor_;
    const std::vector<StepPlan>& plans_;
    std::vector<Record> predictions_;
    ResultFolder folder_;
    std::vector<Record> records_;
    std::size_t next_ = 0;
    std::size_t name_width_ = 8;
    std::uint64_t wrong_ = 0;
};

}  // namespace coppice::program
