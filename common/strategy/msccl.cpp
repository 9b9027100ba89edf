// Imported: an all-reduce of a file of MSCCL's XML (common/msccl, docs/msccl.md), for just the number of GPUs that it
// was written for. It is proved before anybody sees it. Nothing is known of it but the schedule, so it has no closed
// form; its contract is what the proof has counted.
//
// A file is read once a program: what was proved is what is simulated or executed, whatever becomes of the file
// meanwhile.
#include "common/msccl/msccl_xml.hpp"
#include "common/result/atomic_file.hpp"
#include "common/strategy/builtin.hpp"

#include <algorithm>
#include <map>

namespace coppice::builtin {

namespace {

constexpr std::string_view kName = "msccl";

std::vector<ParameterSpec> specs() {
    return {{.name = "file",
             .help = "an all-reduce in MSCCL's XML, made by msccl-tools, by hand or by coppice show schedule",
             .otherwise = "",
             .free_text = true}};
}

const ImportedSchedule& imported(const CollectiveCase& collective) {
    static std::map<std::string, ImportedSchedule, std::less<>> known;
    const std::string file(value_of(specs(), collective.parameters, "file"));
    const auto found = known.find(file);
    if (found != known.end()) return found->second;
    const MscclAlgo algo = parse_msccl(read_whole(file), file);
    return known.emplace(file, import_msccl(algo, canonical_name(kName, specs(), collective.parameters))).first->second;
}

std::optional<std::string> refuses(const CollectiveCase& collective) {
    const std::int32_t gpus = imported(collective).schedule.workers;
    if (collective.workers == gpus) return std::nullopt;
    return fmt::format("the file is for {} GPU{}", gpus, gpus == 1 ? "" : "s");
}

Schedule schedule(const CollectiveCase& collective) {
    return imported(collective).schedule;
}

Contract contract(const CollectiveCase& collective) {
    const ImportedSchedule& known = imported(collective);
    const Traffic& traffic = known.verdict.traffic;
    return {.chunks = known.schedule.tensors[0].chunks,
            .steps = known.verdict.critical_messages,
            .chunks_sent = traffic.chunks_sent,
            .max_sent_by_rank = *std::max_element(traffic.sent_by_rank.begin(), traffic.sent_by_rank.end()),
            .max_received_by_rank = *std::max_element(traffic.received_by_rank.begin(), traffic.received_by_rank.end()),
            .exact = false,
            .chunks_summed = traffic.chunks_summed};
}

}  // namespace

Strategy msccl() {
    return {.name = kName,
            .help = "an all-reduce from a file of MSCCL's XML, for just its number of GPUs; no closed form",
            .closed_form = "none: --engine sim plays the schedule",
            .source = "the file; its format: msccl-tools, Microsoft",
            .parameters = specs(),
            .refuses = refuses,
            .schedule = schedule,
            .contract = contract,
            .closed_form_s = nullptr};
}

}  // namespace coppice::builtin
