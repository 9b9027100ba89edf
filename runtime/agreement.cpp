#include "runtime/agreement.hpp"

#include "common/diag/error.hpp"

#include <optional>

namespace coppice {

namespace {

struct Failure {
    ExitCode code;
    std::string message;
};

void agree(const Communicator& comm, const WaitOptions& options, const std::optional<Failure>& mine) {
    int first = mine ? comm.rank() : comm.size();
    comm.all_reduce(&first, 1, MPI_INT, MPI_MIN, "MPI_Iallreduce: did a rank fail?", options);
    if (first == comm.size()) return;
    std::string text;
    if (comm.rank() == first) {
        const std::string where = first == 0 ? "" : fmt::format("rank {}: ", first);
        text = fmt::format("{} {}{}", static_cast<int>(mine->code), where, mine->message);
    }
    text = comm.broadcast(text, first, options);
    const std::size_t space = text.find(' ');
    throw AgreedFailure(std::stoi(text.substr(0, space)), text.substr(space + 1));
}

}  // namespace

void together(const Communicator& comm, const WaitOptions& options, const std::function<void()>& step) {
    std::optional<Failure> failure;
    try {
        step();
    } catch (const UserError& error) {
        failure = {ExitCode::BadInput, error.what()};
    } catch (const EnvironmentError& error) {
        failure = {ExitCode::Environment, error.what()};
    }
    agree(comm, options, failure);
}

void require_same(const Communicator& comm, const WaitOptions& options, const std::vector<Fact>& facts) {
    std::string text;
    for (const Fact& fact : facts) text += fact.name + '\t' + fact.value + '\n';
    std::string theirs = comm.broadcast(text, 0, options);
    std::optional<Failure> failure;
    if (theirs != text) {
        failure = {ExitCode::BadInput, fmt::format("this rank has {} things to agree on, rank 0 others", facts.size())};
        for (const Fact& fact : facts) {
            const std::size_t end = theirs.find('\n');
            const std::string line = theirs.substr(0, end);
            theirs.erase(0, end == std::string::npos ? end : end + 1);
            if (line == fact.name + '\t' + fact.value) continue;
            const std::size_t tab = line.find('\t');
            failure->message = fmt::format(
                "{} is {} here, but rank 0 has {} {}: all ranks need the same coppice-run, files and "
                "arguments",
                fact.name, fact.value, line.substr(0, tab),
                tab == std::string::npos ? "nothing" : line.substr(tab + 1));
            break;
        }
    }
    agree(comm, options, failure);
}

}  // namespace coppice
