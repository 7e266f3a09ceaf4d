// SPDX-License-Identifier: Apache-2.0
// The transactor between the pins of pcix_initiator.sv and the protocol of hw/bus/protocol.h. The bus knows a
// tenure in closed form from the grant on, so the target's pins of each clock come from there; the
// initiator's are the RTL's, and each clock of them is held against what the bus computed and against the
// rules of the protocol (hw/bus/checker.h).
#include "hw/rtl/pcix_dma/initiator_block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "hw/bus/checker.h"
#include "hw/bus/tenure.h"
#include "hw/bus/wires.h"
#include "hw/rtl/clock_gate.h"
#include "hw/rtl/verilated_model.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

#include <Vpcix_initiator.h>
#include <Vpcix_initiator___024root.h>

namespace vinic::rtl {

namespace {

using bus::job;
using bus::job_status;
namespace phase = bus::phase;

constexpr std::size_t slots = 16;
constexpr std::size_t ports = 4;  // for jobs
constexpr std::uint64_t most_job_bytes = 0xFF'FFFF;
constexpr const char* states[] = {"idle", "address", "address high", "attribute", "data", "surprised"};

class initiator_block : public sim::module, public bus::initiator {
public:
    explicit initiator_block(surroundings& around);

    sim::parameter<bool> gated;

    sim::counter<sim::unit::clocks> edges{*this, "edges", "clocks that were evaluated"};
    sim::counter<sim::unit::bytes> late_changes{
        *this, "late_changes",
        "bytes that changed between their data phase and the end of the read's tenure"};

    sim::value_probe state{*this, "state", 3, "phase of the burst", states};
    sim::value_probe req{*this, "req_n", 1, "REQ#, 0 = asserted"};
    sim::value_probe frame{*this, "frame_n", 1, "FRAME#, 0 = asserted"};
    sim::value_probe irdy{*this, "irdy_n", 1, "IRDY#, 0 = asserted"};
    sim::value_probe jobs{*this, "jobs", slots, "slots that hold a job"};
    sim::value_probe address{*this, "address", 64, "of the burst"};
    sim::value_probe count{*this, "count", 13, "bytes of the burst"};
    sim::value_probe moved{*this, "moved", 13, "bytes of the burst that have moved"};
    sim::value_probe outstanding{*this, "outstanding", 6, "reads whose completions are awaited"};

    void start(job& what) override;
    bool idle() const override;
    void on_phase(const tlm::tlm_generic_payload&, const tlm::tlm_phase& what) override;
    void on_completion_schedule(const tlm::tlm_generic_payload& payload,
                                const bus::pci_extension& pci) override;
    void on_completion_cut(const bus::pci_extension& pci) override;
    void on_completion(const bus::pci_extension& pci, std::span<const std::uint8_t> bytes) override;

private:
    /// A tenure that has to do with this device: a burst of its own, or a completion for it.
    struct tenure_at_hand {
        bus::tenure course;
        const tlm::tlm_generic_payload* payload = nullptr;
        bool completion = false;
        bus::job* job = nullptr;   ///< null when the bytes have moved
        std::uint64_t offset = 0;  ///< of its first byte in the job

        bool covers(std::uint64_t clock) const {
            return clock >= course.clocks().address && clock < course.clocks().end;
        }
    };
    /// A data phase: addresses of the burst and of the phase's word, and of the bytes that move.
    struct moving {
        std::uint64_t burst = 0, word = 0, begin = 0, end = 0;
    };

    void set_straps();
    // Calls of the bus.
    void on_grant();
    void on_data();
    void on_cut();
    void on_end();
    void ask();
    void hand_back();
    void check_end(const bus::pci_extension& pci);
    void take_late_changes(job& j, std::uint64_t offset, std::span<const std::uint8_t> bytes);
    // Clocks.
    bool edge(sim::picoseconds at);
    void offer();
    void withdraw();
    std::optional<unsigned> free_slot() const;
    void drive(std::uint64_t clock);
    void drive_read_data(std::uint64_t clock);
    void sample(std::uint64_t clock);
    void move_data(std::uint64_t clock);
    moving data_phase(std::uint64_t clock) const;
    void compare(const bus::bus_clock& drawn) const;
    void check_rules(bus::bus_clock w);
    bool frame_is_known(std::uint64_t clock) const;
    void release_inputs();
    void show(sim::picoseconds at);
    void evaluate();
    void expect(bool holds, const char* what) const {
        if (!holds) throw sim::model_error(name(), what);
    }
    std::uint64_t clock_now() const { return bus_.clock.edge_at_or_before(sim::now()); }

    surroundings& around_;
    const bus::bus_properties& bus_;
    std::deque<bus::job*> waiting_;        ///< for a slot, or a port
    std::vector<bus::job*> entering_;      ///< at the ports
    std::array<bus::job*, slots> jobs_{};  ///< in the slots
    std::optional<unsigned> closing_;      ///< slot that is free from the next edge on
    std::array<bus::transaction, 2> transactions_;
    bus::transaction* active_ = &transactions_[0];  ///< the other one is requested, or will be
    std::vector<std::uint8_t> bytes_;               ///< of the burst, as on AD
    std::uint64_t seen_on_ad_ = 0;                  ///< how many of them
    bool requested_ = false;
    std::optional<tenure_at_hand> tenure_;
    bus::protocol_checker checker_;
    std::uint64_t unchecked_ = 0;  ///< the first clock that the checker has not seen
    VerilatedContext context_;
    Vpcix_initiator pins_{&context_};
    coverage_writer coverage_{context_};
    clock_gate clock_;
};

initiator_block::initiator_block(surroundings& around)
    : module("rtl"),
      gated(*this, {.name = "gated",
                    .value = true,
                    .help = "the block's clock stands while nothing would change",
                    .source = "of the simulator: results are the same"}),
      around_(around),
      bus_(around.bus()),
      checker_(around.bus()),
      clock_(bus_.clock, gated, [this](sim::picoseconds at) { return edge(at); }) {
    set_straps();
    rtl::reset(*this, pins_);
}

void initiator_block::set_straps() {
    const bus::burst_limits limits = around_.limits();
    const bus::requester_id id = around_.requester();
    const auto log2 = [](std::uint32_t n) { return static_cast<std::uint8_t>(std::countr_zero(n)); };
    pins_.pcix = bus_.kind == bus::bus_kind::pcix;
    pins_.wide = bus_.width_bytes == 8;
    // No burst is longer than the largest boundary.
    pins_.max_burst = static_cast<std::uint16_t>(std::min(limits.max_burst_bytes, bus::max_sequence_bytes));
    pins_.boundary_log2 = log2(limits.burst_boundary_bytes);
    pins_.max_read_log2 = log2(limits.max_read_bytes);
    pins_.max_splits = static_cast<std::uint8_t>(limits.max_outstanding_splits);
    pins_.write_invalidate = limits.write_and_invalidate;
    pins_.line_log2 = log2(bus_.cache_line_bytes);
    pins_.requester = static_cast<std::uint16_t>(id.bus << 8 | id.device << 3 | id.function);
    pins_.retry_clocks = static_cast<std::uint16_t>(bus_.retry_delay_clocks - 1);
}

/// The buffers are read without a register on the way.
void initiator_block::evaluate() {
    rtl::evaluate(*this, pins_);
    if (!tenure_ || tenure_->completion || !tenure_->job) return;
    const std::span<const std::uint8_t> from = tenure_->job->bytes;
    const std::int64_t word = static_cast<std::int32_t>(pins_.buffer_word << 10) >> 10;
    for (std::size_t w = 0; w < 4; ++w) {
        std::uint32_t value = 0;
        for (std::int64_t i = 0; i < 4; ++i) {
            const std::int64_t at = word * 8 + static_cast<std::int64_t>(w) * 4 + i;
            if (at >= 0 && at < static_cast<std::int64_t>(from.size()))
                value |= std::uint32_t{from[static_cast<std::size_t>(at)]} << 8 * i;
        }
        pins_.buffer_out[w] = value;
    }
    rtl::evaluate(*this, pins_);
}

// --- Jobs

void initiator_block::start(job& what) {
    expect(what.what != job::kind::completion && what.where == job::space::memory && !what.relaxed_ordering &&
               !what.no_snoop && what.bytes.size() <= most_job_bytes,
           "the RTL reads and writes memory, less than 16 MB at a time");
    clock_.catch_up();
    // Those that the block has not seen yet may be younger.
    while (!entering_.empty() && bus::is_older(&what, entering_.back())) withdraw();
    waiting_.insert(std::ranges::upper_bound(waiting_, &what, bus::is_older), &what);
    offer();
    evaluate();
    clock_.wake();
    ask();
}

bool initiator_block::idle() const {
    return waiting_.empty() && std::ranges::all_of(jobs_, [](const job* j) { return !j; });
}

/// The next jobs to the pins. One that comes at the instant of a grant is not seen by it.
void initiator_block::offer() {
    while (entering_.size() < ports && !waiting_.empty()) {
        job& j = *waiting_.front();
        if (requested_ && j.started == sim::now()) return;
        const std::optional<unsigned> slot = free_slot();
        if (!slot) return;
        const auto port = static_cast<unsigned>(entering_.size());
        entering_.push_back(&j);
        waiting_.pop_front();
        jobs_[*slot] = &j;
        pins_.job_valid |= 1u << port;
        pins_.job_slot[port] = static_cast<std::uint8_t>(*slot);
        if (j.what == job::kind::write) pins_.job_write |= 1u << port;
        pins_.job_address[port] = j.address;
        pins_.job_bytes[port] = static_cast<std::uint32_t>(j.bytes.size());
    }
}

/// The youngest of those at the pins waits again.
void initiator_block::withdraw() {
    job* const j = entering_.back();
    entering_.pop_back();
    const auto port = static_cast<unsigned>(entering_.size());
    jobs_[pins_.job_slot[port]] = nullptr;
    pins_.job_valid &= ~(1u << port);
    pins_.job_write &= ~(1u << port);
    waiting_.push_front(j);
}

std::optional<unsigned> initiator_block::free_slot() const {
    for (unsigned slot = 0; slot < slots; ++slot)
        if (!jobs_[slot] && slot != closing_) return slot;
    return std::nullopt;
}

void initiator_block::hand_back() {
    if (!pins_.done || closing_) return;
    const unsigned slot = pins_.done_slot;
    constexpr job_status status[] = {job_status::done, job_status::target_abort, job_status::master_abort,
                                     job_status::split_error};
    closing_ = slot;
    job& j = *std::exchange(jobs_[slot], nullptr);
    j.client->on_done(j, status[pins_.done_status]);
}

// --- What the bus calls

void initiator_block::on_phase(const tlm::tlm_generic_payload&, const tlm::tlm_phase& what) {
    clock_.catch_up();
    if (what == phase::grant)
        on_grant();
    else if (what == phase::data)
        on_data();
    else if (what == phase::cut)
        on_cut();
    else if (what == phase::end_of_tenure)
        on_end();
    else
        expect(what == phase::transfer, "a phase that is not for initiators");
}

void initiator_block::ask() {
    if (!pins_.request || requested_) return;
    requested_ = true;
    around_.to_bus(active_ == &transactions_[0] ? transactions_[1] : transactions_[0], phase::request);
}

void initiator_block::on_grant() {
    evaluate();
    requested_ = false;
    if (!pins_.next_valid) {
        pins_.gnt = 1;
        offer();
        evaluate();
        clock_.wake();
        return ask();
    }
    active_ = active_ == &transactions_[0] ? &transactions_[1] : &transactions_[0];
    auto& [payload, pci] = *active_;
    bytes_.assign(pins_.next_bytes, 0);
    seen_on_ad_ = 0;
    payload.set_address(pins_.next_address);
    payload.set_data_ptr(bytes_.data());
    payload.set_data_length(pins_.next_bytes);
    payload.set_command(pins_.next_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    pci.command = static_cast<bus::command>(pins_.next_command);
    pci.requester = pci.completer = around_.requester();
    pci.tag = pins_.next_tag;
    tenure_ = {.payload = &payload, .job = jobs_[pins_.next_slot], .offset = pins_.next_offset};
}

void initiator_block::on_data() {
    const bus::pci_extension& pci = active_->pci;
    const bus::tenure_schedule& schedule = pci.schedule;
    tenure_->course = *pci.course;
    job& j = *tenure_->job;
    (schedule.address == clock_now() ? pins_.own : pins_.gnt) = 1;
    pins_.rest = schedule.phases != 0 && schedule.bytes < active_->payload.get_data_length();
    if (schedule.phases != 0) {
        if (j.what == job::kind::write) j.client->on_supply(j, tenure_->offset, schedule.bytes);
        j.client->on_burst(j, tenure_->offset, schedule.bytes, schedule);
    }
    offer();
    evaluate();
    clock_.wake();
    ask();
}

void initiator_block::on_cut() {
    const bus::pci_extension& pci = active_->pci;
    tenure_->course = *pci.course;
    pins_.rest = 1;
    job& j = *tenure_->job;
    j.client->on_cut(j, tenure_->offset, pci.schedule.bytes, pci.schedule);
    evaluate();
    ask();
}

void initiator_block::on_end() {
    const bus::pci_extension& pci = active_->pci;
    job& j = *tenure_->job;
    pins_.rest = 0;
    evaluate();
    check_end(pci);
    if (pci.ending == bus::ending_kind::retry) around_.count_repeats(1);
    if (const std::uint64_t n = pci.schedule.bytes; pci.schedule.phases != 0) {
        j.moved += n;
        around_.count_moved(j, n);
        if (j.what == job::kind::read) {
            take_late_changes(j, tenure_->offset, std::span(bytes_).first(n));
            j.client->on_arrival(j, tenure_->offset, n);
        } else {
            expect(seen_on_ad_ == n &&
                       std::ranges::equal(std::span(bytes_).first(n), j.bytes.subspan(tenure_->offset, n)),
                   "AD did not carry the bytes of the job");
        }
    }
    tenure_->job = nullptr;
    hand_back();
    offer();
    evaluate();
    clock_.wake();
    ask();
}

/// A word that changes while its tenure lasts is seen as it is at the end (hw/bus/README.md).
void initiator_block::take_late_changes(job& j, std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    for (const std::uint8_t b : bytes) {
        std::uint8_t& seen = j.bytes[offset++];
        if (seen != b) late_changes.add();
        seen = b;
    }
}

void initiator_block::check_end(const bus::pci_extension& pci) {
    constexpr bus::ending_kind endings[] = {bus::ending_kind::complete,     bus::ending_kind::disconnected,
                                            bus::ending_kind::retry,        bus::ending_kind::split,
                                            bus::ending_kind::target_abort, bus::ending_kind::master_abort};
    expect(pins_.ended && endings[pins_.ended_how] == pci.ending && pins_.ended_bytes == pci.schedule.bytes,
           "the burst does not end as the bus computed");
}

// --- Completions

void initiator_block::on_completion_schedule(const tlm::tlm_generic_payload& payload,
                                             const bus::pci_extension& pci) {
    clock_.catch_up();
    pins_.query_tag = pci.tag;
    evaluate();
    tenure_ = {.course = *pci.course,
               .payload = &payload,
               .completion = true,
               .job = jobs_[pins_.query_slot],
               .offset = pins_.query_offset};
    expect(tenure_->job, "a split completion that nobody awaits");
    tenure_->job->client->on_burst(*tenure_->job, tenure_->offset, pci.schedule.bytes, pci.schedule);
    clock_.wake();
}

void initiator_block::on_completion_cut(const bus::pci_extension& pci) {
    clock_.catch_up();
    tenure_->course = *pci.course;
    tenure_->job->client->on_cut(*tenure_->job, tenure_->offset, pci.schedule.bytes, pci.schedule);
}

void initiator_block::on_completion(const bus::pci_extension& pci, std::span<const std::uint8_t> bytes) {
    clock_.catch_up();
    job& j = *tenure_->job;
    const std::uint64_t offset = tenure_->offset;
    tenure_.reset();
    evaluate();
    if (!pci.split_error) {
        take_late_changes(j, offset, bytes);
        j.moved += bytes.size();
        around_.count_moved(j, bytes.size());
        j.client->on_arrival(j, offset, bytes.size());
    }
    hand_back();
    offer();
    evaluate();
    clock_.wake();
    ask();
}

// --- Clocks

bool initiator_block::edge(sim::picoseconds at) {
    const std::uint64_t clock = bus_.clock.edge_at_or_before(at) - 1;
    edges.add();
    offer();
    drive(clock);
    evaluate();
    sample(clock);
    evaluate_clock(*this, pins_);
    release_inputs();
    closing_.reset();
    offer();
    evaluate();
    ask();
    if (state.watched() || req.watched() || frame.watched()) show(at);
    return pins_.quiet && waiting_.empty() && !(tenure_ && clock + 1 < tenure_->course.clocks().end);
}

/// What comes with one clock.
void initiator_block::release_inputs() {
    entering_.clear();
    pins_.reset = pins_.job_valid = pins_.job_write = pins_.gnt = pins_.own = pins_.leave = 0;
    pins_.devsel = pins_.trdy = pins_.stop = pins_.ack64 = pins_.frame_in = pins_.irdy_in = 0;
}

/// The pins of others in that clock.
void initiator_block::drive(std::uint64_t clock) {
    if (!tenure_ || !tenure_->covers(clock)) return;
    const bus::tenure& course = tenure_->course;
    const bus::bus_clock w = bus::wires_of(bus_, course, *tenure_->payload, clock);
    pins_.devsel = w.devsel;
    pins_.trdy = w.trdy;
    pins_.stop = w.stop;
    pins_.ack64 = w.ack64;
    pins_.leave = course.leaves() != 0 && clock >= course.leaves();
    if (tenure_->completion) {
        pins_.frame_in = w.frame;
        pins_.irdy_in = w.irdy;
        pins_.cbe_in = w.cbe & 0xF;
        pins_.ad_in = w.ad;
    }
    if (w.trdy && (tenure_->completion || course.terms().read)) drive_read_data(clock);
}

/// The bus moves a read's bytes at the end of its tenure; what its target holds by now stands on AD.
void initiator_block::drive_read_data(std::uint64_t clock) {
    const moving phase = data_phase(clock);
    if (phase.begin == phase.end) return;
    std::array<std::uint8_t, 8> lanes{};
    around_.look(phase.begin, std::span(lanes).subspan(phase.begin - phase.word, phase.end - phase.begin));
    pins_.ad_in = std::bit_cast<std::uint64_t>(lanes);
}

void initiator_block::sample(std::uint64_t clock) {
    if (!tenure_ || !tenure_->covers(clock)) {
        expect(!pins_.frame && !pins_.irdy, "the initiator drives a bus that is not its own");
        return;
    }
    const bus::bus_clock drawn = bus::wires_of(bus_, tenure_->course, *tenure_->payload, clock);
    if (!tenure_->completion) compare(drawn);
    check_rules(drawn);
    move_data(clock);
}

/// What the RTL drives is what the bus computed.
void initiator_block::compare(const bus::bus_clock& drawn) const {
    const bus::tenure& course = tenure_->course;
    const std::uint64_t clock = drawn.clock;
    const std::uint64_t last_address = course.last_address();
    expect(pins_.irdy == drawn.irdy, "IRDY# is not what the bus computed");
    expect(!frame_is_known(clock) || pins_.frame == drawn.frame, "FRAME# is not what the bus computed");
    const bool first_phases = clock <= last_address || (pins_.pcix && clock == last_address + 1);
    const bool claimed = clock >= course.clocks().response && clock <= course.clocks().last_data();
    const std::uint8_t driven = static_cast<std::uint8_t>(~drawn.cbe_floating);
    expect(!(first_phases || claimed) || ((pins_.cbe ^ drawn.cbe) & driven) == 0,
           "C/BE# is not what the bus computed");
    expect(!first_phases || ((pins_.ad ^ drawn.ad) & ~drawn.ad_floating) == 0,
           "AD is not what the bus computed");
}

/// The bus draws FRAME# knowing when the only data phase comes and how wide its target will be; an initiator
/// lets it rise at once (PCI-X), or when ACK64# has told.
bool initiator_block::frame_is_known(std::uint64_t clock) const {
    const bus::tenure& course = tenure_->course;
    const bus::tenure_schedule& s = course.clocks();
    if (pins_.pcix) return s.phases >= 2 || clock <= course.last_address() + 1;
    const bool one_wide_word = s.width_bytes == 8 && course.terms().address % 8 + course.terms().length <= 8;
    return !one_wide_word || clock >= s.response;
}

/// The rules on the wires, for the part of the bus that this device sees.
void initiator_block::check_rules(bus::bus_clock w) {
    constexpr std::uint32_t own = 1, completer = 2;
    const std::uint32_t granted = tenure_->completion ? completer : own;
    const std::uint64_t begins = tenure_->course.clocks().address;
    if (w.clock == begins && unchecked_ < w.clock) {
        bus::bus_clock before;
        before.clock = w.clock - 1;
        before.gnt = granted;
        checker_.sample(before);
    }
    w.gnt = granted;
    w.req = pins_.req ? own : 0;
    if (!tenure_->completion) {
        w.frame = pins_.frame;
        w.irdy = pins_.irdy;
        w.req64 = pins_.req64;
        w.cbe = pins_.cbe;
        if (pins_.drives_ad) {
            w.ad = pins_.ad;
            w.ad_floating = pins_.req64 || w.ack64 ? 0 : ~std::uint64_t{0xFFFF'FFFF};
        }
    }
    checker_.sample(w);
    unchecked_ = w.clock + 1;
    if (checker_.violations().empty()) return;
    throw sim::model_error(
        name(), fmt::format("{} (tenure of clocks {} to {}{})", checker_.violations().front(), begins,
                            tenure_->course.clocks().end, tenure_->completion ? ", a completion" : ""));
}

/// The bytes of a data phase: from AD into the job's buffer, or from AD to the target.
void initiator_block::move_data(std::uint64_t clock) {
    if (!tenure_->job) return;
    if (tenure_->completion || tenure_->course.terms().read) {
        const std::int64_t word = static_cast<std::int32_t>(pins_.buffer_word << 10) >> 10;
        for (unsigned i = 0; i < 16; ++i) {
            if ((pins_.buffer_write >> i & 1) == 0) continue;
            const auto at = static_cast<std::size_t>(word * 8 + static_cast<std::int64_t>(i));
            jobs_[pins_.buffer_slot]->bytes[at] =
                static_cast<std::uint8_t>(pins_.buffer_in[i / 4] >> i % 4 * 8);
        }
        return;
    }
    const auto phase = data_phase(clock);
    for (std::uint64_t at = phase.begin; at < phase.end; ++at, ++seen_on_ad_)
        bytes_[at - phase.burst] = static_cast<std::uint8_t>(pins_.ad >> (at - phase.word) * 8);
}

/// What moves in that clock.
initiator_block::moving initiator_block::data_phase(std::uint64_t clock) const {
    const bus::tenure_schedule& s = tenure_->course.clocks();
    const std::uint64_t width = s.width_bytes;
    const std::uint64_t burst = tenure_->job->address + tenure_->offset;
    if (clock < s.first_data || clock > s.last_data() || s.phases == 0 || !pins_.trdy) return {};
    const std::uint64_t word = burst / width * width + (clock - s.first_data) / s.stride * width;
    return {.burst = burst,
            .word = word,
            .begin = std::max(word, burst),
            .end = std::min(word + width, burst + tenure_->payload->get_data_length())};
}

void initiator_block::show(sim::picoseconds at) {
    const auto& root = *pins_.rootp;
    state.set(at, root.pcix_initiator__DOT__state_q);
    req.set(at, !pins_.req);
    frame.set(at, !pins_.frame);
    irdy.set(at, !pins_.irdy);
    jobs.set(at, root.pcix_initiator__DOT__valid_q);
    address.set(at, root.pcix_initiator__DOT__address_phase_q);
    count.set(at, root.pcix_initiator__DOT__count_q);
    moved.set(at, root.pcix_initiator__DOT__moved_q);
    outstanding.set(at, root.pcix_initiator__DOT__outstanding_q);
}

}  // namespace

std::unique_ptr<bus::initiator> make_initiator(bus::initiator::surroundings& around) {
    if (around.bus().free)
        throw sim::input_error(
            "dma.impl = rtl: on a bus that takes no time (bus.free) there are no clocks; use dma.impl = "
            "model");
    return std::make_unique<initiator_block>(around);
}

}  // namespace vinic::rtl
