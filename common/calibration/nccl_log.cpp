// nccl-tests:
//
//   #  Rank  0 Group  0 Pid   1000 on node1 device  0 ...                          one line a rank
//   #                                            out-of-place                       in-place
//   #  size   count   type   redop   root    time   algbw   busbw #wrong    time   algbw   busbw #wrong
//   #   (B) (elements)                       (us)  (GB/s)  (GB/s)           (us)  (GB/s)  (GB/s)
//      1024     256  float     sum     -1   147.1    0.01    0.01      0   123.1    0.01    0.02      0
//
// Before 2022 all_reduce_perf had no root, and "error" (the greatest deviation) in place of "#wrong". Not checked (-c
// 0) is "N/A". Times of each iteration may stand behind "#wrong" (i_min, ...), a timestamp at the end. The name of the
// test is in the log only of later versions, or where a script echoed its command; else it shows in what only an
// all-reduce has: a reduction without a root, and busbw between algbw and twice of it.
#include "common/calibration/log_formats.hpp"
#include "common/diag/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace coppice::logs {

namespace {

const std::set<std::string, std::less<>> kTypes{"int8",     "uint8",  "int32",  "uint32",   "int64",
                                                "uint64",   "half",   "float",  "double",   "char",
                                                "bfloat16", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"};
const std::set<std::string, std::less<>> kOperations{"sum", "prod", "max", "min", "avg", "mulsum", "none"};

// nccl-tests' programs, longest names first where one is in another, and busbw / algbw of each.
struct Test {
    std::string_view name;
    std::string_view factor;
};
constexpr std::array<Test, 9> kTests{{{"all_reduce_perf", "2(n-1)/n"},
                                      {"reduce_scatter_perf", "(n-1)/n"},
                                      {"all_gather_perf", "(n-1)/n"},
                                      {"alltoall_perf", "(n-1)/n"},
                                      {"gather_perf", "(n-1)/n"},
                                      {"scatter_perf", "(n-1)/n"},
                                      {"broadcast_perf", "1"},
                                      {"sendrecv_perf", "1"},
                                      {"reduce_perf", "1"}}};

const Test* test_in(std::string_view text) {
    for (const Test& test : kTests)
        if (text.find(test.name) != std::string_view::npos) return &test;
    return nullptr;
}

[[noreturn]] void refuse(const SourceLocation& where, const std::string& found, const std::string& hint = "") {
    throw UserError({where, "", found, "a log of all_reduce_perf, whose busbw is 2(n-1)/n of its algbw",
                     hint.empty() ? "of nccl-tests' collectives only the all-reduce sums gradients" : hint});
}

// Where a row begins in a line: behind whatever a launcher or a log collector put before it.
std::optional<std::size_t> row_in(const Line& line) {
    const auto& words = line.words;
    for (std::size_t i = 0; !line.comment() && i + 4 < words.size(); ++i)
        if (is_whole(words[i]) && is_whole(words[i + 1]) && kTypes.contains(words[i + 2]) &&
            kOperations.contains(words[i + 3]))
            return i;
    return std::nullopt;
}

bool is_header(const Line& line) {
    const auto has = [&](const char* word) {
        return std::find(line.words.begin(), line.words.end(), word) != line.words.end();
    };
    return line.comment() && has("size") && has("count") && has("redop") && has("busbw") &&
           (has("time") || has("cputime"));
}

// What stands where in a row, counted from behind size, count, type and operation.
struct Header {
    bool root = false;               // then it is the first
    bool deviation = false;          // "error" instead of "#wrong"
    std::vector<std::size_t> times;  // out-of-place, in-place; algbw, busbw and the check follow each
    bool cpu_time = false;           // instead of the collective's
};

Header header_of(const Line& line) {
    Header header;
    const auto& words = line.words;
    const auto behind = static_cast<std::size_t>(std::find(words.begin(), words.end(), "size") - words.begin()) + 4;
    for (std::size_t i = behind; i < words.size(); ++i) {
        if (words[i] == "root") header.root = true;
        if (words[i] == "error") header.deviation = true;
        if (words[i] == "cputime") header.cpu_time = true;
        if (words[i] == "time") header.times.push_back(i - behind);
    }
    return header;
}

// A log that was cut has rows only: by the number of columns behind size, count, type and operation.
std::optional<Header> header_of_columns(const std::vector<std::string>& columns) {
    const auto is_deviation = [](const std::string& word) { return word.find_first_of(".e") != std::string::npos; };
    const std::size_t n = columns.size();
    if (n != 4 && n != 5 && n != 8 && n != 9) return std::nullopt;
    const std::size_t first = n % 4;
    return Header{first == 1, is_deviation(columns.back()),
                  n < 8 ? std::vector<std::size_t>{first} : std::vector<std::size_t>{first, first + 4}, false};
}

// The deviation that nccl-tests took for an error, by type.
double greatest_deviation(std::string_view type) {
    if (type == "double") return 1e-12;
    if (type == "float") return 1e-5;
    if (type == "half" || type == "bfloat16") return 1e-2;
    return 0;
}

// What is wrong with a result, or nothing.
std::optional<std::string> wrong_result(const std::string& word, bool deviation, std::string_view type) {
    if (word == "N/A") return std::nullopt;  // not checked
    const auto value = number_in(word);
    if (!value) return fmt::format("'{}' where the check of the result should be", word);
    if (deviation && *value > greatest_deviation(type)) return fmt::format("a result that is off by {}", word);
    if (!deviation && *value > 0) return fmt::format("{} wrong elements", word);
    return std::nullopt;
}

// Half of a unit of the last digit that is printed: 0.005 of 1.23, 5000 of 1.2e+05.
double half_digit(std::string_view word) {
    const std::size_t e = word.find_first_of("eE");
    const std::string_view mantissa = word.substr(0, e);
    const std::size_t point = mantissa.find('.');
    const auto decimals = point == std::string_view::npos ? 0 : static_cast<int>(mantissa.size() - point - 1);
    const double exponent =
        e == std::string_view::npos ? 0 : number_in(word.substr(word[e + 1] == '+' ? e + 2 : e + 1)).value_or(0);
    return 0.5 * std::pow(10.0, exponent - decimals);
}

// algbw is size / time, in units of 1e9: a row in which it is not was mangled on its way.
bool contradictory(double bytes, double seconds, const std::string& algbw) {
    const auto printed = number_in(algbw);
    if (!printed) return false;
    const double computed = bytes / seconds * 1e-9;
    return std::abs(*printed - computed) > 1.01 * half_digit(algbw) + 0.01 * computed;
}

class Reader {
public:
    Reader(const std::string& file, bool in_place) : in_place_(in_place) {
        log_.file = file;
        log_.tool = "nccl-tests all_reduce_perf";
        log_.column = in_place ? "in-place" : "out-of-place";
    }

    MeasuredLog read(const std::vector<Line>& lines) {
        for (const Line& line : lines) {
            if (const Test* test = test_in(line.text)) name_test(*test, line);
            if (is_header(line)) {
                take_header(line);
            } else if (line.comment()) {
                list_rank(line);
            } else if (const auto begin = row_in(line)) {
                row(line, *begin);
            } else if (!line.text.empty()) {
                ++log_.other_lines;
            }
        }
        end_list();
        tell_ranks();
        return std::move(log_);
    }

private:
    static constexpr double kMostRanks = 1e6;  // beyond, a bandwidth was mangled

    SourceLocation at(int line) const { return {log_.file, line, 0}; }

    void name_test(const Test& test, const Line& line) {
        if (test.name != "all_reduce_perf")
            refuse(at(line.number), fmt::format("a log of {}, whose busbw is {} of its algbw", test.name, test.factor));
        named_ = true;
    }

    void take_header(const Line& line) {
        header_ = header_of(line);
        if (header_->cpu_time)
            throw UserError({at(line.number), "", "CPU times of the calls (cputime)", "times of the all-reduce (time)",
                             "run the test again without --report_cputime"});
        if (in_place_ && header_->times.size() < 2)
            throw UserError({{"--in-place", 0, 0},
                             "",
                             fmt::format("one column of times in {}:{}", log_.file, line.number),
                             "a log with in-place times",
                             ""});
    }

    // "#  Rank  3 Group  0 Pid ...", "#   Rank  3 Pid ...". Groups (NCCL_TESTS_SPLIT) are collectives of their own; the
    // table is that of rank 0's.
    void list_rank(const Line& line) {
        const auto rank = std::find(line.words.begin(), line.words.end(), "Rank");
        if (rank == line.words.end() || rank + 1 == line.words.end() || !is_whole(rank[1]) || rank[1].size() > 7)
            return;
        const int number = std::stoi(rank[1]);
        if (list_.contains(number)) end_list();
        const auto group = std::find(rank, line.words.end(), "Group");
        list_[number] = group < line.words.end() - 1 ? group[1] : "";
        list_line_ = line.number;
    }
    void end_list() {
        const auto ranks = static_cast<std::int32_t>(std::count_if(
            list_.begin(), list_.end(), [&](const auto& one) { return one.second == list_.begin()->second; }));
        if (ranks == 0) return;
        if (listed_ && *listed_ != ranks)
            throw UserError({at(list_line_), "", fmt::format("a run on {} ranks after one on {}", ranks, *listed_),
                             "one number of ranks a file", "split the log"});
        listed_ = ranks;
        list_.clear();
    }

    void row(const Line& line, std::size_t begin) {
        const auto& words = line.words;
        const double bytes = *number_in(words[begin]);
        const std::string& type = words[begin + 2];
        const std::vector<std::string> columns(words.begin() + static_cast<std::ptrdiff_t>(begin) + 4, words.end());
        const auto leave_out = [&](std::string reason) {
            log_.left_out.push_back({line.number, bytes, std::move(reason)});
        };
        const std::optional<Header> header = header_ ? header_ : header_of_columns(columns);
        const std::size_t place = in_place_ ? 1 : 0;
        if (!header || header->times.size() <= place || columns.size() < header->times[place] + 4)
            return leave_out(fmt::format("{} columns, too few or too many", words.size() - begin));
        if (words[begin + 3] == "none") refuse(at(line.number), "rows without a reduction (redop none)");
        if (header->root && columns[0] != "-1" && !named_)
            refuse(at(line.number), fmt::format("rows with a root ({})", columns[0]));
        const std::size_t first = header->times[place];
        const std::string& time = columns[first];
        const auto seconds = seconds_in(time);
        if (!seconds || !(*seconds > 0)) return leave_out(fmt::format("a time of '{}'", time));
        if (const auto wrong = wrong_result(columns[first + 3], header->deviation, type)) return leave_out(*wrong);
        if (contradictory(bytes, *seconds, columns[first + 1]))
            return leave_out(
                fmt::format("a time of {} us that contradicts its algbw of {} GB/s", time, columns[first + 1]));
        const RankRange range = ranks_of(columns[first + 2], columns[first + 1]);
        least_ranks_ = std::max(least_ranks_, range.least);
        most_ranks_ = std::min(most_ranks_, range.most);
        last_row_ = line.number;
        log_.points.push_back({bytes, *seconds});
    }

    void tell_ranks() {
        if (log_.points.empty()) return;
        if (listed_ == 1)
            throw UserError({at(list_line_), "", "a test on one rank", "an all-reduce of two ranks or more",
                             "nccl-tests runs over several processes only if it was built with MPI=1"});
        // Below two ranks busbw is less than algbw: another collective's factor.
        if (most_ranks_ < 2 && !named_) refuse(at(last_row_), "busbw below algbw, as of reduce_scatter_perf");
        const double first = std::ceil(least_ranks_);
        const double last = std::floor(most_ranks_);
        if (listed_ && (*listed_ < first || *listed_ > last) && least_ranks_ <= most_ranks_)
            throw UserError({{log_.file},
                             "",
                             fmt::format("{} devices in the list, but busbw / algbw of {:.3g} to {:.3g} ranks",
                                         *listed_, least_ranks_, most_ranks_),
                             "one number of ranks",
                             "are these the logs of two runs?"});
        if (listed_) {
            log_.ranks = listed_;
            log_.ranks_told = "its list of devices";
        } else if (first == last && first >= 2 && last <= kMostRanks) {
            log_.ranks = static_cast<std::int32_t>(first);
            log_.ranks_told = "busbw / algbw";
        } else if (first > last || first > kMostRanks || last < 2) {
            log_.ranks_told = "no list of devices, and busbw / algbw fits no whole number of ranks";
        } else if (std::isfinite(last)) {
            log_.ranks_told = fmt::format("no list of devices, and busbw / algbw fits any from {} to {}", first, last);
        } else {
            log_.ranks_told = fmt::format("no list of devices, and busbw / algbw fits any from {} up", first);
        }
    }

    bool in_place_;
    MeasuredLog log_;
    bool named_ = false;  // all_reduce_perf, by name
    std::optional<Header> header_;
    std::map<int, std::string> list_;  // ranks of the list that is being read, with the group of each
    int list_line_ = 0;
    std::optional<std::int32_t> listed_;
    double least_ranks_ = 0;
    double most_ranks_ = INFINITY;
    int last_row_ = 0;
};

}  // namespace

bool is_nccl_log(const std::vector<Line>& lines) {
    return std::any_of(lines.begin(), lines.end(), [](const Line& line) { return is_header(line) || row_in(line); });
}

MeasuredLog parse_nccl_log(const std::vector<Line>& lines, const std::string& file, bool in_place) {
    return Reader(file, in_place).read(lines);
}

}  // namespace coppice::logs

namespace coppice {

// f = 2(n-1)/n, so n = 2/(2-f), which grows with f; f is known between the least and the greatest quotient that round
// to what is printed.
RankRange ranks_of(std::string_view busbw, std::string_view algbw) {
    const auto bus = logs::number_in(busbw);
    const auto alg = logs::number_in(algbw);
    if (!bus || !alg) return {0, INFINITY};
    const double bus_half = logs::half_digit(busbw) * (1 + 1e-9);
    const double alg_half = logs::half_digit(algbw) * (1 + 1e-9);
    const auto ranks = [](double factor) { return factor < 2 ? 2 / (2 - factor) : INFINITY; };
    const double least = ranks(std::max(0.0, *bus - bus_half) / (*alg + alg_half));
    const double most = *alg > alg_half ? ranks((*bus + bus_half) / (*alg - alg_half)) : INFINITY;
    return {least, most};
}

}  // namespace coppice
