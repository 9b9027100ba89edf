#include "common/result/context.hpp"

#include "common/version.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <ctime>

namespace coppice {

std::string context_json(const std::string& program, const std::vector<std::string>& arguments,
                         const std::string& engine, const std::vector<std::pair<std::string, std::string>>& more) {
    nlohmann::ordered_json context;
    context["schema"] = "coppice.context/1";
    context["program"] = program;
    context["version"] = kVersion;
    context["revision"] = kRevision;
    context["engine"] = engine;
    context["arguments"] = arguments;
    const std::time_t now = std::time(nullptr);
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    context["date"] = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                                  utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
    utsname system{};
    if (::uname(&system) == 0) {
        context["host"] = system.nodename;
        context["system"] = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
    }
    context["processors"] = ::sysconf(_SC_NPROCESSORS_ONLN);
    context["build_type"] = kBuildType;
    context["compiler"] = kCompiler;
    context["sanitizers"] = kSanitizers;
    for (const auto& [name, text] : more) context[name] = text;
    return context.dump(2) + "\n";
}

}  // namespace coppice
