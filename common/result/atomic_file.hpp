// Files that are whole or not there: written beside their place and renamed into it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace coppice {

// EnvironmentError ("cannot write 'x': No space left on device"); the partial file is removed, an older one is
// untouched.
void write_whole(const std::filesystem::path& path, std::string_view content);

// Makes the folder (and its parents) and finds out that files can be written there. EnvironmentError if not.
void prepare_folder(const std::filesystem::path& folder);

std::string read_whole(const std::filesystem::path& path);  // UserError if it cannot be read

}  // namespace coppice
