// What `coppice-run probe` measures of a machine and `coppice fit` turns into a cluster file: one JSON object a line,
// schema "coppice.probe/1" (docs/running.md). Times in seconds, sizes in bytes.
//
//   one-way     one rank to another: half of a round trip of two such messages
//   both-ways   two ranks send each other a message of this size at the same time, until both have theirs
//   incast      `senders` ranks send a message of this size each to one, from that one's (empty) go until it has all;
//               so an empty one-way message is in it
//   sum         a rank adds so many bytes of gradients to as many, in its memory
//   update      a rank updates so many bytes of parameters by SGD with momentum, in its memory
//   overhead    the processor's part in sending one small message: posting it, of many posted one after another
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace coppice {

inline constexpr std::string_view kProbeSchema = "coppice.probe/1";

struct ProbeRecord {
    std::string schema{kProbeSchema};
    std::string what;  // one of the above
    std::int64_t bytes = 0;
    std::int64_t senders = 0;             // at the same time, to one receiver; 0: nothing is sent (sum, update)
    std::int64_t segment_bytes = 0;       // in which messages travelled; 0: nothing is sent
    std::int64_t segments_in_flight = 0;  // of one message, at a time
    double seconds = 0;                   // median over the repetitions
    double low_s = 0;                     // 95 % confidence interval of the median
    double high_s = 0;
    double min_s = 0;
    double max_s = 0;
    std::int64_t repetitions = 0;
    std::string stop;  // "interval": it became narrow enough; "limit": time or repetitions ran out before
    std::string from;  // host (of the first sender)
    std::string to;    // host (of the receiver)
    std::string mpi;   // the library
    std::string version;
};

// visit(name, member) for every field, in the order of the file.
template <class R, class Visit>
void visit_probe_fields(R& r, Visit&& visit) {
    visit("schema", r.schema);
    visit("what", r.what);
    visit("bytes", r.bytes);
    visit("senders", r.senders);
    visit("segment_bytes", r.segment_bytes);
    visit("segments_in_flight", r.segments_in_flight);
    visit("seconds", r.seconds);
    visit("low_s", r.low_s);
    visit("high_s", r.high_s);
    visit("min_s", r.min_s);
    visit("max_s", r.max_s);
    visit("repetitions", r.repetitions);
    visit("stop", r.stop);
    visit("from", r.from);
    visit("to", r.to);
    visit("mpi", r.mpi);
    visit("version", r.version);
}

std::string to_json_lines(const std::vector<ProbeRecord>& records);  // one object a line
// UserError with file and line for what is not such a record.
std::vector<ProbeRecord> parse_probe_records(std::string_view text, const std::string& file);

}  // namespace coppice
