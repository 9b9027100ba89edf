#include "common/program/arguments.hpp"

#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace coppice::program {

namespace po = boost::program_options;

double percent(const Arguments& arguments, const char* name, double most) {
    const auto value = arguments.values[name].as<double>();
    if (!(value >= 0 && value <= most))
        throw UserError({{fmt::format("--{}", name), 0, 0},
                         "",
                         fmt::format("{:g}", value),
                         fmt::format("per cent, from 0 to {:g}", most),
                         ""});
    return value / 100;
}

std::vector<config::Setting> set_options(const Arguments& arguments) {
    if (!arguments.has("set")) return {};
    return config::parse_settings(arguments.values["set"].as<std::vector<std::string>>());
}

std::vector<std::string> split_commas(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == ',')
            parts.emplace_back();
        else if (c != ' ')
            parts.back() += c;
    }
    return parts;
}

void print(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
        throw EnvironmentError("write to standard output", std::strerror(errno));
}

namespace {

std::vector<std::string> option_names(const po::options_description& options) {
    std::vector<std::string> names;
    for (const auto& option : options.options()) names.push_back("--" + option->long_name());
    return names;
}

[[noreturn]] void wrong_arguments(std::string found, std::string expected, std::string hint) {
    throw UserError({{"command line", 0, 0}, "", std::move(found), std::move(expected), std::move(hint)});
}

}  // namespace

Arguments read_arguments(const std::vector<std::string>& arguments, const po::options_description& options,
                         const std::vector<std::string>& positional, const HelpText& help) {
    po::options_description all(options);
    all.add_options()("help,h", "this text");
    Arguments read;
    for (const std::string& argument : arguments) {
        if (argument != "--help" && argument != "-h") continue;
        std::ostringstream text;
        po::options_description shown("Options", 100, 50);
        for (const auto& option : all.options())
            if (std::find(positional.begin(), positional.end(), option->long_name()) == positional.end())
                shown.add(option);
        text << shown;
        print(fmt::format("Usage: {}\n\n{}\n\n{}\nExamples:\n{}", help.usage, help.description, text.str(),
                          help.examples));
        read.help = true;
        return read;
    }
    po::positional_options_description by_position;
    for (const std::string& name : positional) {
        const bool takes_the_rest = name == positional.back() && all.find(name, false).semantic()->is_composing();
        by_position.add(name.c_str(), takes_the_rest ? -1 : 1);
    }
    try {
        // No abbreviations: --form must not become --format in silence.
        const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
        po::store(po::command_line_parser(arguments).options(all).positional(by_position).style(style).run(),
                  read.values);
        po::notify(read.values);
    } catch (const po::unknown_option& error) {
        wrong_arguments("'" + error.get_option_name() + "'", "an option of " + help.usage,
                        did_you_mean(error.get_option_name(), option_names(all)));
    } catch (const po::too_many_positional_options_error&) {
        wrong_arguments("more arguments than it takes", help.usage, "");
    } catch (const po::multiple_occurrences& error) {
        wrong_arguments(error.get_option_name() + " given more than once", "one " + error.get_option_name(), "");
    } catch (const po::error& error) {
        wrong_arguments(error.what(), help.usage, "");
    }
    return read;
}

void require(const Arguments& arguments, const char* name, const std::string& what, const HelpText& help) {
    if (!arguments.has(name)) wrong_arguments("nothing", what, "usage: " + help.usage);
}

std::string choice(const Arguments& arguments, const char* name, const std::vector<std::string>& known) {
    const std::string given = arguments.text(name);
    if (std::find(known.begin(), known.end(), given) != known.end()) return given;
    throw UserError({{fmt::format("--{}", name), 0, 0},
                     "",
                     "'" + given + "'",
                     fmt::format("one of {}", fmt::join(known, ", ")),
                     did_you_mean(given, known)});
}

}  // namespace coppice::program
