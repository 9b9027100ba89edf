#include "common/result/atomic_file.hpp"

#include "common/diag/error.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

namespace coppice {

namespace fs = std::filesystem;

void write_whole(const fs::path& path, std::string_view content) {
    // In the same folder, or the rename would cross file systems. The process id keeps two runs apart.
    const std::string aside = fmt::format("{}.part-{}", path.string(), ::getpid());
    const auto fail = [&](int error) {
        ::unlink(aside.c_str());
        throw EnvironmentError(fmt::format("write '{}'", path.string()), std::strerror(error));
    };
    const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) fail(errno);
    int error = 0;
    while (!content.empty() && error == 0) {
        const ssize_t written = ::write(file, content.data(), content.size());
        if (written >= 0)
            content.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR)
            error = errno;
    }
    // A full disk or quota may show only here.
    if (error == 0 && ::fsync(file) != 0 && errno != EINVAL && errno != EROFS) error = errno;
    if (::close(file) != 0 && error == 0) error = errno;
    if (error == 0 && ::rename(aside.c_str(), path.c_str()) != 0) error = errno;
    if (error != 0) fail(error);
}

void prepare_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw EnvironmentError(fmt::format("make the folder '{}'", folder.string()), error.message());
    if (!fs::is_directory(folder, error))
        throw EnvironmentError(fmt::format("use '{}' as a folder", folder.string()), "it is a file");
    const std::string probe = (folder / fmt::format(".coppice-{}", ::getpid())).string();
    const int file = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0) throw EnvironmentError(fmt::format("write into '{}'", folder.string()), std::strerror(errno));
    ::close(file);
    ::unlink(probe.c_str());
}

std::string read_whole(const fs::path& path) {
    errno = 0;
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) throw UserError({{path.string()}, "", "a directory", "a file", ""});
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw UserError({{path.string()},
                         "",
                         fmt::format("a file that cannot be read ({})", std::strerror(errno)),
                         "a readable file",
                         ""});
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace coppice
