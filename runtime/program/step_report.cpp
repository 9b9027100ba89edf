#include "runtime/program/step_report.hpp"

#include "common/program/numbers.hpp"
#include "common/units/quantity.hpp"
#include "common/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace coppice::program {

namespace {

constexpr const char* kRow =
    "{:<{}} {:>5} {:>4} {:>7} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9} {:>10} {:>8} {:>6} {:>7} {:>10} {:>7}  {}";

std::string milliseconds(const std::optional<double>& seconds) {
    return seconds ? fmt::format("{:.2f}", *seconds * 1e3) : "n/a";
}

std::string header(const StepSetup& setup, std::size_t name_width) {
    const Scenario& scenario = setup.scenario;
    const Workload& workload = scenario.workload;
    std::string text = fmt::format("# coppice-run {} step: {}\n", kVersion, scenario.title);
    text += fmt::format("# {}, {} B of {} gradients; modelled compute and update (waited for), real communication\n",
                        workload.network.name, grouped(workload.gradient_bytes()), workload.gradient_type);
    if (workload.shrink != 1)
        text += fmt::format("# compute, update and gradients divided by {:g}: rates are of these shorter steps\n",
                            workload.shrink);
    text += fmt::format("# {} repetitions after {} of warm-up; predicted: closed form for cluster {}\n",
                        setup.repetitions, setup.warmup, scenario.cluster.name);
    const auto line = [&](auto... titles) {
        std::string row = fmt::format(fmt::runtime(kRow), titles...);
        while (row.back() == ' ') row.pop_back();
        text += row + "\n";
    };
    const std::string rate = workload.network.sample + "s/s";
    line("#strategy", name_width, "work-", "ser-", "global", "step min", "median", "max", "compute", "exposed",
         "update", rate, "speedup", "effi-", "#wrong", "predicted", "error", "schedule");
    line("#", name_width, "ers", "vers", "batch", "(ms)", "(ms)", "(ms)", "(ms)", "comm. (ms)", "(ms)", "", "",
         "ciency", "", "(ms)", "", "");
    return text;
}

}  // namespace

StepReport::StepReport(const StepSetup& setup, const Predictor& predictor, const std::vector<StepPlan>& plans,
                       std::vector<Record> predictions, ResultFolder folder)
    : setup_(setup),
      predictor_(predictor),
      plans_(plans),
      predictions_(std::move(predictions)),
      folder_(std::move(folder)) {
    for (const StepPlan& plan : plans) name_width_ = std::max(name_width_, plan.choice.canonical().size());
    if (setup.format == "csv") print(to_csv({}));
    if (setup.format == "table") print(header(setup, name_width_));
}

Record StepReport::describe(const StepPlan& plan, const std::optional<Measured>& measured, const std::string& refusal) {
    Record record = measured ? predictor_.timed(plan, measured->median_s()) : predictor_.refused(plan, refusal);
    record.kind = "measurement";
    record.engine = "mpi";
    record.cluster.clear();  // it is the one that this runs on
    if (!measured) return record;
    record.step_min_s = measured->repetition_s.front();
    record.step_max_s = measured->repetition_s.back();
    wrong_ += describe_measurement(*measured, setup_, plan.label(), record);
    return record;
}

void StepReport::row(const std::optional<Measured>& measured, const std::string& refusal) {
    const Record record = describe(plans_[next_], measured, refusal);
    const Record& prediction = predictions_[next_];
    ++next_;
    std::vector<Record> fresh{record};
    if (measured && prediction.status == "ok") fresh.push_back(prediction);
    records_.insert(records_.end(), fresh.begin(), fresh.end());
    if (setup_.format == "table") print_row(record, prediction);
    print_records(setup_.format, fresh);
    folder_.write(records_, &setup_.scenario);
}

void StepReport::print_row(const Record& record, const Record& prediction) const {
    const bool ran = record.step_s.has_value();
    const auto text = [&](const char* format, const std::optional<double>& value) {
        return value ? fmt::format(fmt::runtime(format), *value) : std::string("n/a");
    };
    const bool predicted = ran && prediction.step_s;
    print(fmt::format(fmt::runtime(kRow), record.strategy_requested, name_width_, record.gpus, record.servers,
                      record.global_batch, milliseconds(record.step_min_s), milliseconds(record.step_s),
                      milliseconds(record.step_max_s), milliseconds(record.compute_s),
                      milliseconds(record.exposed_comm_s), milliseconds(record.update_s),
                      text("{:.4g}", record.samples_per_s), text("{:.2f}", record.speedup),
                      text("{:.2f}", record.efficiency), ran ? std::to_string(*record.wrong_elements) : "n/a",
                      predicted ? milliseconds(prediction.step_s) : "",
                      predicted ? fmt::format("{:+.1f}%", (*prediction.step_s / *record.step_s - 1) * 100) : "",
                      !ran ? record.status_reason
                           : record.schedule_hash +
                                 (record.strategy == record.strategy_requested ? "" : " " + record.strategy)) +
          "\n");
}

void StepReport::end() {
    if (setup_.format == "table")
        print(fmt::format("# wrong elements: {} {}\n", wrong_, wrong_ == 0 ? "OK" : "FAILED"));
    folder_.say_written();
}

}  // namespace coppice::program
