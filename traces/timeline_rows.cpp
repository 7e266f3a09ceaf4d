// SPDX-License-Identifier: Apache-2.0
#include "traces/timeline_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace vinic::traces {

namespace {

using kind = timeline_row::kind;

/// Rows of a node, from the program down to the wire. A star stands for a number, which is added to the
/// row's.
struct pattern {
    std::string_view path;  ///< behind the node's name; of a card behind the card's
    kind what;
    std::uint32_t row;
    std::string_view title;  ///< {} is the number
    std::string_view meter;
};
constexpr std::array of_node{
    pattern{"host.cpu.running*", kind::processor, 100, "CPU {}", ""},
    pattern{"vipl.call", kind::calls, 200, "", ""},
    pattern{"host.cpu.process*.in_kernel", kind::level, 300, "driver: system calls of process {}", ""},
    pattern{"sockets.call", kind::spans, 250, "sockets: calls", ""},
    pattern{"driver.send", kind::spans, 950, "kernel: VI packets out", ""},
    pattern{"sockets.send", kind::spans, 951, "kernel: datagrams out", ""},
    pattern{"driver.device.transmit", kind::spans, 952, "kernel: transmit ring", ""},
    pattern{"driver.device.receive", kind::spans, 953, "kernel: receive ring", ""},
    pattern{"driver.receive", kind::spans, 954, "kernel: VI packets in", ""},
    pattern{"sockets.receive", kind::spans, 955, "kernel: IP packets in", ""},
    pattern{"host.cpu.interrupt", kind::spans, 1000, "driver: interrupts", ""},
    pattern{"host.bridge.load", kind::spans, 1100, "host bridge: loads", ""},
    pattern{"bus.transaction", kind::transactions, 1200, "bus", "bus"},
    pattern{"agent.queue*.depth", kind::depth, 0, "completion queue {}", ""},
    pattern{"host.interrupt_line.level", kind::depth, 0, "interrupt line", ""},
};
constexpr std::array of_card{
    pattern{"pci.write", kind::spans, 0, "doorbells and writes", ""},
    pattern{"doorbells.doorbell", kind::spans, 1, "doorbell FIFO", ""},
    pattern{"doorbells.depth", kind::depth, 0, "doorbell FIFO", ""},
    pattern{"lanai.function", kind::function, 2, "core", ""},
    pattern{"dma.channel*.block", kind::spans, 10, "DMA {}", "DMA {}"},
    pattern{"dma.channel*.payload", kind::spans, 10, "DMA {}", ""},
    pattern{"transmit_ring.fetch", kind::spans, 20, "transmit descriptors", ""},
    pattern{"transmit.part", kind::spans, 21, "frames from host memory", "frames from host memory"},
    pattern{"transmit.frame", kind::spans, 22, "MAC: frames out", "MAC out"},
    pattern{"receive.wait", kind::spans, 23, "receive FIFO", ""},
    pattern{"receive.data", kind::spans, 24, "frames into host memory", "frames into host memory"},
    pattern{"send.part", kind::spans, 30, "send", "send"},
    pattern{"receive.reception", kind::reception, 33, "receive", "receive"},
};
constexpr std::uint32_t wire_out_row = 31, wire_in_row = 32;  // of the node's first card
constexpr std::uint32_t first_card = 2000, rows_of_card = 100;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The number in place of the star; none when the text is not of that form. Without a star: 0.
std::optional<std::uint32_t> match(std::string_view text, std::string_view form) {
    const std::size_t star = form.find('*');
    if (star == std::string_view::npos) return text == form ? std::optional<std::uint32_t>(0) : std::nullopt;
    const std::string_view before = form.substr(0, star), after = form.substr(star + 1);
    if (!text.starts_with(before)) return std::nullopt;
    std::uint32_t number = 0;
    const auto [rest, error] = std::from_chars(text.data() + star, text.data() + text.size(), number);
    const bool all = error == std::errc{} && std::string_view(rest, text.data() + text.size()) == after;
    return all ? std::optional(number) : std::nullopt;
}

std::string filled(std::string_view text, std::uint32_t number) {
    return fmt::format(fmt::runtime(text), number);
}

template <std::size_t n>
std::optional<timeline_row> find(const std::array<pattern, n>& among, std::string_view text,
                                 std::uint32_t process, std::uint32_t first_row, const std::string& prefix) {
    for (const pattern& p : among) {
        const auto number = match(text, p.path);
        if (!number) continue;
        timeline_row row{p.what, {process, first_row + p.row + *number}, {}, {}};
        row.title = prefix + filled(p.title, *number);
        if (!p.meter.empty()) row.meter = prefix + filled(p.meter, *number) + " busy";
        return row;
    }
    return std::nullopt;
}

/// "nic1.dma.channel0.block": rows of further cards follow, with their names.
std::optional<timeline_row> row_of_card(std::string_view text, std::uint32_t process) {
    const std::size_t dot = text.find('.');
    const std::string card(text.substr(0, dot));
    if (!card.starts_with("nic") || !std::all_of(card.begin() + 3, card.end(), is_digit)) return std::nullopt;
    const auto index = static_cast<std::uint32_t>(card.size() > 3 ? std::stoul(card.substr(3)) : 0);
    return find(of_card, text.substr(dot + 1), process, first_card + index * rows_of_card,
                index ? card + " " : "");
}

/// A cable of a node's card belongs to that node, as its wire; the rest is in the fabric.
std::optional<timeline_row> row_of_cable(const std::string& name, const cable_map& cables) {
    const std::size_t way = name.rfind('.', name.rfind('.') - 1);
    const std::string cable = name.substr(0, way), rest = name.substr(way);
    const bool from_a = rest.starts_with(".ab.");
    const bool packet = rest.ends_with(".packet");
    if (!packet && !rest.ends_with(".transmission")) return std::nullopt;
    const kind what = packet ? kind::packet : kind::transmission;
    const auto known = cables.find(cable);
    const cable_ends ends = known == cables.end() ? cable_ends{"end A", "end B"} : known->second;
    const std::string& from = from_a ? ends.a : ends.b;
    const std::string& to = from_a ? ends.b : ends.a;
    if (from.starts_with("node"))
        return timeline_row{what,
                            {timeline_process_of(from), first_card + wire_out_row},
                            "wire to " + to,
                            packet ? "" : "wire out busy"};
    if (to.starts_with("node"))
        return timeline_row{what,
                            {timeline_process_of(to), first_card + wire_in_row},
                            "wire from " + from,
                            packet ? "" : "wire in busy"};
    const auto number = match(cable.substr(cable.rfind('.') + 1), "cable*");
    const std::uint32_t row = 2 * number.value_or(0) + (from_a ? 1 : 2);
    return timeline_row{what, {fabric_process, row}, fmt::format("{} to {}", from, to), {}};
}

std::optional<timeline_row> row_of_switch(std::string_view text) {
    const std::size_t dot = text.find('.');
    const auto index = match(text.substr(0, dot), "switch*"), port = match(text.substr(dot + 1), "out*");
    if (!index || !port) return std::nullopt;
    constexpr std::uint32_t first_switch = 100'000, rows_of_switch = 256;
    return timeline_row{kind::spans,
                        {fabric_process, first_switch + *index * rows_of_switch + *port},
                        fmt::format("switch{} output {}", *index, *port),
                        {}};
}

}  // namespace

std::uint32_t timeline_process_of(const std::string& name) {
    const auto node = match(name.substr(0, name.find('.')), "node*");
    return node ? *node + 1 : fabric_process;
}

timeline_track call_track(std::uint32_t process, std::uint64_t number) {
    return {process, 200 + static_cast<std::uint32_t>(number)};
}

std::optional<timeline_row> timeline_row_of(const sim::probe& p, const cable_map& cables) {
    const std::string& name = p.name();
    const std::string rest = name.substr(name.find('.') + 1);
    const std::uint32_t process = timeline_process_of(name);
    if (process == fabric_process) {
        if (rest.starts_with("cable")) return row_of_cable(name, cables);
        return row_of_switch(rest);
    }
    if (const auto row = row_of_card(rest, process)) return row;
    return find(of_node, rest, process, 0, "");
}

}  // namespace vinic::traces
