// What the two programs' command lines have in common: options, help, how a line of arguments is read, and where
// results go.
#pragma once

#include "common/config/value.hpp"

#include <boost/program_options.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace coppice::program {

// A subcommand's arguments, read; UserError (with near names) for what is not one of `options`.
struct Arguments {
    boost::program_options::variables_map values;
    bool help = false;  // --help was given and has been printed
    bool has(const char* name) const { return values.count(name) > 0; }
    std::string text(const char* name) const { return values[name].as<std::string>(); }
};

// `usage`: "coppice predict SCENARIO [options]", description and example follow the options in --help.
struct HelpText {
    std::string usage;
    std::string description;
    std::string examples;
};

// `positional`: names of options that may also be given by position, in order; the last takes the rest if it is
// composing().
Arguments read_arguments(const std::vector<std::string>& arguments,
                         const boost::program_options::options_description& options,
                         const std::vector<std::string>& positional, const HelpText& help);

// For a missing argument: UserError with the usage line.
void require(const Arguments& arguments, const char* name, const std::string& what, const HelpText& help);

// An option's text, which must be one of `known`.
std::string choice(const Arguments& arguments, const char* name, const std::vector<std::string>& known);

// An option in per cent, 0 to `most`, as a ratio.
double percent(const Arguments& arguments, const char* name, double most);

// What --set was given, in order.
std::vector<config::Setting> set_options(const Arguments& arguments);

// "pdf,svg" -> pdf, svg
std::vector<std::string> split_commas(const std::string& text);

// Results go to stdout through here: EnvironmentError if they could not be written (a full disk, a closed pipe).
void print(std::string_view text);

}  // namespace coppice::program
