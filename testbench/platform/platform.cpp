// SPDX-License-Identifier: Apache-2.0
#include "testbench/platform/platform.h"

#include <algorithm>

#include "firmware/abi/chips.h"
#include "firmware/abi/myvia_card.h"
#include "host_driver/sockets/socket_layer.h"
#include "hw/sim/duration.h"
#include "hw/sim/error.h"
#include "hw/sim/stretch.h"
#include "hw/sim/timer.h"
#include "testbench/platform/firmware_symbols.h"
#include "testbench/platform/node_parts.h"
#include "testbench/platform/topology.h"
#include "vipl/program.h"

namespace vinic::testbench {

namespace {

sim::configuration configuration_of(const design& from, const platform_mode& mode) {
    sim::configuration all = from.configuration();
    if (mode.lockstep && needs_firmware(from.card)) all.set("nic.lanai.lockstep", {"true", "--lockstep", ""});
    if (mode.lockstep) all.set("host.cpu.step_by_step", {"true", "--lockstep", ""});
    return all;
}

/// The kernel's remarks: none of them belongs into results on standard output.
void on_report(const sc_core::sc_report& report, const sc_core::sc_actions& actions) {
    if (report.get_severity() == sc_core::SC_INFO || (actions & sc_core::SC_DO_NOTHING)) return;
    if (report.get_severity() == sc_core::SC_WARNING && !(actions & sc_core::SC_THROW))
        fmt::print(stderr, "vinic: {}\n", report.what());
    else
        sc_core::sc_report_handler::default_handler(report, actions);
}

void set_up_reports() {
    sc_core::sc_report_handler::set_handler(on_report);
    // A stretch in which nothing happens is no mistake.
    for (const char* quiet :
         {sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_ID_SIMULATION_STOP_CALLED_TWICE_})
        sc_core::sc_report_handler::set_actions(quiet, sc_core::SC_DO_NOTHING);
    // Two modules of one name: the kernel would rename one, and its parameters would be out of reach.
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_INSTANCE_EXISTS_, sc_core::SC_THROW);
}

void check_room(const firmware& from, nic::card& on) {
    const std::uint64_t room = on.core()->memory_bytes();
    if (from.image.end() > room)
        throw sim::input_error("firmware {} needs {} bytes of SRAM, {} has {}", from.name, from.image.end(),
                               on.name(), room);
}

/// RTL beside which the firmware finds its doorbells elsewhere would show nothing.
void check_doorbells(const firmware& from, const driver::card_image& as_loaded, const nic::lanai_card& on) {
    if (on.doorbells.impl.get() != "rtl" || as_loaded.doorbells.kind == abi::myvia::doorbells_in_fifo) return;
    throw sim::input_error(
        "{}.impl = rtl: firmware {} does not use the doorbell FIFO; that of myvia2 and gm does",
        on.doorbells.name(), from.name);
}

/// The chips that the image runs on, if it says so (firmware/abi/chips.h).
void check_chip(const firmware& from, const nic::lanai_card& on) {
    const auto symbol = from.image.address_of(abi::supported_chips_symbol);
    const auto supported = symbol ? from.image.word_at(*symbol) : std::nullopt;
    if (!supported) return;
    std::string list;
    for (const auto& [bit, name] :
         {std::pair{abi::chip_lanai4, "lanai4"}, std::pair{abi::chip_lanai7, "lanai7"},
          std::pair{abi::chip_lanai9, "lanai9"}}) {
        if ((*supported & bit) == 0) continue;
        if (name == on.chip.get()) return;
        list += (list.empty() ? "" : ", ") + std::string(name);
    }
    throw sim::input_error("firmware {} runs on {}, {} has chip {}", from.name, list, on.name(),
                           on.chip.get());
}

}  // namespace

platform::platform(const design& from, const std::optional<firmware>& image, const platform_mode& mode)
    : simulation_(configuration_of(from, mode), mode.seed) {
    set_up_reports();
    std::optional<driver::card_image> loadable;
    if (image) loadable = driver::make_card_image(image->image);
    build(from, loadable ? &*loadable : nullptr, mode);
    fill_directory();
    if (image) install(*image, *loadable);
    simulation_.config().check_all_consumed();
}

void platform::install(const firmware& image, const driver::card_image& as_loaded) {
    symbols_ = std::make_unique<firmware_symbols>(image.image);
    for (const auto& one : nodes_) {
        for (const node::plugged_card& card : one->cards) {
            if (!card.nic->core()) continue;
            if (const nic::lanai_card* const lanai = card.programmable()) {
                check_chip(image, *lanai);
                check_doorbells(image, as_loaded, *lanai);
            }
            check_room(image, *card.nic);
            card.nic->core()->use_symbols(symbols_.get());
        }
    }
}

platform::~platform() = default;

void platform::build(const design& from, const driver::card_image* image, const platform_mode& mode) {
    const auto count = static_cast<unsigned>(from.node_count());
    const link::topology layout =
        build_topology(from.topology, count, static_cast<unsigned>(from.card_count()));
    if (mode.shuffle) {
        sim::calendar::current().shuffle(mode.shuffle);
        dummies_ = std::make_unique<dummy_events>("dummy_events", mode.shuffle);
    }
    fabric_ = std::make_unique<link::fabric>("fabric", layout);
    check_network(from.card, *fabric_);
    measurement_ = std::make_unique<measurement>("workload");
    nodes_.resize(count);
    for (const unsigned i : shuffled_order(count, mode.shuffle))
        nodes_[i] = std::make_unique<node>(fmt::format("node{}", i).c_str(), i, from.card, image, directory_,
                                           *fabric_);
}

void platform::fill_directory() {
    std::vector<driver::node_address> addresses;  // by place in the fabric
    for (const auto& one : nodes_)
        for (const node::plugged_card& card : one->cards) {
            addresses.push_back(card.agent->address());
            directory_.add_card(fmt::format("node{}", one->number()), card.agent->rail(), addresses.back());
        }
    for (unsigned from = 0; from < addresses.size(); ++from)
        for (unsigned to = 0; to < addresses.size(); ++to)
            if (from != to && fabric_->routes().reaches(from, to))
                directory_.set_route(addresses[from], addresses[to], fabric_->route(from, to));
}

void platform::load(workload& what, results& report) {
    for (const auto& one : nodes_) devices_.push_back(what.device_for(*one));
    unsigned index = 0;
    for (auto& one : what.processes()) start(std::move(one), index++, report);
}

void platform::start(workload_process what, unsigned index, results& report) {
    node& on = *nodes_.at(what.node);
    host::address_space& memory = on.new_program();
    const std::string name = what.name.empty() ? fmt::format("process{}", index) : what.name;
    start_program(what.node, name, memory,
                  [this, &on, &memory, &report, index, body = std::move(what.body)](host::process& self) {
                      process_environment environment{on.number(), index,         self,    memory,
                                                      report,      *measurement_, events_, on.sockets.get()};
                      body(environment);
                  });
}

void platform::start_program(unsigned number, const std::string& name, host::user_memory& memory,
                             std::function<void(host::process&)> body) {
    node& on = *nodes_.at(number);
    ++running_;
    processes_.push_back(
        &on.host.cpu.spawn(name, &memory, [this, &on, &memory, body = std::move(body)](host::process& self) {
            vipl::run_program(on.vipl, self, memory, [&] { body(self); });
            if (--running_ == 0) sim::pause();
        }));
}

void platform::check_processes() const {
    for (const auto& one : nodes_)
        for (const auto& process : one->host.cpu.processes())
            if (process->failure()) std::rethrow_exception(process->failure());
}

std::vector<std::string> platform::waiting() const {
    std::vector<std::string> lines;
    for (const auto& one : nodes_)
        for (const auto& process : one->host.cpu.processes())
            if (!process->finished())
                lines.push_back(
                    fmt::format("node{} {}: {}", one->number(), process->name(), process->activity()));
    for (auto& line : fabric_->waiting()) lines.push_back(std::move(line));
    return lines;
}

std::uint64_t platform::lost_datagrams() const {
    std::uint64_t sent = 0, received = 0;
    for (const auto& one : nodes_) {
        if (!one->sockets) continue;
        sent += one->sockets->datagrams_sent.value();
        received += one->sockets->datagrams_received.value();
    }
    return sent - received;
}

void platform::sync() { simulation_.commit(); }

bool platform::processes_wait() const {
    return std::ranges::all_of(processes_, &host::process::waits_for_ever);
}

bool platform::quiet() {
    for (const auto& one : nodes_) {
        for (const node::plugged_card& card : one->cards) card.nic->hold();
        one->host.cpu.hold();
    }
    const auto idles = [](const node::plugged_card& card) { return card.nic->idles_for_ever(); };
    const bool quiet = !sc_core::sc_pending_activity() && std::ranges::all_of(nodes_, [&](const auto& one) {
        return one->host.memory.settled() && std::ranges::all_of(one->cards, idles);
    });
    for (const auto& one : nodes_) {
        for (const node::plugged_card& card : one->cards) card.nic->finish();
        one->host.cpu.go_on();
    }
    return quiet;
}

bool platform::out_of_patience() const {
    sim::picoseconds latest = 0;
    for (const host::process* one : processes_) latest = std::max(latest, one->went_on_at());
    return sim::now() - latest >= measurement_->patience_ms * sim::millisecond;
}

}  // namespace vinic::testbench
