// From the text of an MSCCL file to MscclAlgo: everything that can be seen without following the data.
#include "common/diag/nearest.hpp"
#include "common/msccl/msccl_xml.hpp"

#include <fmt/ranges.h>
#include <pugixml.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>

namespace coppice {

namespace {

struct TypeRow {
    MscclType type;
    std::string_view name;
    bool receives, sends, reads_source, writes_target;
};

// In the order of MscclType.
constexpr std::array<TypeRow, 9> kTypes{{{MscclType::Send, "s", false, true, true, false},
                                         {MscclType::Recv, "r", true, false, false, true},
                                         {MscclType::RecvReduceCopy, "rrc", true, false, true, true},
                                         {MscclType::RecvCopySend, "rcs", true, true, false, true},
                                         {MscclType::RecvReduceSend, "rrs", true, true, true, false},
                                         {MscclType::RecvReduceCopySend, "rrcs", true, true, true, true},
                                         {MscclType::Copy, "cpy", false, false, true, true},
                                         {MscclType::Reduce, "re", false, false, true, true},
                                         {MscclType::Nop, "nop", false, false, false, false}}};

const TypeRow& row(MscclType type) {
    return kTypes.at(static_cast<std::size_t>(type));
}

constexpr std::int64_t kCountMax = 1 << 24;  // of chunks, steps, ranks: beyond it a file is a mistake
constexpr std::int64_t kChannelMax = std::numeric_limits<std::uint16_t>::max();

bool in_a_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == ':';
}

// One element, and the only way to its attributes: all are read through here, so none is overlooked.
class Reader {
public:
    Reader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

    SourceLocation at(std::ptrdiff_t offset) const {
        const std::string_view before = text_.substr(0, static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, offset)));
        const std::size_t newline = before.rfind('\n');
        const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
        return {file_, 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n')),
                1 + static_cast<int>(before.size() - begin)};
    }
    // Where its '<' stands.
    SourceLocation at(const pugi::xml_node& node) const { return at(node.offset_debug() - 1); }

    // pugixml does not say where an attribute stands, so its name is looked for in the text of the tag.
    SourceLocation at(const pugi::xml_node& node, std::string_view attribute) const {
        char quote = 0;
        for (auto i = static_cast<std::size_t>(node.offset_debug()); i < text_.size(); ++i) {
            const char c = text_[i];
            if (quote != 0) {
                if (c == quote) quote = 0;
            } else if (c == '"' || c == '\'') {
                quote = c;
            } else if (c == '>') {
                break;
            } else if (text_.substr(i, attribute.size()) == attribute && !in_a_name(text_[i - 1]) &&
                       i + attribute.size() < text_.size() && !in_a_name(text_[i + attribute.size()])) {
                return at(static_cast<std::ptrdiff_t>(i));
            }
        }
        return at(node);
    }

    [[noreturn]] void fail(const SourceLocation& where, std::string found, std::string expected,
                           std::string hint = "") const {
        throw UserError({where, "", std::move(found), std::move(expected), std::move(hint)});
    }
    [[noreturn]] void fail(const pugi::xml_node& node, std::string_view attribute, std::string expected,
                           std::string hint = "") const {
        fail(at(node, attribute),
             fmt::format("{}=\"{}\"", attribute, node.attribute(std::string(attribute).c_str()).value()),
             std::move(expected), std::move(hint));
    }

    // No attribute but these, none twice.
    void only(const pugi::xml_node& node, const std::vector<std::string>& known) const {
        std::vector<std::string> seen;
        for (const pugi::xml_attribute& attribute : node.attributes()) {
            const std::string name = attribute.name();
            if (std::find(known.begin(), known.end(), name) == known.end())
                fail(at(node, name), fmt::format("the attribute '{}'", name),
                     fmt::format("an attribute of {} that is known here, for another could change its meaning",
                                 node.name()),
                     did_you_mean(name, known));
            if (std::find(seen.begin(), seen.end(), name) != seen.end())
                fail(at(node, name), fmt::format("'{}' twice", name), "each attribute once");
            seen.push_back(name);
        }
    }

    // No children but elements of this name (empty: none at all).
    void only_children(const pugi::xml_node& node, std::string_view name) const {
        for (const pugi::xml_node& child : node.children()) {
            if (child.type() == pugi::node_element && child.name() == name) continue;
            const std::string found = child.type() == pugi::node_element ? fmt::format("<{}>", child.name()) : "text";
            const std::string inside = node.name();
            fail(child.type() == pugi::node_element ? at(child) : at(child.offset_debug()), found,
                 name.empty() ? fmt::format("nothing inside <{}>", inside)
                              : fmt::format("<{}> and nothing else inside <{}>", name, inside));
        }
    }

    std::string text(const pugi::xml_node& node, std::string_view name) const {
        const pugi::xml_attribute attribute = node.attribute(std::string(name).c_str());
        if (!attribute)
            fail(at(node), fmt::format("<{}> without {}", node.name(), name), fmt::format("{}=\"...\"", name));
        return attribute.value();
    }

    std::int64_t integer(const pugi::xml_node& node, std::string_view name, std::int64_t lowest, std::int64_t highest,
                         std::string_view meaning = "") const {
        const std::string value = text(node, name);
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
        if (error != std::errc{} || end != value.data() + value.size() || number < lowest || number > highest)
            fail(node, name, fmt::format("an integer from {} to {}{}", lowest, highest, meaning));
        return number;
    }
    std::optional<std::int64_t> integer_if(const pugi::xml_node& node, std::string_view name, std::int64_t lowest,
                                           std::int64_t highest) const {
        if (!node.attribute(std::string(name).c_str())) return std::nullopt;
        return integer(node, name, lowest, highest);
    }

    const std::string& file() const { return file_; }

private:
    std::string_view text_;
    const std::string& file_;
};

// --- steps ---

struct Bounds {
    std::uint32_t input = 0, output = 0, scratch = 0;
    std::uint32_t of(char buffer) const { return buffer == 'i' ? input : buffer == 'o' ? output : scratch; }
};

// srcbuf and srcoff, or dstbuf and dstoff. Where they stand for the other gpu's end (`used` is false) only the letter
// is checked: MSCCL does not look at them, and generators write what they like.
MscclPlace read_place(const Reader& read, const pugi::xml_node& node, std::string_view end, bool used,
                      std::uint32_t count, const Bounds& bounds) {
    const std::string buffer = fmt::format("{}buf", end);
    const std::string offset = fmt::format("{}off", end);
    const std::string letter = read.text(node, buffer);
    if (letter != "i" && letter != "o" && letter != "s")
        read.fail(node, buffer, "i (input), o (output) or s (scratch)");
    MscclPlace place{letter[0], 0};
    const std::int64_t first = read.integer(node, offset, -1, kCountMax);
    if (!used) return place;
    const std::uint32_t chunks = bounds.of(place.buffer);
    if (first < 0 || first + count > chunks)
        read.fail(node, offset,
                  fmt::format("{} chunks inside of the {} that buffer {} has on this gpu ({}_chunks)", count, chunks,
                              letter, letter));
    place.offset = static_cast<std::uint32_t>(first);
    return place;
}

MscclStep read_step(const Reader& read, const pugi::xml_node& node, std::size_t number, const MscclBlock& block,
                    const Bounds& bounds) {
    read.only(node, {"s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"});
    read.only_children(node, "");
    MscclStep step;
    const SourceLocation where = read.at(node);
    step.line = where.line;
    step.column = where.column;
    if (read.integer(node, "s", 0, kCountMax) != static_cast<std::int64_t>(number))
        read.fail(node, "s", fmt::format("{}: steps are numbered in order, from 0", number));
    const std::string type = read.text(node, "type");
    const auto known = std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeRow& one) { return one.name == type; });
    if (known == kTypes.end()) {
        std::vector<std::string> names;
        for (const TypeRow& one : kTypes) names.emplace_back(one.name);
        read.fail(node, "type", fmt::format("a type of step: {}", fmt::join(names, ", ")));
    }
    step.type = known->type;
    const bool moves = step.type != MscclType::Nop;
    step.count = static_cast<std::uint32_t>(read.integer(node, "cnt", moves ? 1 : 0, kCountMax, " chunks"));
    step.source = read_place(read, node, "src", known->reads_source, step.count, bounds);
    step.target = read_place(read, node, "dst", known->writes_target, step.count, bounds);
    if (known->sends && block.send < 0)
        read.fail(node, "type", "a step that sends nothing", "its tb has send=\"-1\": nobody to send to");
    if (known->receives && block.recv < 0)
        read.fail(node, "type", "a step that receives nothing", "its tb has recv=\"-1\": nobody to receive from");
    step.wait_block = static_cast<std::int32_t>(read.integer(node, "depid", -1, kCountMax));
    step.wait_step = static_cast<std::int32_t>(read.integer(node, "deps", -1, kCountMax));
    step.awaited = read.integer(node, "hasdep", 0, 1) == 1;
    return step;
}

MscclBlock read_block(const Reader& read, const pugi::xml_node& node, Rank gpu, std::int64_t gpus,
                      std::int64_t channels, const Bounds& bounds) {
    read.only(node, {"id", "send", "recv", "chan"});
    read.only_children(node, "step");
    MscclBlock block;
    const SourceLocation where = read.at(node);
    block.line = where.line;
    block.column = where.column;
    for (const auto& [name, peer] : {std::pair{"send", &block.send}, std::pair{"recv", &block.recv}}) {
        *peer = static_cast<Rank>(read.integer(node, name, -1, gpus - 1, ", -1 for no peer"));
        if (*peer == gpu) read.fail(node, name, "another gpu than its own");
    }
    block.channel = static_cast<std::uint16_t>(read.integer(node, "chan", 0, channels - 1, " (nchannels)"));
    for (const pugi::xml_node& child : node.children("step"))
        block.steps.push_back(read_step(read, child, block.steps.size(), block, bounds));
    return block;
}

// --- what blocks of one gpu say of each other ---

void check_waits(const Reader& read, const MscclGpu& gpu) {
    for (std::size_t id = 0; id < gpu.blocks.size(); ++id) {
        for (const MscclStep& step : gpu.blocks[id].steps) {
            const SourceLocation where{read.file(), step.line, step.column};
            if (step.wait_block < 0) continue;
            const auto other = static_cast<std::size_t>(step.wait_block);
            if (other >= gpu.blocks.size())
                read.fail(where, fmt::format("depid=\"{}\"", other),
                          fmt::format("the id of a tb of this gpu, 0 to {}", gpu.blocks.size() - 1));
            const std::vector<MscclStep>& steps = gpu.blocks[other].steps;
            if (step.wait_step < 0 || static_cast<std::size_t>(step.wait_step) >= steps.size())
                read.fail(where, fmt::format("deps=\"{}\"", step.wait_step),
                          fmt::format("one of the {} steps of tb {}", steps.size(), other));
            const MscclStep& awaited = steps[static_cast<std::size_t>(step.wait_step)];
            if (other == id) {
                if (&awaited >= &step)
                    read.fail(where, fmt::format("a wait for step {} of its own tb", step.wait_step),
                              "an earlier step");
            } else if (!awaited.awaited) {
                read.fail({read.file(), awaited.line, awaited.column}, "hasdep=\"0\"",
                          fmt::format("hasdep=\"1\", since a step of tb {} waits for it", id),
                          "MSCCL announces the end of such steps only");
            }
        }
    }
}

// Two thread blocks on one connection would take each other's messages.
void check_connections(const Reader& read, const MscclGpu& gpu) {
    for (const bool sends : {true, false}) {
        std::map<std::pair<Rank, std::uint16_t>, std::size_t> taken;
        for (std::size_t id = 0; id < gpu.blocks.size(); ++id) {
            const MscclBlock& block = gpu.blocks[id];
            const bool used = std::any_of(block.steps.begin(), block.steps.end(), [&](const MscclStep& step) {
                return sends ? msccl_sends(step.type) : msccl_receives(step.type);
            });
            if (!used) continue;
            const Rank peer = sends ? block.send : block.recv;
            const auto [found, added] = taken.try_emplace({peer, block.channel}, id);
            if (!added)
                read.fail({read.file(), block.line, block.column},
                          fmt::format("tb {}, which {} gpu {} on channel {} as tb {} does", id,
                                      sends ? "sends to" : "receives from", peer, block.channel, found->second),
                          "one tb for each peer, direction and channel");
        }
    }
}

MscclGpu read_gpu(const Reader& read, const pugi::xml_node& node, Rank id, std::int64_t gpus, std::int64_t channels,
                  const MscclAlgo& algo) {
    MscclGpu gpu;
    Bounds bounds;
    const std::int64_t chunks = algo.chunks;
    bounds.input = static_cast<std::uint32_t>(read.integer(node, "i_chunks", 0, chunks, " (nchunksperloop)"));
    bounds.output = static_cast<std::uint32_t>(read.integer(node, "o_chunks", 0, chunks, " (nchunksperloop)"));
    bounds.scratch = static_cast<std::uint32_t>(read.integer(node, "s_chunks", 0, kCountMax));
    // Input and output are one buffer then, whichever of the two the file counts.
    if (algo.in_place) bounds.input = bounds.output = std::max(bounds.input, bounds.output);
    gpu.scratch_chunks = bounds.scratch;

    std::map<std::int64_t, pugi::xml_node> blocks;
    for (const pugi::xml_node& child : node.children("tb"))
        if (!blocks.emplace(read.integer(child, "id", 0, kCountMax), child).second)
            read.fail(child, "id", fmt::format("another id: gpu {} has that tb twice", id));
    for (const auto& [number, child] : blocks) {
        if (number != static_cast<std::int64_t>(gpu.blocks.size()))
            read.fail(child, "id",
                      fmt::format("tb {} first: ids of a gpu's tbs are 0, 1, ... without a gap", gpu.blocks.size()));
        gpu.blocks.push_back(read_block(read, child, id, gpus, channels, bounds));
    }
    check_waits(read, gpu);
    check_connections(read, gpu);
    return gpu;
}

// Attributes of <algo> that are honoured by being what they must be, or that say nothing about what is done.
bool check_algo(const Reader& read, const pugi::xml_node& node) {
    read.only(node, {"name", "proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace", "outofplace", "redop",
                     "minBytes", "maxBytes"});
    read.only_children(node, "gpu");
    if (read.text(node, "coll") != "allreduce")
        read.fail(node, "coll", "coll=\"allreduce\": coppice has no other collective");
    if (node.attribute("redop") && read.text(node, "redop") != "sum")
        read.fail(node, "redop", "redop=\"sum\": gradients are summed, nothing else");
    if (node.attribute("proto")) {
        const std::string protocol = read.text(node, "proto");
        if (protocol != "Simple" && protocol != "LL" && protocol != "LL128")
            read.fail(node, "proto", "Simple, LL or LL128");
    }
    constexpr std::int64_t kBytesMax = std::numeric_limits<std::int64_t>::max();
    read.integer_if(node, "minBytes", 0, kBytesMax);
    read.integer_if(node, "maxBytes", 0, kBytesMax);
    const bool in_place = read.integer(node, "inplace", 0, 1) == 1;
    const auto out_of_place = read.integer_if(node, "outofplace", 0, 1);
    if (!in_place && out_of_place && *out_of_place == 0)
        read.fail(node, "outofplace", "1 where inplace is 0: it must be for one of the two");
    return in_place;
}

}  // namespace

std::string_view msccl_type_name(MscclType type) {
    return row(type).name;
}
bool msccl_receives(MscclType type) {
    return row(type).receives;
}
bool msccl_sends(MscclType type) {
    return row(type).sends;
}
bool msccl_reads_source(MscclType type) {
    return row(type).reads_source;
}
bool msccl_writes_target(MscclType type) {
    return row(type).writes_target;
}

MscclAlgo parse_msccl(std::string_view text, const std::string& file) {
    const Reader read(text, file);
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
    if (!parsed) read.fail(read.at(parsed.offset), parsed.description(), "XML of MSCCL, <algo ...>");
    const pugi::xml_node root = document.first_child();
    if (std::string_view(root.name()) != "algo")
        read.fail(root ? read.at(root) : SourceLocation{file, 0, 0},
                  root ? fmt::format("<{}>", root.name()) : "nothing", "<algo ...>: an all-reduce in MSCCL's XML");
    if (root.next_sibling()) read.fail(read.at(root.next_sibling()), "a second element", "one <algo> in a file");

    MscclAlgo algo;
    algo.file = file;
    algo.in_place = check_algo(read, root);
    algo.name = read.text(root, "name");
    algo.chunks = static_cast<std::uint32_t>(read.integer(root, "nchunksperloop", 1, kCountMax));
    const std::int64_t channels = read.integer(root, "nchannels", 0, kChannelMax);
    const std::int64_t gpus = read.integer(root, "ngpus", 1, kCountMax);
    std::map<std::int64_t, pugi::xml_node> nodes;
    for (const pugi::xml_node& node : root.children("gpu")) {
        read.only(node, {"id", "i_chunks", "o_chunks", "s_chunks"});
        read.only_children(node, "tb");
        if (!nodes.emplace(read.integer(node, "id", 0, gpus - 1, " (ngpus)"), node).second)
            read.fail(node, "id", "each gpu once");
    }
    if (static_cast<std::int64_t>(nodes.size()) != gpus)
        read.fail(root, "ngpus", fmt::format("as many as there are <gpu>, which is {}", nodes.size()));
    for (const auto& [id, node] : nodes)
        algo.gpus.push_back(read_gpu(read, node, static_cast<Rank>(id), gpus, channels, algo));
    return algo;
}

}  // namespace coppice
