#include "sim/program/report.hpp"

#include "common/program/numbers.hpp"
#include "common/result/text_table.hpp"
#include "common/scenario/gpu_list.hpp"

#include <algorithm>
#include <cmath>

namespace coppice::program {

using Align = TextTable::Align;

namespace {

std::string baseline_sentence(const Scenario& scenario) {
    const Baseline& base = scenario.baseline;
    std::string text = base.speedup_of == SpeedupOf::TrainTime ? "ratio of times to train" : "ratio of rates";
    text += fmt::format(", against one {}", base.device);
    if (base.measured)
        text += fmt::format(", measured: {:.4g} {}s/s at batch {}", *base.samples_per_s,
                            scenario.workload.network.sample, *base.batch);
    else if (base.batch)
        text += fmt::format(", modelled at batch {}", *base.batch);
    else
        text += fmt::format(", modelled at the {}",
                            scenario.training.scaling == Scaling::Strong ? "same global batch" : "same batch per GPU");
    if (base.epochs && base.speedup_of == SpeedupOf::TrainTime) text += fmt::format(", {} epochs", *base.epochs);
    return text;
}

std::string training_sentence(const Scenario& scenario) {
    const Training& training = scenario.training;
    std::string text = fmt::format(
        "{}, {} scaling, {} {}", training.mode, training.scaling == Scaling::Strong ? "strong" : "weak",
        training.scaling == Scaling::Strong ? "global batch" : "batch per GPU", fmt::join(training.batches, ", "));
    if (training.epochs)
        text += fmt::format(", {} epochs of {} {}s", *training.epochs,
                            grouped(static_cast<std::uint64_t>(*training.samples_per_epoch)),
                            scenario.workload.network.sample);
    return text;
}

std::string published_cell(const Record& record) {
    if (!record.published_speedup) return "";
    std::string text = fmt::format("{:.4g}", *record.published_speedup);
    if (record.published_speedup_high && *record.published_speedup_high > *record.published_speedup)
        text += fmt::format("-{:.4g}", *record.published_speedup_high);
    return text + (record.published_use == "fit" ? " *" : "  ");
}

TextTable speed_table(const Scenario& scenario) {
    return TextTable({{"GPUs"},
                      {"servers"},
                      {"batch/GPU"},
                      {"step"},
                      {"compute"},
                      {"exposed comm."},
                      {"update"},
                      {fmt::format("{}s/s", scenario.workload.network.sample)},
                      {"speedup"},
                      {"efficiency"},
                      {"hours"},
                      {"published"},
                      {"error"},
                      {"", Align::Left}});
}

// What ran, where it was left open what does; or why nothing ran.
std::string remark(const Record& record) {
    if (record.status != "ok") return fmt::format("{}: {}", record.status, record.status_reason);
    return record.strategy == record.strategy_requested ? "" : record.strategy;
}

void add_row(TextTable& table, const Record& record) {
    if (record.status != "ok") {
        table.row({std::to_string(record.gpus), "", std::to_string(record.batch_per_gpu), "", "", "", "", "", "", "",
                   "", published_cell(record), "", remark(record)});
        return;
    }
    table.row({std::to_string(record.gpus), record.servers ? std::to_string(record.servers) : "",
               std::to_string(record.batch_per_gpu), duration(record.step_s), duration(record.compute_s),
               duration(record.exposed_comm_s), duration(record.update_s), fmt::format("{:.4g}", *record.samples_per_s),
               fmt::format("{:.2f}", *record.speedup), fmt::format("{:.1f} %", *record.efficiency * 100),
               record.train_hours ? fmt::format("{:.2f}", *record.train_hours) : "", published_cell(record),
               record.published_error ? signed_percent(*record.published_error) : "", remark(record)});
}

std::string sensitivity_table(const Prediction& prediction) {
    TextTable table({{"strategy", Align::Left},
                     {"GPUs"},
                     {"batch"},
                     {"link bandwidth"},
                     {"link latency"},
                     {"compute rate"},
                     {"summing rate"}});
    for (const Sensitivity& s : prediction.sensitivities)
        table.row({s.strategy, std::to_string(s.gpus), std::to_string(s.global_batch), signed_percent(s.link_bandwidth),
                   signed_percent(s.link_latency), signed_percent(s.compute_rate), signed_percent(s.summing_rate)});
    return "What a doubling changes in the step time:\n" + table.text();
}

void add_line(std::string& text, std::string_view what, const std::string& value) {
    text += fmt::format("  {:<10}{}\n", what, value);
}

std::string cluster_sentence(const Cluster& cluster) {
    return fmt::format("{}: {}, {} a node; link {}, {}", cluster.name, cluster.device.name, cluster.gpus_per_node,
                       format_bandwidth_both(cluster.link.bytes_per_s()),
                       format_rounded(cluster.link.latency_s(), Dimension::Seconds));
}

}  // namespace

std::string report_header(const Scenario& scenario, const std::string& engine) {
    const Workload& workload = scenario.workload;
    std::string text = fmt::format("{}\n", scenario.title);
    const auto line = [&](std::string_view what, const std::string& value) { add_line(text, what, value); };
    line("network", fmt::format("{}{}, {} parameters, {} of {} gradients", workload.network.name,
                                workload.heads == Heads::WithAuxiliary ? " with its auxiliary heads" : "",
                                grouped(workload.gradient_elements), size_text(workload.gradient_bytes()),
                                workload.gradient_type));
    if (workload.shrink != 1)
        line("shrunk", fmt::format("compute, update and gradients divided by {:g}: rates are of these shorter steps",
                                   workload.shrink));
    line("cluster", cluster_sentence(scenario.cluster));
    line("training", training_sentence(scenario));
    line("speedup", baseline_sentence(scenario));
    line("GPUs", describe_gpu_list(scenario.gpus));
    line("engine", engine);
    return text;
}

std::string report_tables(const Scenario& scenario, const Prediction& prediction) {
    std::string text;
    const std::vector<Record>& records = prediction.records;
    const bool several = scenario.training.batches.size() > 1;
    bool fitted = false;
    std::size_t at = 0;
    for (const std::string& strategy : scenario.strategies) {
        for (const std::int64_t batch : scenario.training.batches) {
            TextTable table = speed_table(scenario);
            for (std::size_t i = 0; i < scenario.gpus.size(); ++i, ++at) {
                add_row(table, records[at]);
                fitted = fitted || records[at].published_use == "fit";
            }
            const std::string which =
                !several ? ""
                         : fmt::format(", {} {}",
                                       scenario.training.scaling == Scaling::Strong ? "global batch" : "batch per GPU",
                                       batch);
            text += fmt::format("\n{}{}\n{}", strategy, which, table.text());
        }
    }
    if (fitted) text += "  * served to fit the cluster's constants; the other published values did not\n";
    if (!prediction.sensitivities.empty()) text += "\n" + sensitivity_table(prediction);
    return text;
}

std::string all_reduce_header(const AllReduceSweep& sweep, const std::string& engine) {
    std::string text = "All-reduces alone, without a training step\n";
    add_line(text, "cluster", cluster_sentence(sweep.cost.cluster()));
    add_line(text, "type", std::string(sweep.element.name));
    add_line(text, "GPUs", describe_gpu_list(sweep.gpus));
    add_line(text, "engine", engine);
    return text;
}

std::string all_reduce_table(const AllReduceSweep& sweep, const std::vector<Record>& records) {
    TextTable table({{"size (B)"},
                     {"elements"},
                     {"strategy", Align::Left},
                     {"workers"},
                     {"servers"},
                     {"time"},
                     {"algbw (GB/s)"},
                     {"busbw (GB/s)"},
                     {"", Align::Left}});
    const auto gigabytes = [](const std::optional<double>& rate) {
        return rate ? fmt::format("{:.3f}", *rate / 1e9) : "";
    };
    for (const Record& record : records)
        table.row({std::to_string(record.gradient_bytes), std::to_string(record.gradient_bytes / sweep.element.bytes),
                   record.strategy_requested, std::to_string(record.gpus), std::to_string(record.servers),
                   duration(record.allreduce_s), gigabytes(record.algbw_bytes_per_s),
                   gigabytes(record.busbw_bytes_per_s), remark(record)});
    return "\n" + table.text();
}

}  // namespace coppice::program
