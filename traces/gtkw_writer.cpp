// SPDX-License-Identifier: Apache-2.0
#include "traces/gtkw_writer.h"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>

#include "traces/output_file.h"

namespace vinic::traces {

namespace {

// Bits of a trace's flags (GTKWave's analyzer.h).
constexpr unsigned hexadecimal = 0x2;
constexpr unsigned decimal = 0x4;
constexpr unsigned binary = 0x8;
constexpr unsigned right_justified = 0x20;
constexpr unsigned blank = 0x200;
constexpr unsigned closed = 0x401000;  // a group whose rows are hidden
constexpr unsigned filtered = 0x4000;
constexpr unsigned group_begins = 0x800000;
constexpr unsigned group_ends = 0x1000000;

enum colour { normal, red, orange, yellow, green, blue, indigo, violet };

struct row {
    const char* glob;  ///< behind the name of the node
    unsigned radix = binary;
};
struct group {
    const char* name;
    colour shown_in;
    bool hidden;  ///< until it is unfolded
    std::vector<row> rows;
};

const std::vector<group>& groups_of_node() {
    static const std::vector<group> groups{
        {"host",
         yellow,
         false,
         {{"vipl.call"},
          {"host.cpu.running*", decimal},
          {"host.bridge.store"},
          {"host.bridge.load"},
          {"host.interrupt_line.level"}}},
        {"VIs and completion queues",
         yellow,
         false,
         {{"agent*.vi*.state"},
          {"agent*.vi*.send_depth", decimal},
          {"agent*.vi*.receive_depth", decimal},
          {"agent*.queue*.depth", decimal}}},
        {"bus",
         green,
         false,
         {{"bus.clock"},
          {"bus.transaction"},
          {"bus.state"},
          {"bus.frame_n"},
          {"bus.irdy_n"},
          {"bus.devsel_n"},
          {"bus.trdy_n"},
          {"bus.stop_n"},
          {"bus.req?_n"},
          {"bus.gnt?_n"},
          {"bus.cbe", hexadecimal},
          {"bus.ad", hexadecimal}}},
        {"doorbells", orange, false, {{"nic*.doorbells.doorbell"}, {"nic*.doorbells.depth", decimal}}},
        {"doorbells in RTL", orange, true, {{"nic*.doorbells.rtl.*", hexadecimal}}},
        {"host DMA",
         normal,
         false,
         {{"nic*.dma.channel?.state"},
          {"nic*.dma.channel?.payload"},
          {"nic*.dma.channel?.host_address", hexadecimal},
          {"nic*.dma.channel?.left", decimal}}},
        {"host DMA in RTL",
         normal,
         true,
         {{"nic*.master.rtl.*", hexadecimal}, {"nic*.dma.rtl.*", hexadecimal}}},
        {"core",
         violet,
         false,
         {{"nic*.clock"},
          {"nic*.lanai.function"},
          {"nic*.lanai.pc", hexadecimal},
          {"nic*.lanai.instruction", hexadecimal | filtered},
          {"nic*.lanai.stall"},
          {"nic*.lanai.state"},
          {"nic*.registers.isr", hexadecimal},
          {"nic*.registers.interrupt"}}},
        {"core in RTL", violet, true, {{"nic*.lanai.rtl.*", hexadecimal}}},
        {"SRAM", indigo, true, {{"nic*.sram.*.grant"}}},
        {"link",
         red,
         false,
         {{"nic*.send.state"},
          {"nic*.send.part"},
          {"nic*.send.packet"},
          {"nic*.receive.state"},
          {"nic*.receive.reception"},
          {"nic*.receive.packet"}}},
        {"link in RTL", red, true, {{"nic*.link.rtl.*", hexadecimal}}}};
    return groups;
}

const group& cables() {
    static const group all{"cables", orange, false, {{"cable*.state"}, {"cable*.packet"}, {"cable*.stop"}}};
    return all;
}

/// "node0.nic.dma.channel1.state" -> "dma channel1 state": GTKWave shows of a name, and of an alias, what is
/// behind the last dot.
std::string title_of(const std::string& name) {
    std::string title = name.substr(name.find('.') + 1);
    for (const char* block : {"nic.", "host.", "agent."})
        if (title.starts_with(block)) title.erase(0, std::string_view(block).size());
    std::ranges::replace(title, '.', ' ');
    return title.substr(0, title.find('['));
}

/// Of VIs and completion queues there are more signals than a program makes; a firmware that polls rings has
/// no doorbells in hardware, and uses the DMA channels that it likes. A row is there for what was seen.
const std::vector<std::string> perhaps_unused{"*.agent*.*", "*.doorbells.*", "*.dma.channel?.*"};

bool may_be_unused(const std::string& name) {
    return std::ranges::any_of(
        perhaps_unused, [&](const std::string& glob) { return fnmatch(glob.c_str(), name.c_str(), 0) == 0; });
}

std::vector<std::string> watched() {
    std::vector<std::string> globs = perhaps_unused;
    globs.push_back("*.vipl.call");
    return globs;
}

/// The parts of a save file, one after the other.
class layout {
public:
    explicit layout(const std::string& filter) : filter_(filter) {}

    /// `names`: of all signals, with their range of bits; nothing when the group has none of them.
    void add(const std::string& owner, const group& what, const std::vector<std::string>& names) {
        std::string rows;
        for (const row& r : what.rows)
            for (const std::string& name : names) {
                const std::string bare = name.substr(0, name.find('['));
                if (fnmatch((owner + "." + r.glob).c_str(), bare.c_str(), 0) == 0)
                    rows += one(name, r.radix, what.shown_in);
            }
        if (rows.empty()) return;
        const std::string title = owner + " " + what.name;
        const unsigned hidden = what.hidden ? closed : 0u;
        text_ += fmt::format("@{:x}\n-{}\n{}@{:x}\n-{}\n", group_begins | blank | hidden, title, rows,
                             group_ends | blank | hidden, title);
    }
    const std::string& text() const { return text_; }

private:
    std::string one(const std::string& name, unsigned radix, colour shown_in) const {
        std::string text = fmt::format("[color] {}\n", static_cast<int>(shown_in));
        text += fmt::format("@{:x}\n", radix | right_justified);
        if (radix & filtered) text += fmt::format("^>1 {}\n", filter_);
        return text + fmt::format("+{{{}}} {}\n", title_of(name), name);
    }

    std::string filter_;
    std::string text_;
};

}  // namespace

gtkw_writer::gtkw_writer(const std::string& path, std::string wave, std::string filter, const wave_view& what)
    : recorder(probes_matching(watched()), what.when),
      path_(path),
      wave_(std::move(wave)),
      filter_(std::move(filter)),
      windowed_(!what.when.everything()) {
    for (const sim::probe* p : what.probes) {
        std::string name = p->name();
        if (p->kind_of() == sim::probe::kind::value) {
            const auto& v = static_cast<const sim::value_probe&>(*p);
            if (v.states().empty() && v.width_bits() > 1) name += fmt::format("[{}:0]", v.width_bits() - 1);
        }
        signals_.push_back(std::move(name));
    }
    for (const wave_clock& c : what.clocks) signals_.push_back(c.name);
    std::ranges::sort(signals_);
}

void gtkw_writer::emit(const record& r) {
    skipped(r);
    if (r.what != record::kind::span_begin) return;
    if (r.text == "VipPostSend") posted_.push_back(r.at);
    if (r.text == "VipRecvDone") taken_.push_back(r.end);
}

void gtkw_writer::skipped(const record& r) {
    if (r.what != record::kind::span_end) used_.insert(probes()[r.probe]->name());
}

gtkw_writer::range gtkw_writer::opened_on(sim::picoseconds now) const {
    const sim::picoseconds end = end_ ? end_ : now;
    if (windowed_ || posted_.empty()) return {begin_, end};
    const std::size_t middle = posted_.size() / 2;
    const bool taken = middle < taken_.size() && taken_[middle] > posted_[middle];
    return {posted_[middle], taken ? taken_[middle] : end};
}

void gtkw_writer::save(sim::picoseconds now) {
    constexpr unsigned window_width = 1600, window_height = 1000, names_width = 330, wave_width = 1200;
    layout rows(filter_);
    std::erase_if(signals_, [this](const std::string& name) {
        const std::string bare = name.substr(0, name.find('['));
        return may_be_unused(bare) && !used_.contains(bare);
    });
    std::set<std::string> nodes;
    for (const std::string& name : signals_)
        if (name.starts_with("node")) nodes.insert(name.substr(0, name.find('.')));
    for (const std::string& node : nodes)
        for (const group& g : groups_of_node()) rows.add(node, g, signals_);
    rows.add("fabric", cables(), signals_);

    const range on = opened_on(now);
    const sim::picoseconds margin = (on.to - on.from) / 50 + 1;
    // Its zoom is the negative logarithm of the time that a frame of 200 pixels shows.
    constexpr double frame_pixels = 200;
    const double zoom =
        -std::log2(static_cast<double>(on.to - on.from + 2 * margin) / wave_width * frame_pixels);
    output_file file(path_);
    file.print(
        "[*] vinic\n[dumpfile] \"{}\"\n[savefile] \"{}\"\n[timestart] {}\n[size] {} {}\n[pos] -1 -1\n"
        "*{:.6f} {}{}\n[sst_expanded] 0\n[signals_width] {}\n{}",
        std::filesystem::absolute(wave_).string(), std::filesystem::absolute(path_).string(),
        on.from - std::min(on.from, margin), window_width, window_height, zoom, on.from,
        [] {
            std::string unused;
            for (char marker = 'a'; marker <= 'z'; ++marker) unused += " -1";
            return unused;
        }(),
        names_width, rows.text());
    file.flush();
}

}  // namespace vinic::traces
