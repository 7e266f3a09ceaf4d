// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/pci_bus.h"

#include <algorithm>
#include <utility>

#include "hw/bus/master.h"
#include "hw/bus/target_port.h"
#include "hw/sim/error.h"
#include "hw/sim/nominal_clock.h"
#include "hw/sim/simulation.h"

namespace vinic::bus {
namespace {

/// fast, medium, slow, subtractive; A, B, C, SUB.
bool is_decode_speed(bus_kind kind, std::uint64_t clocks) {
    return clocks >= 1 && clocks <= 5 && clocks != (kind == bus_kind::pci ? 5 : 4);
}

constexpr std::uint64_t four_gib = std::uint64_t{1} << 32;
/// PCI: a master whose tenure the target ended releases REQ# for this long (facts/lanai_pcix.md C1).
constexpr std::uint64_t released_clocks = 2;

}  // namespace

// --- wiring
// --------------------------------------------------------------------------------------------------

pci_bus::pci_bus(const sc_core::sc_module_name& name)
    : sim::module(name, "bus"),
      masters("masters"),
      targets("targets"),
      kind(*this,
           {.name = "kind", .value = "pci", .choices = {"pci", "pcix"}, .help = "PCI 2.2 or PCI-X 1.0a"}),
      width_bits(*this,
                 {.name = "width_bits", .unit = "bits", .value = 64, .choices = {32, 64}, .help = "of AD"}),
      clock_mhz(*this, {.name = "clock_mhz",
                        .unit = "MHz",
                        .value = 66,
                        .choices = {33, 66, 100, 133},
                        .help = fmt::format("PCI: 33 or 66; PCI-X: 66, 100 or 133; {}",
                                            sim::nominal_clock)}),
      target_decode_clocks(
          *this, {.name = "target_decode_clocks",
                  .unit = "clocks",
                  .value = 2,
                  .min = 1,
                  .max = 5,
                  .choices = {},
                  .help = "DEVSEL# after the address phase (PCI-X: attribute phase)",
                  .source = "facts/lanai_pcix.md C1, C2: PCI 1 fast to 4, PCI-X A 1, B 2, C 3, SUB 5"}),
      cache_line_bytes(*this, {.name = "cache_line_bytes",
                               .unit = "bytes",
                               .value = 32,
                               .choices = {16, 32, 64, 128},
                               .help = "cache line size register of all devices"}),
      latency_timer_clocks(*this,
                           {.name = "latency_timer_clocks",
                            .unit = "clocks",
                            .value = 64,
                            .min = 0,
                            .max = 255,
                            .help = "a master leaves after so many clocks when another one wants the bus",
                            .source = "facts/lanai_pcix.md C1, C2"}),
      initial_limit_clocks(*this, {.name = "initial_limit_clocks",
                                   .unit = "clocks",
                                   .value = 16,
                                   .min = 8,
                                   .max = 64,
                                   .help = "from FRAME# to the first data or STOP#; host bridges may take 32",
                                   .source = "facts/lanai_pcix.md C1"}),
      retry_delay_clocks(*this, {.name = "retry_delay_clocks",
                                 .unit = "clocks",
                                 .value = 2,
                                 .min = 2,
                                 .max = 1024,
                                 .help = "from a retry to the repetition of the request"}),
      arbitration(*this, {.name = "arbitration",
                          .value = "round_robin",
                          .choices = {"round_robin", "fixed"},
                          .help = "from the last winner on, or the lowest number first"}),
      arbitration_clocks(*this, {.name = "arbitration_clocks",
                                 .unit = "clocks",
                                 .value = 2,
                                 .min = 1,
                                 .max = 16,
                                 .help = "from REQ# to the address phase on an idle bus",
                                 .source = "facts/lanai_pcix.md C1"}),
      parking(*this, {.name = "parking",
                      .value = "last",
                      .choices = {"none", "last", "first"},
                      .help = "whose GNT# stays asserted on an idle bus: it starts without arbitration"}),
      free(*this,
           {.name = "free",
            .value = false,
            .help =
                "what-if: arbitration, phases and data take no time; a target's own initial wait remains"}) {
    properties_ = {.kind = kind.get() == "pcix" ? bus_kind::pcix : bus_kind::pci,
                   .width_bytes = static_cast<unsigned>(width_bits / 8),
                   .clock = sim::clock_domain::from_mhz(clock_mhz),
                   .free = free,
                   .initial_limit_clocks = static_cast<std::uint32_t>(initial_limit_clocks),
                   .retry_delay_clocks = static_cast<std::uint32_t>(retry_delay_clocks),
                   .cache_line_bytes = static_cast<std::uint32_t>(cache_line_bytes)};
    const bool pcix = properties_.kind == bus_kind::pcix;
    if (pcix ? clock_mhz == 33 : clock_mhz > 66)
        throw sim::input_error("{}.clock_mhz: {} does not run at {} MHz ({})", this->name(),
                               pcix ? "PCI-X" : "PCI", clock_mhz.get(), pcix ? "66, 100 or 133" : "33 or 66");
    check_decode(this->name() + std::string(".target_decode_clocks"), target_decode_clocks);
    const std::uint64_t latency = properties_.free ? 1 : arbitration_clocks;
    arbiter_ = arbiter(arbitration.get() == "fixed" ? arbiter::rule::fixed : arbiter::rule::round_robin,
                       parking.get() == "none"   ? arbiter::park::none
                       : parking.get() == "last" ? arbiter::park::last
                                                 : arbiter::park::first,
                       latency);
    masters.register_nb_transport_fw(this, &pci_bus::from_master);
    masters.register_b_transport(this, &pci_bus::b_transport);
    masters.register_transport_dbg(this, &pci_bus::transport_dbg);
    targets.register_nb_transport_bw(this, &pci_bus::from_target);
    sim::simulation::current().on_settle([this]() -> std::uint64_t {
        if (!active_) return sim::never;  // and no repetition: `on_commit` has ended it
        const sim::picoseconds begins = properties_.clock.edge(active_->tenure.clocks().address);
        return begins ? begins - 1 : 0;
    });
    sim::simulation::current().on_commit([this] { end_repetition(); });
}

unsigned pci_bus::attach(initiator_socket& socket) {
    socket.bind(masters);
    arbiter_.add_master();
    wires.add_master(*this);
    requested_.push_back(nullptr);
    return static_cast<unsigned>(requested_.size()) - 1;
}

unsigned pci_bus::attach(master& device) { return attach(device.socket); }

void pci_bus::check_decode(const std::string& where, std::uint64_t clocks) const {
    if (is_decode_speed(properties_.kind, clocks)) return;
    const bool pcix = properties_.kind == bus_kind::pcix;
    throw sim::input_error("{}: {} has no decode speed of {} clocks ({})", where, pcix ? "PCI-X" : "PCI",
                           clocks, pcix ? "1, 2, 3 or 5" : "1 to 4");
}

unsigned pci_bus::attach(target_socket& socket, const target_properties& how) {
    if (how.decode_clocks) check_decode(socket.name(), how.decode_clocks);
    targets.bind(socket);
    return decoder_.add(how);
}

unsigned pci_bus::attach(target_port& device, const target_properties& how) {
    return attach(device.socket, how);
}

void pci_bus::map(unsigned target, std::uint64_t base, std::uint64_t range_bytes) {
    end_repetition();
    if (!decoder_.map(target, base, range_bytes))
        throw sim::model_error(
            name(), fmt::format("address range {:#x} + {:#x} of target {} is empty or overlaps", base,
                                range_bytes, target));
}

void pci_bus::unmap(unsigned target) {
    end_repetition();
    decoder_.unmap(target);
}

void pci_bus::to_master(unsigned master, tlm::tlm_generic_payload& payload, const tlm::tlm_phase& what) {
    tlm::tlm_phase p = what;
    sc_core::sc_time unused;
    masters[static_cast<int>(master)]->nb_transport_bw(payload, p, unused);
}

void pci_bus::to_target(unsigned target, tlm::tlm_generic_payload& payload, const tlm::tlm_phase& what) {
    tlm::tlm_phase p = what;
    sc_core::sc_time unused;
    targets[static_cast<int>(target)]->nb_transport_fw(payload, p, unused);
}

// --- what devices ask
// ----------------------------------------------------------------------------------------

tlm::tlm_sync_enum pci_bus::from_master(int master, tlm::tlm_generic_payload& payload, tlm::tlm_phase& what,
                                        sc_core::sc_time&) {
    const auto number = static_cast<unsigned>(master);
    if (what == phase::repeat) {
        begin_repetition(number);
        return tlm::TLM_ACCEPTED;
    }
    end_repetition();
    if (what == phase::cut) return tlm::TLM_ACCEPTED;
    if (what != phase::request)
        throw sim::model_error(name(), fmt::format("master {} may only request", number));
    if (arbiter_.requests(number))
        throw sim::model_error(name(), fmt::format("master {} requests twice", number));
    requested_[number] = &payload;
    const std::uint64_t clock =
        properties_.free ? 0 : properties_.clock.edge_after(request_at_.value_or(sim::now()));
    arbiter_.request(number, clock);
    if (!properties_.free) wires.request(number, properties_.clock.edge(clock));
    if (active_ && active_->announced) requested_meanwhile(clock);
    arm();
    return tlm::TLM_ACCEPTED;
}

tlm::tlm_sync_enum pci_bus::from_target(int target, tlm::tlm_generic_payload& payload, tlm::tlm_phase& what,
                                        sc_core::sc_time&) {
    if (what != phase::stop) throw sim::model_error(name(), fmt::format("target {} may only stop", target));
    if (!active_ || active_->payload != &payload || properties_.free) return tlm::TLM_ACCEPTED;
    if (active_->target != static_cast<unsigned>(target)) return tlm::TLM_ACCEPTED;
    if (active_->tenure.cut_by_target(properties_.clock.edge_after(sim::now()))) shortened();
    arm();
    return tlm::TLM_ACCEPTED;
}

void pci_bus::b_transport(int, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const auto& pci = pci_extension::of(payload);
    const auto claim = decoder_.decode(pci.command, properties_.kind, payload.get_address(), pci.requester);
    if (!claim) {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    targets[static_cast<int>(claim->target)]->b_transport(payload, delay);
}

unsigned pci_bus::transport_dbg(int, tlm::tlm_generic_payload& payload) {
    const auto claim = decoder_.decode(command::memory_read, properties_.kind, payload.get_address(), {});
    return claim ? targets[static_cast<int>(claim->target)]->transport_dbg(payload) : 0;
}

// --- the course of a tenure
// ----------------------------------------------------------------------------------

void pci_bus::act() {
    end_repetition();
    if (active_ && pci_extension::of(*active_->payload).schedule.done_at <= sim::now()) finish();
    if (!active_) decide(clock_now());
    if (!active_) park(idle_clock_);
    arm();
}

void pci_bus::start_of_simulation() {
    if (!properties_.free) wires.pull_up();
    park(0);
}

/// Shows whose GNT# stays asserted; `last` leaves it where it is.
void pci_bus::park(std::uint64_t clock) {
    if (properties_.free || parking.get() == "last" || requested_.empty()) return;
    wires.park(parking.get() == "first" ? std::optional(0u) : std::nullopt, properties_.clock.edge(clock));
}

/// One event: the end of the tenure at hand, the first repetition of which the answer is not known, or the
/// next decision.
void pci_bus::arm() {
    if (repetition_) {
        const std::uint64_t known =
            repetition_->begun_before(pci_extension::of(*ended_.payload).answer.retry_before);
        due_.set(properties_.clock.edge(repetition_->requested(known + 1) - 1));
    } else if (active_) {
        due_.set(pci_extension::of(*active_->payload).schedule.done_at);
    } else if (const auto clock = arbiter_.decision(free_clock_)) {
        due_.set(properties_.free ? sim::now() : properties_.clock.edge(*clock));
    } else {
        due_.cancel();
    }
}

void pci_bus::decide(std::uint64_t clock) {
    // A master that wants nothing after all costs its GNT# only.
    while (const auto choice = arbiter_.decide(clock, properties_.free ? 0 : free_clock_)) {
        if (grant(*choice, clock)) return;
    }
}

/// `decided`: the clock whose edge the arbiter decided at.
bool pci_bus::grant(const arbiter::choice& to, std::uint64_t decided) {
    tlm::tlm_generic_payload& payload = *std::exchange(requested_[to.master], nullptr);
    const std::uint64_t asked = arbiter_.requested(to.master);
    arbiter_.withdraw(to.master);
    arbiter_.granted(to.master);
    // Shown first: a master that has nothing to move may assert REQ# anew at once.
    if (!properties_.free)
        wires.grant(to.master, properties_.clock.edge(decided), properties_.clock.edge(to.address_clock));
    idle_clock_ = to.address_clock;
    payload.set_data_length(0);
    to_master(to.master, payload, phase::grant);
    if (payload.get_data_length() == 0) return false;
    if (!properties_.free) arbitration_wait.add(to.address_clock - asked);

    auto& pci = pci_extension::of(payload);
    const auto claim = decoder_.decode(pci.command, properties_.kind, payload.get_address(), pci.requester);
    active_ = {.master = to.master,
               .target = claim ? std::optional(claim->target) : std::nullopt,
               .payload = &payload,
               .tenure = {}};
    check_request(*active_);
    ask_target(*active_, claim ? claim->bytes : 0, to.address_clock);
    out_of_time(decided);
    publish(active_->tenure, pci);
    if (active_->tenure.clocks().phases) to_target(*active_->target, payload, phase::data);
    to_master(to.master, payload, phase::data);
    active_->announced = true;
    if (arbiter_.requested_after(decided)) requested_meanwhile(decided + 1);
    return true;
}

void pci_bus::ask_target(active& a, std::uint64_t claimed_bytes, std::uint64_t address_clock) {
    auto& pci = pci_extension::of(*a.payload);
    pci.answer = {};
    a.tenure = tenure(terms_of(a, claimed_bytes), address_clock);
    if (!a.target) return;
    publish(a.tenure, pci);
    to_target(*a.target, *a.payload, phase::address);
    const tenure_terms terms = terms_of(a, claimed_bytes);
    if (const char* fault = fault_of(terms, initial_limit_clocks))
        throw sim::model_error(name(), fmt::format("target {}: {}", *a.target, fault));
    a.tenure = tenure(terms, address_clock);
}

tenure_terms pci_bus::terms_of(const active& a, std::uint64_t claimed_bytes) const {
    const auto& pci = pci_extension::of(*a.payload);
    const bool pcix = properties_.kind == bus_kind::pcix;
    const target_properties how = a.target ? decoder_.target(*a.target) : target_properties{};
    const bool one_dword = a.payload->get_address() % 4 + a.payload->get_data_length() <= 4;
    const bool narrow = !is_memory(pci.command) || one_dword || (pcix && is_dword(pci.command));
    tenure_terms t{
        .kind = properties_.kind,
        .read = is_read(pci.command, properties_.kind),
        .dual = is_memory(pci.command) && !(pcix && pci.command == command::split_completion) &&
                a.payload->get_address() >= four_gib,
        .claimed = a.target.has_value(),
        .whole_lines = !pcix && pci.command == command::write_and_invalidate,
        .width_bytes = narrow || !pci.wide || !how.wide ? 4 : properties_.width_bytes,
        .decode_clocks =
            how.decode_clocks ? how.decode_clocks : static_cast<std::uint32_t>(target_decode_clocks),
        .initiator_wait_clocks = pcix ? 0 : pci.initiator_wait_clocks,
        .cache_line_bytes = properties_.cache_line_bytes,
        .address = a.payload->get_address(),
        .length = a.payload->get_data_length(),
        .answer = pci.answer,
    };
    // A burst that leaves what its target claims is disconnected there.
    auto& limit = t.answer.limit_bytes;
    if (claimed_bytes && claimed_bytes < t.length && (limit == 0 || claimed_bytes < limit))
        limit = static_cast<std::uint32_t>(claimed_bytes);
    return t;
}

void pci_bus::check_request(const active& a) const {
    const auto& pci = pci_extension::of(*a.payload);
    const std::uint64_t length = a.payload->get_data_length();
    const bool pcix = properties_.kind == bus_kind::pcix;
    const auto wrong = [&](const char* what) {
        throw sim::model_error(name(), fmt::format("master {}: {} of {} bytes at {:#x}: {}", a.master,
                                                   name_of(pci.command, properties_.kind), length,
                                                   a.payload->get_address(), what));
    };
    if (pcix && length > max_sequence_bytes) wrong("a sequence has at most 4096 bytes");
    if (pcix && is_dword(pci.command) && a.payload->get_address() % 4 + length > 4)
        wrong("more than one dword");
    if (!pcix && pci.initiator_wait_clocks > 7) wrong("IRDY# must come within 8 clocks");
    if (!pcix && pci.command == command::write_and_invalidate &&
        (a.payload->get_address() % properties_.cache_line_bytes || length % properties_.cache_line_bytes))
        wrong("write and invalidate moves whole cache lines");
}

/// Puts the tenure's clocks, and what they mean in picoseconds, where all parties read them.
void pci_bus::publish(const tenure& of, pci_extension& pci) {
    pci.schedule = of.clocks();
    pci.ending = of.ending();
    pci.course = &of;
    auto& s = pci.schedule;
    const auto& clock = properties_.clock;
    if (properties_.free) {
        const sim::picoseconds wait = clock.span(of.terms().answer.initial_wait_clocks);
        s.address_at = sim::now();
        s.first_data_at = s.done_at = sim::now() + wait;
        s.data_period = 0;
        return;
    }
    s.address_at = clock.edge(of.last_address() + 1);
    s.first_data_at = clock.edge(s.first_data + 1);
    s.data_period = clock.span(s.stride);
    s.done_at = clock.edge(s.last_data() + 1);
    free_clock_ = s.end;
}

/// A REQ# stands on the bus from `clock` on. Who loses GNT# to it may depend on what else is asserted in that
/// clock: then it is asked when that is known.
void pci_bus::requested_meanwhile(std::uint64_t clock) {
    if (properties_.free) return;
    if (!arbiter_.prefers_owners()) {
        if (out_of_time(~std::uint64_t{0})) shortened();
    } else {
        asked_.no_later_than(properties_.clock.edge(clock));
    }
}

void pci_bus::ask_arbiter() {
    if (!active_) return;
    const std::uint64_t clock = clock_now();
    if (out_of_time(clock)) shortened();
    if (arbiter_.requested_after(clock)) requested_meanwhile(clock + 1);
    arm();
}

/// GNT# may have moved to another master: then the latency timer decides when the tenure ends. True when that
/// makes it shorter.
bool pci_bus::out_of_time(std::uint64_t seen_by) {
    if (properties_.free) return false;
    const auto lost = arbiter_.grant_lost(active_->master, seen_by);
    if (!lost) return false;
    const std::uint64_t begin = active_->tenure.clocks().address;
    const std::uint64_t gone = std::max(*lost, begin + 1);
    return active_->tenure.cut_by_initiator(std::max(begin + latency_timer_clocks, gone));
}

/// GNT# during a tenure is a function of all requests that the arbiter saw in it, so it is shown at the end;
/// a REQ# of that instant or later meets the next decision.
void pci_bus::show_grant_lost() {
    if (properties_.free) return;
    const auto& clocks = active_->tenure.clocks();
    idle_clock_ = clocks.last_data() + 1;
    const auto lost = arbiter_.grant_lost(active_->master, idle_clock_);
    if (!lost) return;
    const std::uint64_t gone = std::max(*lost - 1, clocks.address);
    if (gone <= idle_clock_) wires.revoke(active_->master, properties_.clock.edge(gone));
}

void pci_bus::shortened() {
    publish(active_->tenure, pci_extension::of(*active_->payload));
    if (active_->target) to_target(*active_->target, *active_->payload, phase::cut);
    to_master(active_->master, *active_->payload, phase::cut);
}

void pci_bus::finish() {
    active& a = ended_ = *active_;
    const bool read = a.tenure.terms().read;
    if (a.tenure.clocks().phases) {
        if (!read) to_master(a.master, *a.payload, phase::transfer);
        to_target(*a.target, *a.payload, phase::transfer);
    }
    show_grant_lost();
    wires.report(properties_, a.tenure, *a.payload);
    count(a);
    active_.reset();
    if (properties_.kind == bus_kind::pci && a.tenure.stopped() && !properties_.free)
        release_request(a.master, a.tenure.clocks().last_data() + 1);
    to_master(a.master, *a.payload, phase::end_of_tenure);
}

// --- repetitions
// ----------------------------------------------------------------------------------------------

/// The master has nothing to do but to repeat the tenure that ended now. REQ# of the first repetition rises
/// `retry_delay_clocks` after the edge at which it saw STOP#; the arbiter says what follows if nobody else
/// comes.
void pci_bus::begin_repetition(unsigned master) {
    bool alone = properties_.kind == bus_kind::pci && !properties_.free;
    for (unsigned other = 0; other < requested_.size(); ++other) alone &= !arbiter_.requests(other);
    if (!alone) {
        pci_extension::of(*ended_.payload).repeats = 0;
        return to_master(master, *ended_.payload, phase::repeated);
    }
    const std::uint64_t asked = ended_.tenure.clocks().first_data + 1 + properties_.retry_delay_clocks;
    arbiter_.request(master, asked);
    const std::uint64_t decided = *arbiter_.decision(free_clock_);
    const auto choice = *arbiter_.decide(decided, free_clock_);
    arbiter_.withdraw(master);
    repetition_.emplace(master, ended_.tenure, asked, decided, choice.address_clock);
}

/// Accounts for the repetitions that are over and puts master and bus where they are by now in the next one:
/// the master waits to assert REQ#, or has asserted it, or has its tenure.
void pci_bus::end_repetition() {
    if (!repetition_) return;
    const repetition r = *std::exchange(repetition_, std::nullopt);
    auto& payload = *ended_.payload;
    auto& pci = pci_extension::of(payload);
    const std::uint64_t clock = properties_.clock.edge_at_or_after(sim::now());
    pci.repeats = r.whole_before(clock);
    // Unwatched, the last one leaves the bus as all of them do.
    const std::uint64_t shown = wires.watched() ? 1 : std::max<std::uint64_t>(pci.repeats, 1);
    for (std::uint64_t n = shown; n <= pci.repeats; ++n) show_repetition(r, n);
    count_repetitions(r, pci.repeats);
    to_target(*ended_.target, payload, phase::repeated);
    request_at_ = properties_.clock.edge(r.requested(pci.repeats + 1) - 1);
    to_master(r.master(), payload, phase::repeated);
    request_at_.reset();
    if (const std::uint64_t decided = r.decided(pci.repeats + 1); decided < clock) decide(decided);
    arm();
}

void pci_bus::show_repetition(const repetition& r, std::uint64_t n) {
    const auto& clock = properties_.clock;
    ended_.tenure = r.tenure_of(n);
    publish(ended_.tenure, pci_extension::of(*ended_.payload));
    const auto& clocks = ended_.tenure.clocks();
    wires.request(r.master(), clock.edge(r.requested(n)));
    wires.grant(r.master(), clock.edge(r.decided(n)), clock.edge(clocks.address));
    idle_clock_ = clocks.last_data() + 1;
    wires.report(properties_, ended_.tenure, *ended_.payload);
    park(idle_clock_);
}

void pci_bus::count_repetitions(const repetition& r, std::uint64_t count) {
    retries.add(count);
    for (std::uint64_t n = 1; n <= count; ++n) {
        arbitration_wait.add(r.address(n) - r.requested(n));
        utilisation.add(properties_.clock.edge(r.address(n)), properties_.clock.edge(r.end(n)));
    }
}

/// The master saw STOP# at the edge of `clock`.
void pci_bus::release_request(unsigned master, std::uint64_t clock) {
    if (!arbiter_.requests(master)) return;
    const std::uint64_t asserted = arbiter_.requested(master);
    // Asserted later only: it was off in this clock and since the address phase.
    if (asserted > clock) return;
    const std::uint64_t again = clock + released_clocks;
    wires.release(master, properties_.clock.edge(clock), properties_.clock.edge(again));
    arbiter_.release_until(master, again);
}

void pci_bus::count(const active& a) {
    const auto& clocks = a.tenure.clocks();
    if (clocks.phases) transactions.add();
    bytes.add(clocks.bytes);
    if (!properties_.free)
        utilisation.add(properties_.clock.edge(clocks.address), properties_.clock.edge(clocks.end));
    switch (a.tenure.ending()) {
        case ending_kind::complete:
            break;
        case ending_kind::disconnected:
            disconnects.add();
            break;
        case ending_kind::retry:
            retries.add();
            break;
        case ending_kind::split:
            splits.add();
            break;
        case ending_kind::target_abort:
        case ending_kind::master_abort:
            aborts.add();
            break;
    }
}

}  // namespace vinic::bus
