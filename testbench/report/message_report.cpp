// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/message_report.h"

#include <fmt/format.h>

#include <charconv>

#include "hw/sim/clock_domain.h"
#include "hw/sim/configuration.h"
#include "testbench/report/table.h"

namespace vinic::testbench {

message_report::message_report(const traces::message_anatomy& m, std::size_t number, sim::simulation& of)
    : message_(m), number_(number) {
    for (const auto& p : of.config().parameters()) {
        if (!p.name.ends_with(".clock_mhz")) continue;
        std::uint64_t mhz = 0;
        std::from_chars(p.value_text.data(), p.value_text.data() + p.value_text.size(), mhz);
        if (mhz != 0) clock_mhz_[p.name] = mhz;
    }
}

/// "bus 1234": the clock and the number of its edge. Empty for the wire.
std::string message_report::clock_of(const traces::interval& i) const {
    using traces::lane;
    const lane where = traces::lane_of(i.what);
    if (where == lane::wire) return "";
    const std::string& card = where < lane::wire ? message_.sender : message_.receiver;
    const std::string node = card.substr(0, card.find('.'));
    const bool host = where == lane::host_of_sender || where == lane::host_of_receiver;
    const bool bus = where == lane::bus_of_sender || where == lane::bus_of_receiver;
    const std::string parameter = host  ? node + ".host.cpu.clock_mhz"
                                  : bus ? node + ".bus.clock_mhz"
                                        : card + ".lanai.clock_mhz";
    const auto found = clock_mhz_.find(parameter);
    if (found == clock_mhz_.end()) return "";
    return fmt::format("{} {}",
                       host  ? "cpu"
                       : bus ? "bus"
                             : "lanai",
                       sim::clock_domain::from_mhz(found->second).edge_at_or_before(i.begin));
}

json message_report::rows_of(const std::vector<traces::interval>& intervals) const {
    json rows = json::array();
    for (const auto& i : intervals)
        rows.push_back({{"stage", traces::name_of(i.what)},
                        {"since_post_ps", i.begin - message_.begin()},
                        {"time_ps", i.length()},
                        {"begin_ps", i.begin},
                        {"edge", clock_of(i)}});
    return rows;
}

json message_report::to_json() const {
    return {{"number", number_},
            {"from", message_.sender},
            {"to", message_.receiver},
            {"size_bytes", message_.bytes},
            {"packets", message_.packets},
            {"latency_ps", message_.latency()},
            {"path", rows_of(message_.path)},
            {"beside", rows_of(message_.beside)}};
}

std::string message_report::to_text(bool colours) const {
    std::string text =
        fmt::format("message {}: {} bytes in {} packets, {} to {}, posted at {} ps\n", number_,
                    message_.bytes, message_.packets, message_.sender, message_.receiver, message_.begin());
    text += table_of_rows(rows_of(message_.path), colours);
    text += fmt::format("latency: {} ps\n", message_.latency());
    if (!message_.beside.empty())
        text += "\nmeanwhile, off the path\n" + table_of_rows(rows_of(message_.beside), colours);
    return text;
}

}  // namespace vinic::testbench
