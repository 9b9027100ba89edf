#include "common/scenario/data_files.hpp"

#include "common/diag/nearest.hpp"

#include <algorithm>
#include <cstdlib>

namespace coppice {

namespace fs = std::filesystem;

fs::path data_folder() {
    if (const char* set = std::getenv("COPPICE_DATA_DIR"); set && *set) {
        if (!fs::is_directory(fs::path(set) / "scenarios"))
            throw EnvironmentError("find coppice's files",
                                   std::string("COPPICE_DATA_DIR is '") + set + "', which has no folder 'scenarios'");
        return set;
    }
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    const fs::path installed = program.parent_path().parent_path() / "share" / "coppice";
    if (fs::is_directory(installed / "scenarios", error)) return installed;
    for (fs::path folder = program.parent_path(); !folder.empty(); folder = folder.parent_path()) {
        if (fs::is_directory(folder / "scenarios" / "models", error)) return folder;
        if (folder == folder.root_path()) break;
    }
    throw EnvironmentError("find coppice's files",
                           "neither share/coppice beside the program nor a source tree above it; set COPPICE_DATA_DIR");
}

std::vector<std::string> data_names(const std::string& kind) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(data_folder() / "scenarios" / kind, error))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

fs::path find_data(const std::string& kind, const std::string& name, const fs::path& beside,
                   const SourceLocation& where, const std::string& key) {
    if (name.find('/') != std::string::npos || name.ends_with(".toml")) {
        const fs::path path(name);
        return path.is_absolute() ? path : beside / path;
    }
    const std::vector<std::string> names = data_names(kind);
    if (std::find(names.begin(), names.end(), name) == names.end())
        throw UserError({where, key, "'" + name + "'", "the name of one of coppice's " + kind + " or a path to a file",
                         did_you_mean(name, names)});
    return data_folder() / "scenarios" / kind / (name + ".toml");
}

}  // namespace coppice
