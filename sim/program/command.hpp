// The subcommands of the program coppice.
#pragma once

#include "common/program/arguments.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace coppice::program {

struct Command {
    std::string_view name;
    std::string_view help;  // one line
    int (*run)(const std::vector<std::string>& arguments);
};

const std::vector<Command>& commands();

int run_predict(const std::vector<std::string>& arguments);
int run_explain(const std::vector<std::string>& arguments);
int run_crossover(const std::vector<std::string>& arguments);
int run_rules(const std::vector<std::string>& arguments);
int run_list(const std::vector<std::string>& arguments);
int run_show(const std::vector<std::string>& arguments);
int run_check(const std::vector<std::string>& arguments);
int run_compare(const std::vector<std::string>& arguments);
int run_fit(const std::vector<std::string>& arguments);
int run_figure(const std::vector<std::string>& arguments);

}  // namespace coppice::program
