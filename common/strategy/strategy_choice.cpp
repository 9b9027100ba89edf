// Strategies as users write them: "ring", "ps(placement=dedicated,sum=ordered)".
#include "common/diag/error.hpp"
#include "common/diag/nearest.hpp"
#include "common/strategy/builtin.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <iterator>

namespace coppice {

namespace {

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\n";
    const std::size_t first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Splits at `separator` outside parentheses; every part trimmed. Empty parts are kept.
std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(') ++depth;
        if (text[i] == ')') depth = std::max(0, depth - 1);
        if (text[i] != separator || depth > 0) continue;
        parts.push_back(trimmed(text.substr(begin, i - begin)));
        begin = i + 1;
    }
    parts.push_back(trimmed(text.substr(begin)));
    return parts;
}

// What is the same in each error of one parse.
struct Parse {
    const SourceLocation& where;
    std::string_view key;

    [[noreturn]] void fail(std::string_view found, std::string expected, std::string hint = "") const {
        throw UserError({where, std::string(key), fmt::format("'{}'", found), std::move(expected), std::move(hint)});
    }
};

std::string checked_integer(const Parse& parse, const Strategy& strategy, const ParameterSpec& spec,
                            std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    if (!whole || value < spec.lowest || value > spec.highest)
        parse.fail(text,
                   fmt::format("an integer from {} to {}{} for {}'s {}", spec.lowest, spec.highest,
                               spec.choices.empty() ? "" : fmt::format(", or {},", fmt::join(spec.choices, " or ")),
                               strategy.name, spec.name),
                   spec.choices.empty() ? "" : did_you_mean(text, spec.choices));
    return std::to_string(value);
}

std::string checked_value(const Parse& parse, const Strategy& strategy, const ParameterSpec& spec,
                          std::string_view text) {
    if (spec.free_text) {
        if (text.empty()) parse.fail(text, fmt::format("{}'s {}", strategy.name, spec.name), spec.help);
        return std::string(text);
    }
    const bool is_choice = std::find(spec.choices.begin(), spec.choices.end(), text) != spec.choices.end();
    if (!is_choice && spec.takes_integer()) return checked_integer(parse, strategy, spec, text);
    if (!is_choice)
        parse.fail(text, fmt::format("{} for {}'s {}", fmt::join(spec.choices, " or "), strategy.name, spec.name),
                   did_you_mean(text, spec.choices));
    return std::string(text);
}

const ParameterSpec& named_parameter(const Parse& parse, const Strategy& strategy, std::string_view name) {
    std::vector<std::string> names;
    for (const ParameterSpec& spec : strategy.parameters) {
        if (spec.name == name) return spec;
        names.push_back(spec.name);
    }
    if (names.empty()) parse.fail(name, fmt::format("no parameter: {} takes none", strategy.name));
    parse.fail(name, fmt::format("a parameter of {}: {}", strategy.name, fmt::join(names, ", ")),
               did_you_mean(name, names));
}

void read_parameters(const Parse& parse, std::string_view list, StrategyChoice& choice) {
    Parameters given;
    for (const std::string_view part : split(list, ',')) {
        const std::size_t equals = part.find('=');
        if (equals == std::string_view::npos)
            parse.fail(part, "parameter=value", fmt::format("write {}(parameter=value)", choice.strategy->name));
        const ParameterSpec& spec = named_parameter(parse, *choice.strategy, trimmed(part.substr(0, equals)));
        std::string value = checked_value(parse, *choice.strategy, spec, trimmed(part.substr(equals + 1)));
        if (!given.emplace(spec.name, value).second)
            parse.fail(part, fmt::format("{} once only", spec.name), "it is given twice");
    }
    for (auto& [name, value] : given) choice.parameters[name] = value;
}

// Free text has no default.
void require_free_text(const Parse& parse, std::string_view whole, const StrategyChoice& choice) {
    for (const ParameterSpec& spec : choice.strategy->parameters)
        if (spec.free_text && choice.parameters.at(spec.name).empty())
            parse.fail(whole, fmt::format("{}({}=...)", choice.strategy->name, spec.name),
                       fmt::format("{}: {}", spec.name, spec.help));
}

}  // namespace

StrategyChoice parse_strategy(std::string_view text, const SourceLocation& where, std::string_view key) {
    const Parse parse{where, key};
    const std::string_view whole = trimmed(text);
    const std::size_t open = whole.find('(');
    const std::string_view name = trimmed(whole.substr(0, open));
    if (const std::size_t close = name.find(')'); close != std::string_view::npos)
        parse.fail(whole, "a '(' before the ')'");

    StrategyChoice choice;
    choice.strategy = find_strategy(name);
    if (choice.strategy == nullptr)
        parse.fail(name, "the name of a strategy", did_you_mean(name, all_strategy_names()));
    for (const ParameterSpec& spec : choice.strategy->parameters) choice.parameters[spec.name] = spec.otherwise;
    if (open == std::string_view::npos) {
        require_free_text(parse, whole, choice);
        return choice;
    }

    const std::size_t close = whole.find(')', open);
    if (close == std::string_view::npos) parse.fail(whole, "a ')' at the end");
    if (close + 1 != whole.size()) parse.fail(whole.substr(close + 1), "nothing after the ')'");
    const std::string_view list = trimmed(whole.substr(open + 1, close - open - 1));
    if (list.find('(') != std::string_view::npos) parse.fail(whole, "one pair of parentheses");
    if (!list.empty()) read_parameters(parse, list, choice);
    require_free_text(parse, whole, choice);
    return choice;
}

std::vector<StrategyChoice> parse_strategies(const std::vector<std::string>& texts, const SourceLocation& where,
                                             std::string_view key) {
    std::vector<StrategyChoice> choices;
    for (const std::string& text : texts) {
        choices.push_back(parse_strategy(text, where, key));
        const auto same = [&](const StrategyChoice& one) { return one.canonical() == choices.back().canonical(); };
        if (std::any_of(choices.begin(), choices.end() - 1, same)) choices.pop_back();
    }
    return choices;
}

bool is_open(const StrategyChoice& choice) {
    const auto open = [](const auto& parameter) { return parameter.second == "auto"; };
    return choice.strategy->resolved != nullptr &&
           (choice.strategy->schedule == nullptr ||
            std::any_of(choice.parameters.begin(), choice.parameters.end(), open));
}

Settled settle(const StrategyChoice& requested, CollectiveCase collective, std::uint64_t elements,
               std::uint32_t element_bytes, const CostModel* cost) {
    collective.parameters = requested.parameters;
    Settled settled{requested, std::move(collective), {}};
    const auto refusal = [&](const Strategy& strategy) -> std::optional<std::string> {
        if (auto reason = strategy.refuses(settled.collective)) return reason;
        if (!cost || !strategy.refuses_on) return std::nullopt;
        return strategy.refuses_on(settled.collective, elements * element_bytes, cost->cluster());
    };
    settled.refusal = refusal(*requested.strategy);
    if (settled.refusal || !is_open(requested)) return settled;
    if (!cost) {
        settled.refusal = fmt::format("{} is chosen by cost, which needs a cluster", requested.canonical());
        return settled;
    }
    settled.choice = requested.strategy->resolved(settled.collective, elements, element_bytes, *cost);
    COPPICE_CHECK(!is_open(settled.choice), "{} became {}", requested.canonical(), settled.choice.canonical());
    settled.collective.parameters = settled.choice.parameters;
    settled.refusal = refusal(*settled.choice.strategy);
    COPPICE_CHECK(!settled.refusal, "{} became {}: {}", requested.canonical(), settled.choice.canonical(),
                  *settled.refusal);
    return settled;
}

std::string StrategyChoice::canonical() const {
    return builtin::canonical_name(strategy->name, strategy->parameters, parameters);
}

std::vector<std::string> split_strategy_list(std::string_view text) {
    const auto parts = split(text, ',');
    return {parts.begin(), parts.end()};
}

namespace builtin {

std::string canonical_name(std::string_view name, const std::vector<ParameterSpec>& specs,
                           const Parameters& parameters) {
    std::vector<std::string> stated;
    for (const auto& [parameter, value] : parameters) {
        const auto spec = std::find_if(specs.begin(), specs.end(), [&](const auto& s) { return s.name == parameter; });
        COPPICE_CHECK(spec != specs.end(), "{} has no parameter {}", name, parameter);
        if (value != spec->otherwise) stated.push_back(fmt::format("{}={}", parameter, value));
    }
    return stated.empty() ? std::string(name) : fmt::format("{}({})", name, fmt::join(stated, ","));
}

std::string_view value_of(const std::vector<ParameterSpec>& specs, const Parameters& parameters,
                          std::string_view name) {
    if (const auto found = parameters.find(name); found != parameters.end()) return found->second;
    const auto spec = std::find_if(specs.begin(), specs.end(), [&](const auto& s) { return s.name == name; });
    COPPICE_CHECK(spec != specs.end(), "no parameter {}", name);
    return spec->otherwise;
}

std::int32_t number_of(const std::vector<ParameterSpec>& specs, const Parameters& parameters, std::string_view name) {
    return std::stoi(std::string(value_of(specs, parameters, name)));
}

}  // namespace builtin

}  // namespace coppice
