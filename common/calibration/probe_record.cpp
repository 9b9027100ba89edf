#include "common/calibration/probe_record.hpp"

#include <nlohmann/json.hpp>

namespace coppice {

std::string to_json_lines(const std::vector<ProbeRecord>& records) {
    std::string text;
    for (const ProbeRecord& record : records) {
        nlohmann::ordered_json object;
        visit_probe_fields(record, [&](const char* name, const auto& value) { object[name] = value; });
        text += object.dump() + "\n";
    }
    return text;
}

}  // namespace coppice
