// SPDX-License-Identifier: Apache-2.0
#include "testbench/cli/observers.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "hw/sim/error.h"
#include "hw/sim/probe.h"
#include "hw/sim/simulation.h"
#include "testbench/cli/firmware_observers.h"
#include "testbench/cli/wave.h"
#include "testbench/cli/window.h"
#include "traces/log_writer.h"
#include "traces/pcap_writer.h"
#include "traces/signals.h"

namespace vinic::testbench {

namespace {

/// A log is for reading: without a line for each instruction of each core, unless a scope names it.
std::vector<std::string> logged(const std::vector<std::string>& scopes) {
    std::vector<std::string> names;
    for (const auto& [name, probe] : sim::simulation::current().probes()) names.push_back(name);
    return traces::choose_signals(names, scopes, false);
}

std::string text_of(const link::topology& network, const link::topology::end& end) {
    if (end.at == link::topology::end::kind::switch_port)
        return fmt::format("switch{} port {}", end.index, end.port);
    const unsigned node = end.index / network.cards, card = end.index % network.cards;
    return card == 0 ? fmt::format("node{}", node) : fmt::format("node{}.nic{}", node, card);
}

traces::cable_map cables_of(const link::fabric& network) {
    traces::cable_map all;
    for (std::size_t i = 0; i < network.cables().size(); ++i) {
        const link::topology::cable& c = network.layout().cables[i];
        all[network.cables()[i]->name()] = {text_of(network.layout(), c.a), text_of(network.layout(), c.b),
                                            network.switching.get() == "ethernet"};
    }
    return all;
}

}  // namespace

observers::observers(const trace_options& options, const platform& of, const std::optional<firmware>& image) {
    // What is wrong with options shows before anything is written.
    const traces::window log_window = window_of("--log", options.log_window, of),
                         pcap_window = window_of("--pcap", options.pcap_window, of),
                         timeline_window = window_of("--timeline", options.timeline_window, of);
    const std::vector<std::string> log_scopes =
        options.log.empty() ? std::vector<std::string>{} : logged(options.log_scopes);
    std::optional<traces::wave_view> wave;
    if (!options.wave.empty()) wave = wave_view_of(options, of);
    if (!options.itrace.empty()) {
        auto instructions = make_instruction_trace(options, of, image);
        instructions_ = instructions.get();
        add("--itrace", std::move(instructions));
    }
    // First, so that it knows what a report means when the recorders that ask it get the same one.
    const bool follows = options.account || options.account_message != 0 || !options.svg.empty();
    if (follows || !options.pcap.empty() || !options.timeline.empty()) account_.emplace();
    if (follows) {
        account_->tell(anatomy_.emplace());
        kernel_path_.emplace(*anatomy_);
    }
    if (options.account) use_.emplace();
    const traces::cable_map cables = cables_of(of.fabric());
    if (wave) record_wave(options, *wave);
    if (!options.log.empty())
        add("--log", std::make_unique<traces::log_writer>(options.log, log_scopes, log_window));
    if (!options.pcap.empty())
        add("--pcap", std::make_unique<traces::pcap_writer>(options.pcap, *account_, cables, pcap_window));
    if (!options.timeline.empty()) {
        constexpr std::uint64_t mbyte = 1'000'000;
        auto timeline = std::make_unique<traces::timeline_writer>(
            options.timeline, *account_, cables, options.timeline_mbytes * mbyte, timeline_window);
        timeline_ = timeline.get();
        add("--timeline", std::move(timeline));
    }
    if (options.fingerprint) fingerprint_.emplace();
    if (account_ || fingerprint_ || record()) relay_.emplace();
}

void observers::add(const std::string& option, std::unique_ptr<traces::recorder> what) {
    recorders_.push_back(std::move(what));
    options_.push_back(option);
}

void observers::record_wave(const trace_options& options, const traces::wave_view& view) {
    add("--wave", make_wave(options.wave, view));
    if (options.gtkw.empty()) return;
    const std::string filter = std::filesystem::read_symlink("/proc/self/exe").string() + " disassemble";
    auto save_file = std::make_unique<traces::gtkw_writer>(options.gtkw, options.wave, filter, view);
    gtkw_ = save_file.get();
    add("--gtkw", std::move(save_file));
}

observers::~observers() {
    try {
        finish();
    } catch (const std::exception& error) {
        fmt::print(stderr, "vinic: a trace is incomplete: {}\n", error.what());
    }
}

void observers::flush(sim::picoseconds now) {
    if (!relay_) return;
    if (instructions_) relay_->then([to = instructions_, from = instructions_->take()] { to->give(from); });
    relay_->then([this, settled = sim::simulation::current().settled(now)] {
        for (const auto& recorder : recorders_) recorder->flush(settled);
    });
    if (instructions_) relay_->wait();  // what it was given is not bounded otherwise
}

void observers::finish() {
    if (!relay_ || relay_->broken() || std::exchange(finished_, true)) return;
    if (instructions_) relay_->then([to = instructions_, from = instructions_->take()] { to->give(from); });
    relay_->then([this, now = sim::now()] {
        for (const auto& recorder : recorders_) recorder->finish(now);
    });
    relay_->wait();
    if (timeline_ && timeline_->full_at())
        fmt::print(stderr, "vinic: the timeline is full and ends at {} ps (--timeline-limit)\n",
                   *timeline_->full_at());
    if (gtkw_) gtkw_->save(sim::now());
    for (std::size_t i = 0; i < options_.size(); ++i)
        if (options_[i] != "--gtkw" && !recorders_[i]->opened())
            fmt::print(stderr, "vinic: {}-from was not reached: the trace holds nothing of the run\n",
                       options_[i]);
}

std::optional<account_report> observers::account() const {
    if (!use_) return std::nullopt;
    return account_report(anatomy_->messages(), use_->intervals());
}

const traces::message_anatomy& observers::message(std::uint64_t number) const {
    const auto& all = anatomy_->messages();
    if (number == 0 && all.empty()) throw sim::input_error("--svg: no message arrived");
    if (number > all.size())
        throw sim::input_error("--account-message {}: {} messages arrived", number, all.size());
    return number ? all[number - 1] : all.back();
}

}  // namespace vinic::testbench
