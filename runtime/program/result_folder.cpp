#include "runtime/program/result_folder.hpp"

#include "common/result/atomic_file.hpp"
#include "common/result/context.hpp"
#include "runtime/program/mpi_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace coppice::program {

ResultFolder::ResultFolder(std::optional<std::string> folder, std::string command, std::vector<std::string> arguments,
                           const Crowd& crowd, std::int32_t ranks)
    : folder_(std::move(folder)),
      command_(std::move(command)),
      arguments_(std::move(arguments)),
      context_{{"ranks", std::to_string(ranks)},
               {"hosts", std::to_string(crowd.hosts)},
               {"machines", std::to_string(crowd.machines)},
               {"ranks_on_first_machine", std::to_string(crowd.ranks_here)},
               {"cores_on_first_machine", std::to_string(crowd.cores_here)},
               {"waiting", crowd.crowded ? "naps: more ranks than cores" : "spins"}} {
    if (folder_) prepare_folder(*folder_);
}

void ResultFolder::write(const std::vector<Record>& records, const Scenario* scenario) const {
    if (!folder_) return;
    const std::filesystem::path folder = *folder_;
    write_whole(folder / "records.csv", to_csv(records));
    write_whole(folder / "records.jsonl", to_json_lines(records));
    write_whole(folder / "context.json", context_json(command_, arguments_, mpi_library(), context_));
    if (scenario) write_whole(folder / "scenario.toml", config::to_toml(scenario->tree));
}

void ResultFolder::say_written() const {
    if (folder_) fmt::print(stderr, "coppice-run: wrote records.csv, records.jsonl, context.json to {}\n", *folder_);
}

std::uint64_t describe_measurement(const Measured& measured, const MeasureSetup& setup, const std::string& label,
                                   Record& record) {
    record.repetitions = setup.repetitions;
    record.warmup = setup.warmup;
    const std::uint64_t segment = setup.mpi.segment_bytes;
    record.segment_bytes =
        static_cast<std::int64_t>(segment == 0 ? kLargestMessageBytes : std::min(segment, kLargestMessageBytes));
    record.check = measured.wrong_elements == 0 ? "passed" : "failed";
    record.wrong_elements = static_cast<std::int64_t>(measured.wrong_elements);
    if (measured.wrong_elements == 0) return 0;
    record.status = "wrong";
    record.status_reason = measured.first_wrong;
    fmt::print(stderr, "coppice-run: {}: {} wrong elements; {}\n", label, measured.wrong_elements,
               measured.first_wrong);
    return measured.wrong_elements;
}

void print_records(const std::string& format, const std::vector<Record>& records) {
    if (format == "csv")
        for (const Record& record : records) print(csv_line(record));
    if (format == "jsonl") print(to_json_lines(records));
}

}  // namespace coppice::program
