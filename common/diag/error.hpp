// The three kinds of failure (docs/architecture.md, "Errors") and what each carries.
//
//   UserError         the input is wrong: file, line, column, key, found, expected, nearest name   exit 2
//   EnvironmentError  the machine said no: a file, a disk, a missing program, a failed child       exit 3
//   COPPICE_CHECK     coppice is wrong: never compiled out, prints its operands and aborts         exit 134
//
// Expected outcomes ("this strategy needs two GPUs a node") are values, not exceptions.
// Libraries throw; only a main() prints and exits.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace coppice {

// Where a piece of input stands. `file` may also be a word such as "--set" or "--gpus".
// line and column count from 1; 0 means "the whole file" or "does not apply".
struct SourceLocation {
    std::string file;
    int line = 0;
    int column = 0;
};

// "titan.toml:3:12", "titan.toml" or "--set".
std::string to_string(const SourceLocation& where);

struct UserErrorParts {
    SourceLocation where;
    std::string key;       // dotted path, "cluster.link.bandwidth"; may be empty
    std::string found;     // what stands there, quoted by the thrower where it is text
    std::string expected;  // what would have been right
    std::string hint;      // "did you mean ...?" or another way out; may be empty

    UserErrorParts() = default;
    // A constructor and no aggregate: GCC 12 takes the half-built aggregates of a throw for uninitialised ones.
    UserErrorParts(SourceLocation where_, std::string key_, std::string found_, std::string expected_,
                   std::string hint_)
        : where(std::move(where_)),
          key(std::move(key_)),
          found(std::move(found_)),
          expected(std::move(expected_)),
          hint(std::move(hint_)) {}
};

class UserError : public std::runtime_error {
public:
    explicit UserError(UserErrorParts parts);
    const UserErrorParts& parts() const { return parts_; }

private:
    UserErrorParts parts_;
};

// what: the thing attempted, "write out/records.csv"; why: the system's word, "No space left on device".
class EnvironmentError : public std::runtime_error {
public:
    EnvironmentError(std::string_view what, std::string_view why);
};

// The user pressed ctrl-C (or sent SIGTERM); exit 130 (143).
class Interrupted : public std::runtime_error {
public:
    explicit Interrupted(int signal);
    int signal() const { return signal_; }

private:
    int signal_;
};

// Documented in README and docs/cli.md.
enum class ExitCode : int { Ok = 0, Internal = 1, BadInput = 2, Environment = 3, Difference = 4 };

namespace detail {
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& operands);
}

}  // namespace coppice

// COPPICE_CHECK(cond, "format", operands...): an invariant of coppice itself.
// A format is always given, so that the report says with which values it failed.
#define COPPICE_CHECK(cond, ...)                                                                    \
    do {                                                                                            \
        if (!(cond)) [[unlikely]]                                                                   \
            ::coppice::detail::check_failed(__FILE__, __LINE__, #cond, ::fmt::format(__VA_ARGS__)); \
    } while (false)
