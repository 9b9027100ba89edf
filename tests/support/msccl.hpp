// Short ways to write MSCCL's XML in tests: one line an element, so that an error's line tells which one it means.
#pragma once

#include "common/msccl/msccl_xml.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace coppice::testing {

// depid and deps, -1 for none.
struct MscclWait {
    int block = -1;
    int step = -1;
};

inline std::string msccl_step(int s, const std::string& type, const std::string& from, int srcoff,
                              const std::string& to, int dstoff, int cnt = 1, MscclWait wait = {}, int hasdep = 0) {
    return fmt::format(R"(<step s="{}" type="{}" srcbuf="{}" srcoff="{}" dstbuf="{}" dstoff="{}" cnt="{}" depid="{}" )"
                       R"(deps="{}" hasdep="{}"/>)",
                       s, type, from, srcoff, to, dstoff, cnt, wait.block, wait.step, hasdep) +
           "\n";
}

inline std::string msccl_block(int id, int send, int recv, const std::vector<std::string>& steps, int channel = 0) {
    std::string text = fmt::format("<tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", id, send, recv, channel);
    for (const std::string& step : steps) text += step;
    return text + "</tb>\n";
}

inline std::string msccl_gpu(int id, int input, int output, int scratch, const std::vector<std::string>& blocks) {
    std::string text =
        fmt::format("<gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", id, input, output, scratch);
    for (const std::string& block : blocks) text += block;
    return text + "</gpu>\n";
}

inline std::string msccl_algo(int chunks, int in_place, const std::vector<std::string>& gpus, int channels = 1) {
    std::string text = fmt::format(
        R"(<algo name="test" proto="Simple" nchannels="{}" nchunksperloop="{}" ngpus="{}" coll="allreduce" inplace="{}">)",
        channels, chunks, gpus.size(), in_place);
    text += "\n";
    for (const std::string& gpu : gpus) text += gpu;
    return text + "</algo>\n";
}

inline ImportedSchedule import_text(const std::string& text) {
    return import_msccl(parse_msccl(text, "test.xml"), "msccl(file=test.xml)");
}

// Of two gpus: 0 sends its chunk, 1 adds it and sends the sum back. Steps of gpu 0: 0 s, 1 r.
inline std::string there_and_back() {
    return msccl_algo(
        1, 1,
        {msccl_gpu(0, 1, 0, 0,
                   {msccl_block(0, 1, 1, {msccl_step(0, "s", "i", 0, "i", 0), msccl_step(1, "r", "i", 0, "i", 0)})}),
         msccl_gpu(1, 1, 0, 0, {msccl_block(0, 0, 0, {msccl_step(0, "rrcs", "i", 0, "i", 0)})})});
}

// A ring of p gpus as msccl-tools writes it: one tb a gpu that does all, with fused steps. Sums go to `result`: i in
// place, o out of place.
inline std::string fused_ring(int p, const std::string& result = "i") {
    std::vector<std::string> gpus;
    for (int rank = 0; rank < p; ++rank) {
        const auto wrap = [p](int n) { return ((n % p) + p) % p; };
        std::vector<std::string> steps;
        const auto add = [&](const std::string& type, int chunk) {
            steps.push_back(msccl_step(static_cast<int>(steps.size()), type, "i", wrap(chunk), result, wrap(chunk)));
        };
        add("s", rank);
        for (int s = 1; s < p - 1; ++s) add("rrs", rank - s);
        add("rrcs", rank - (p - 1));
        for (int s = 0; s < p - 2; ++s) add("rcs", rank - s);
        add("r", rank - (p - 2));
        gpus.push_back(msccl_gpu(rank, p, p, 0, {msccl_block(0, wrap(rank + 1), wrap(rank - 1), steps)}));
    }
    return msccl_algo(p, result == "i" ? 1 : 0, gpus);
}

}  // namespace coppice::testing
