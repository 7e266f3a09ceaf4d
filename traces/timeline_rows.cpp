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
constexpr std::uint32_t wire_out_row = 31, wire_in_row = 32;  // of a card
constexpr std::uint32_t kernel_rows_of_card = 10;             // of `driver` and `agent`
constexpr std::uint32_t first_card = 2000, rows_of_card = 100;

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

/// "nic1" is card 1 of "nic", as "driver1" is of "driver"; none when it is no module of that kind.
std::optional<std::uint32_t> card_number(std::string_view module, std::string_view stem) {
    if (module == stem) return 0;
    return match(module, std::string(stem) + "*");
}

/// What stands before the titles of a card's rows.
std::string card_prefix(std::uint32_t card) { return card ? fmt::format("nic{} ", card) : std::string(); }

std::uint32_t first_row_of(std::uint32_t card) { return first_card + card * rows_of_card; }

/// "nic1.dma.channel0.block": rows of further cards follow, with their names.
std::optional<timeline_row> row_of_card(std::string_view text, std::uint32_t process) {
    const std::size_t dot = text.find('.');
    const auto card = card_number(text.substr(0, dot), "nic");
    if (!card) return std::nullopt;
    return find(of_card, text.substr(dot + 1), process, first_row_of(*card), card_prefix(*card));
}

/// Of what is not the card itself; a further card has a driver and an agent of its own.
std::optional<timeline_row> row_of_node(const std::string& text, std::uint32_t process) {
    const std::size_t dot = text.find('.');
    for (const char* stem : {"driver", "agent"})
        if (const auto card = card_number(std::string_view(text).substr(0, dot), stem))
            return find(of_node, stem + text.substr(dot), process, *card * kernel_rows_of_card,
                        card_prefix(*card));
    return find(of_node, text, process, 0, "");
}

/// The card at an end of a cable: "node3" is the first one's.
std::uint32_t card_at(const std::string& end) {
    const std::size_t dot = end.find('.');
    return dot == std::string::npos ? 0
                                    : card_number(std::string_view(end).substr(dot + 1), "nic").value_or(0);
}

timeline_row row_of_wire(kind what, const std::string& card, std::uint32_t row, const std::string& title,
                         const std::string& meter) {
    const std::uint32_t number = card_at(card);
    return {what,
            {timeline_process_of(card), first_row_of(number) + row},
            card_prefix(number) + title,
            what == kind::packet ? "" : card_prefix(number) + meter};
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
        return row_of_wire(what, from, wire_out_row, "wire to " + to, "wire out busy");
    if (to.starts_with("node"))
        return row_of_wire(what, to, wire_in_row, "wire from " + from, "wire in busy");
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
    return row_of_node(rest, process);
}

}  // namespace vinic::traces
