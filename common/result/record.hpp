// The one record: a prediction, a simulation and a measurement are the same type, told apart by `kind`. All
// machine-readable output is written and read here, from one list of fields (visit_fields). Meaning, units and the
// rules for changing the schema: docs/records.md, which a test compares with this list.
//
// Nothing of date, host or build stands in a record: the same input and seed give the same bytes. Those go into a
// context file beside it (context.hpp).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

inline constexpr std::string_view kRecordSchema = "coppice.record/3";

struct Record {
    std::string schema{kRecordSchema};
    std::string kind;    // "prediction" (closed form), "simulation", "measurement"
    std::string engine;  // "closed-form", "sim", "mpi"
    std::string key;     // joins predicted and measured: see make_key
    std::string scenario;
    std::string scenario_hash;  // of the resolved scenario without its sweep
    std::string cluster;
    std::string model;
    std::string mode;     // "fused"; "all-reduce": no step around it
    std::string scaling;  // "strong", "weak"
    std::string strategy_requested;
    std::string strategy;       // as executed: what the requested one left open was decided; empty: nothing ran
    std::string schedule_hash;  // of the schedule that was priced, played or run
    std::int64_t gpus = 0;      // workers
    std::int64_t servers = 0;   // dedicated machines beside them
    std::int64_t global_batch = 0;
    std::int64_t batch_per_gpu = 0;  // the largest share
    std::string gradient_type;
    std::int64_t gradient_bytes = 0;
    std::string status;  // "ok", "n/a"
    std::string status_reason;
    std::optional<double> step_s;  // measured: the median over repetitions
    std::optional<double> compute_s;
    std::optional<double> exposed_comm_s;
    std::optional<double> update_s;
    std::optional<std::int64_t> messages;    // of the all-reduce, over all ranks
    std::optional<std::int64_t> bytes_sent;  // of the all-reduce, over all ranks
    std::optional<double>
        algbw_bytes_per_s;  // gradient_bytes / exposed_comm_s, or / allreduce_s where there is no step
    std::optional<double> busbw_bytes_per_s;  // algbw 2(n-1)/n, n = gpus (nccl-tests' definition)
    std::optional<double> samples_per_s;
    std::optional<double> speedup;
    std::string speedup_of;  // "train-time" or "rate": which ratio
    std::string baseline;    // "measured" or "modelled"
    std::string baseline_device;
    std::optional<std::int64_t> baseline_batch;
    std::optional<double> baseline_samples_per_s;
    std::optional<double> baseline_epochs;
    std::optional<double> efficiency;  // speedup / gpus
    std::optional<double> epochs;
    std::optional<double> train_hours;
    std::optional<double> published_speedup;       // or the lower end of what the source gives
    std::optional<double> published_speedup_high;  // the upper end where the source gives two values
    std::optional<double> published_train_hours;
    std::string published_use;  // "fit": this point served to fit the cluster; "check": it did not; else empty
    std::optional<double> published_error;  // relative, against the nearer end
    std::string version;
    std::int64_t seed = 0;
    // --- of an all-reduce without a step around it (mode "all-reduce") ---
    std::optional<double> allreduce_s;      // of the all-reduce alone; measured: the median over repetitions
    std::optional<double> allreduce_min_s;  // measured: of the fastest repetition, as its slowest rank saw it
    std::optional<double> allreduce_max_s;
    // --- of a measured step ---
    std::optional<double> step_min_s;
    std::optional<double> step_max_s;
    std::optional<double> shrink;  // of a step: compute, update and gradients were divided by it
    // --- of any measurement ---
    std::optional<std::int64_t> repetitions;
    std::optional<std::int64_t> warmup;         // repetitions before these that do not count
    std::optional<std::int64_t> segment_bytes;  // longest piece in which messages travelled
    std::string check;                          // measured: "passed", "failed"
    std::optional<std::int64_t> wrong_elements;
};

// visit(name, member) for every field, in the order of the files.
template <class R, class Visit>
void visit_fields(R& r, Visit&& visit) {
    visit("schema", r.schema);
    visit("kind", r.kind);
    visit("engine", r.engine);
    visit("key", r.key);
    visit("scenario", r.scenario);
    visit("scenario_hash", r.scenario_hash);
    visit("cluster", r.cluster);
    visit("model", r.model);
    visit("mode", r.mode);
    visit("scaling", r.scaling);
    visit("strategy_requested", r.strategy_requested);
    visit("strategy", r.strategy);
    visit("schedule_hash", r.schedule_hash);
    visit("gpus", r.gpus);
    visit("servers", r.servers);
    visit("global_batch", r.global_batch);
    visit("batch_per_gpu", r.batch_per_gpu);
    visit("gradient_type", r.gradient_type);
    visit("gradient_bytes", r.gradient_bytes);
    visit("status", r.status);
    visit("status_reason", r.status_reason);
    visit("step_s", r.step_s);
    visit("compute_s", r.compute_s);
    visit("exposed_comm_s", r.exposed_comm_s);
    visit("update_s", r.update_s);
    visit("messages", r.messages);
    visit("bytes_sent", r.bytes_sent);
    visit("algbw_bytes_per_s", r.algbw_bytes_per_s);
    visit("busbw_bytes_per_s", r.busbw_bytes_per_s);
    visit("samples_per_s", r.samples_per_s);
    visit("speedup", r.speedup);
    visit("speedup_of", r.speedup_of);
    visit("baseline", r.baseline);
    visit("baseline_device", r.baseline_device);
    visit("baseline_batch", r.baseline_batch);
    visit("baseline_samples_per_s", r.baseline_samples_per_s);
    visit("baseline_epochs", r.baseline_epochs);
    visit("efficiency", r.efficiency);
    visit("epochs", r.epochs);
    visit("train_hours", r.train_hours);
    visit("published_speedup", r.published_speedup);
    visit("published_speedup_high", r.published_speedup_high);
    visit("published_train_hours", r.published_train_hours);
    visit("published_use", r.published_use);
    visit("published_error", r.published_error);
    visit("version", r.version);
    visit("seed", r.seed);
    visit("allreduce_s", r.allreduce_s);
    visit("allreduce_min_s", r.allreduce_min_s);
    visit("allreduce_max_s", r.allreduce_max_s);
    visit("step_min_s", r.step_min_s);
    visit("step_max_s", r.step_max_s);
    visit("shrink", r.shrink);
    visit("repetitions", r.repetitions);
    visit("warmup", r.warmup);
    visit("segment_bytes", r.segment_bytes);
    visit("check", r.check);
    visit("wrong_elements", r.wrong_elements);
}

// "model=googlenet|grad=fp32:53513120|mode=fused|strategy=tree|gpus=32|servers=0|batch=1024": what was asked for,
// without the cluster (which for a measurement is the machine itself).
std::string make_key(const Record& record);

std::string to_csv(const std::vector<Record>& records);         // with a header line; RFC 4180 quoting; absent: empty
std::string csv_line(const Record& record);                     // without the header, for records that come one by one
std::string to_json_lines(const std::vector<Record>& records);  // one object a line; absent: null

// UserError with file and line for a schema, a column or a value that is not what it should be.
std::vector<Record> parse_csv(std::string_view text, const std::string& file);
std::vector<Record> parse_json_lines(std::string_view text, const std::string& file);

}  // namespace coppice
