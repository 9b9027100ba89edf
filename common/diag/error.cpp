#include "common/diag/error.hpp"

#include <cstdio>
#include <cstdlib>

namespace coppice {

std::string to_string(const SourceLocation& where) {
    if (where.line <= 0) return where.file;
    if (where.column <= 0) return fmt::format("{}:{}", where.file, where.line);
    return fmt::format("{}:{}:{}", where.file, where.line, where.column);
}

namespace {

std::string user_message(const UserErrorParts& parts) {
    std::string text;
    const std::string where = to_string(parts.where);
    if (!where.empty()) text += where + ": ";
    if (!parts.key.empty()) text += parts.key + ": ";
    if (!parts.found.empty()) text += "found " + parts.found;
    if (!parts.expected.empty()) text += (parts.found.empty() ? "expected " : ", expected ") + parts.expected;
    if (!parts.hint.empty()) text += "\n  " + parts.hint;
    return text;
}

}  // namespace

UserError::UserError(UserErrorParts parts) : std::runtime_error(user_message(parts)), parts_(std::move(parts)) {}

EnvironmentError::EnvironmentError(std::string_view what, std::string_view why)
    : std::runtime_error(fmt::format("cannot {}: {}", what, why)) {}

Interrupted::Interrupted(int signal)
    : std::runtime_error(fmt::format("interrupted by signal {}", signal)), signal_(signal) {}

void detail::check_failed(const char* file, int line, const char* condition, const std::string& operands) {
    std::fflush(stdout);
    std::fprintf(stderr, "coppice: internal error at %s:%d: check '%s' failed: %s\n", file, line, condition,
                 operands.c_str());
    std::abort();
}

}  // namespace coppice
