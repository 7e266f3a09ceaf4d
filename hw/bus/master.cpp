// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/master.h"

#include <algorithm>

#include "hw/sim/error.h"

namespace vinic::bus {

master::master(const sc_core::sc_module_name& name, const bus_properties& bus, requester_id id)
    : sim::module(name),
      socket("socket"),
      max_burst_bytes(*this, {.name = "max_burst_bytes",
                              .unit = "bytes",
                              .value = 4096,
                              .min = 4,
                              .max = 1 << 20,
                              .help = "most bytes of one write, and of one read on PCI",
                              .source = "facts/lanai_pcix.md C1: a driver setting, 256 is usual"}),
      burst_boundary_bytes(*this, {.name = "burst_boundary_bytes",
                                   .unit = "bytes",
                                   .value = 4096,
                                   .choices = {32, 64, 128, 256, 512, 1024, 2048, 4096},
                                   .help = "no burst crosses a multiple of this address",
                                   .source = "facts/lanai_pcix.md C1"}),
      max_read_bytes(*this, {.name = "max_read_bytes",
                             .unit = "bytes",
                             .value = 512,
                             .choices = {512, 1024, 2048, 4096},
                             .help = "PCI-X: maximum memory read byte count (MMRBC)",
                             .source = "facts/lanai_pcix.md C2"}),
      max_outstanding_splits(*this, {.name = "max_outstanding_splits",
                                     .value = 1,
                                     .choices = {1, 2, 3, 4, 8, 12, 16, 32},
                                     .help = "PCI-X: reads whose completions may be awaited at a time",
                                     .source = "facts/lanai_pcix.md C2"}),
      write_and_invalidate(*this, {.name = "write_and_invalidate",
                                   .value = false,
                                   .help = "PCI: write whole cache lines with memory write and invalidate"}),
      bus_(bus),
      id_(id) {
    socket.bind(static_cast<tlm::tlm_bw_transport_if<protocol>&>(*this));
    // Or a store into a register would become two.
    if (max_burst_bytes % 4 != 0)
        throw sim::input_error("{}: max_burst_bytes {} is no multiple of 4", this->name(),
                               max_burst_bytes.get());
}

void master::start(job& what) {
    if (what.bytes.empty()) throw sim::model_error(name(), "a job without bytes");
    what.issued = what.moved = 0;
    what.splits = 0;
    what.started = sim::now();
    what.not_before = 0;
    what.status = job_status::done;
    if (repeating_) call(*repeating_, phase::cut);
    jobs_.push_back(&what);
    request();
}

// --- what to do next
// -----------------------------------------------------------------------------------------

bool master::ready(const job& j) const {
    if (j.not_before > sim::now()) return false;
    const bool may_split = bus_.kind == bus_kind::pcix && j.what == job::kind::read;
    return !may_split || outstanding_ < max_outstanding_splits;
}

/// The first job that may go and can. At a grant only what was there before this instant counts, so that the
/// order in which the kernel wakes processes does not matter.
job* master::pick(bool granted) const {
    bool completion_waits = false;
    for (job* j : jobs_) {
        if (j->issued == j->bytes.size()) continue;
        const bool here = !granted || bus_.free || j->started < sim::now();
        const bool in_order = j->what != job::kind::completion || !completion_waits;
        if (here && in_order && ready(*j)) return j;
        // Nothing passes a write that waits.
        if (j->what == job::kind::write) return nullptr;
        completion_waits |= j->what == job::kind::completion;
    }
    return nullptr;
}

void master::request() {
    if (requesting_) return;
    if (!pick(false)) {
        sleep();
        return;
    }
    requesting_ = active_ == &slots_[0] ? &slots_[1] : &slots_[0];
    call(*requesting_, phase::request);
}

void master::call(slot& s, tlm::tlm_phase what) {
    sc_core::sc_time unused;
    socket->nb_transport_fw(s.on_bus.payload, what, unused);
}

/// Until the first job that only waits for its time.
void master::sleep() {
    sim::picoseconds first = sim::never;
    for (const job* j : jobs_) {
        if (j->issued < j->bytes.size() && j->not_before > sim::now()) first = std::min(first, j->not_before);
    }
    wake_.no_later_than(first);
}

std::uint64_t master::burst_bytes(const job& j) const {
    const std::uint64_t rest = j.bytes.size() - j.issued;
    const std::uint64_t at = j.address + j.issued;
    const bool pcix = bus_.kind == bus_kind::pcix;
    if (j.where != job::space::memory) return std::min(rest, 4 - at % 4);
    if (j.what == job::kind::completion) return std::min<std::uint64_t>(rest, max_sequence_bytes);
    std::uint64_t count = std::min(rest, burst_boundary_bytes - at % burst_boundary_bytes);
    count =
        std::min<std::uint64_t>(count, pcix && j.what == job::kind::read ? max_read_bytes : max_burst_bytes);
    if (pcix) count = std::min<std::uint64_t>(count, max_sequence_bytes);
    const bool lines = !pcix && j.what == job::kind::write && write_and_invalidate &&
                       at % bus_.cache_line_bytes == 0 && count >= bus_.cache_line_bytes;
    return lines ? count - count % bus_.cache_line_bytes : count;
}

command master::command_for(const job& j, std::uint64_t address, std::uint64_t count) const {
    const bool read = j.what == job::kind::read;
    if (j.what == job::kind::completion) return command::split_completion;
    if (j.where == job::space::io) return read ? command::io_read : command::io_write;
    if (j.where == job::space::configuration) return read ? command::config_read : command::config_write;
    const std::uint64_t line = bus_.cache_line_bytes;
    if (bus_.kind == bus_kind::pcix) {
        if (read) return address % 4 + count <= 4 ? command::memory_read : command::memory_read_block;
        return address % bus_.width_bytes + count <= bus_.width_bytes ? command::memory_write
                                                                      : command::memory_write_block;
    }
    if (read) {
        if (address % bus_.width_bytes + count <= bus_.width_bytes) return command::memory_read;
        return address % line + count <= line ? command::read_line : command::read_multiple;
    }
    const bool whole_lines = write_and_invalidate && address % line == 0 && count % line == 0;
    return whole_lines ? command::write_and_invalidate : command::memory_write;
}

// --- on the bus
// ----------------------------------------------------------------------------------------------

tlm::tlm_sync_enum master::nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& what,
                                           sc_core::sc_time&) {
    slot& s = slot_of(payload);
    const tenure_schedule& schedule = s.on_bus.pci.schedule;
    if (what == phase::grant) {
        on_grant(s);
    } else if (what == phase::data || what == phase::cut) {
        part& p = s.part;
        if (schedule.phases) {
            p.job->issued = p.offset + schedule.bytes;
            if (what == phase::data)
                p.job->client->on_burst(*p.job, p.offset, schedule.bytes, schedule);
            else
                p.job->client->on_cut(*p.job, p.offset, schedule.bytes, schedule);
        }
        request();
    } else if (what == phase::transfer) {
        s.part.job->client->on_supply(*s.part.job, s.part.offset, schedule.bytes);
    } else if (what == phase::end_of_tenure) {
        on_end(s);
    } else if (what == phase::repeated) {
        repeating_ = nullptr;
        retried(s, s.on_bus.pci.repeats);
        request();
    } else {
        throw sim::model_error(name(), "a phase that is not for initiators");
    }
    return tlm::TLM_ACCEPTED;
}

void master::on_grant(slot& s) {
    requesting_ = nullptr;
    job* j = pick(true);
    if (!j) {
        request();
        return;
    }
    active_ = &s;
    const std::uint64_t count = burst_bytes(*j);
    s.part = {.job = j, .offset = j->issued, .count = count};
    auto& payload = s.on_bus.payload;
    auto& pci = s.on_bus.pci;
    payload.set_address(j->address + j->issued);
    payload.set_data_ptr(j->bytes.data() + j->issued);
    payload.set_data_length(static_cast<unsigned>(count));
    payload.set_command(j->what == job::kind::read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
    pci.command = command_for(*j, payload.get_address(), count);
    pci.relaxed_ordering = j->relaxed_ordering;
    pci.no_snoop = j->no_snoop;
    pci.requester = j->what == job::kind::completion ? j->requester : id_;
    pci.completer = id_;
    pci.split_error = j->split_error;
    const auto unused = std::ranges::find(splits_, nullptr, &part::job);
    pci.tag = j->what == job::kind::completion ? j->tag : static_cast<std::uint8_t>(unused - splits_.begin());
    j->issued += count;
}

void master::on_end(slot& s) {
    const part p = s.part;
    job& j = *p.job;
    active_ = nullptr;
    switch (s.on_bus.pci.ending) {
        case ending_kind::complete:
        case ending_kind::disconnected:
            j.issued = p.offset + s.on_bus.pci.schedule.bytes;
            moved(s.part, s.on_bus.pci.schedule.bytes);
            break;
        case ending_kind::retry:
            j.issued = p.offset;
            retried(s, 1);
            if (only_repeats(s)) {
                repeating_ = &s;
                j.not_before = sim::never;
                return call(s, phase::repeat);
            }
            break;
        case ending_kind::split:
            splits_[s.on_bus.pci.tag] = p;
            ++j.splits;
            ++outstanding_;
            break;
        case ending_kind::target_abort:
            fail(j, job_status::target_abort);
            break;
        case ending_kind::master_abort:
            fail(j, job_status::master_abort);
            break;
    }
    settle(j);
    request();
}

/// REQ# rises `retry_delay_clocks` after the edge at which the last STOP# was seen.
void master::retried(slot& s, std::uint64_t times) {
    repeats.add(times);
    const std::uint64_t seen = bus_.clock.edge_at_or_before(s.on_bus.pci.schedule.done_at);
    s.part.job->not_before = bus_.clock.edge(seen + bus_.retry_delay_clocks - 1);
}

/// Its target has said how it will answer, and no other job waits for its turn.
bool master::only_repeats(const slot& s) const {
    if (requesting_ || bus_.free || s.on_bus.pci.answer.retry_before == 0) return false;
    return std::ranges::none_of(jobs_,
                                [&](const job* j) { return j != s.part.job && j->issued < j->bytes.size(); });
}

void master::moved(part& p, std::uint64_t count) {
    job& j = *p.job;
    j.moved += count;
    const bool read = j.what == job::kind::read;
    (read ? bytes_read : bytes_written).add(count);
    const std::uint64_t offset = p.offset + p.received;
    p.received += count;
    if (read) j.client->on_arrival(j, offset, count);
}

void master::fail(job& j, job_status why) {
    if (j.status == job_status::done) j.status = why;
    j.issued = j.bytes.size();
}

/// Hands the job back when nothing of it is left to do.
void master::settle(job& j) {
    const bool failed = j.status != job_status::done;
    if (j.splits > 0 || (active_ && active_->part.job == &j) || !(failed || j.moved == j.bytes.size()))
        return;
    jobs_.remove(&j);
    j.client->on_done(j, j.status);
}

// --- split completions
// ---------------------------------------------------------------------------------------

master::part& master::split_of(const pci_extension& pci) {
    part& p = splits_[pci.tag % max_tags];
    if (pci.requester != id_ || !p.job)
        throw sim::model_error(name(),
                               fmt::format("a split completion that nobody awaits (tag {})", pci.tag));
    return p;
}

void master::on_completion_schedule(const pci_extension& pci) {
    part& p = split_of(pci);
    p.job->client->on_burst(*p.job, p.offset + p.received, pci.schedule.bytes, pci.schedule);
}

void master::on_completion_cut(const pci_extension& pci) {
    part& p = split_of(pci);
    p.job->client->on_cut(*p.job, p.offset + p.received, pci.schedule.bytes, pci.schedule);
}

void master::on_completion(const pci_extension& pci, std::span<const std::uint8_t> bytes) {
    part& p = split_of(pci);
    job& j = *p.job;
    if (pci.split_error) {
        fail(j, job_status::split_error);
        p.received = p.count;
    } else if (bytes.size() > p.count - p.received) {
        throw sim::model_error(name(), "a split completion brings more than was asked");
    } else {
        std::ranges::copy(bytes, j.bytes.begin() + static_cast<std::ptrdiff_t>(p.offset + p.received));
        moved(p, bytes.size());
    }
    if (p.received == p.count) {
        p.job = nullptr;
        --j.splits;
        --outstanding_;
    }
    settle(j);
    request();
}

// --- tools
// ---------------------------------------------------------------------------------------------------

std::size_t master::debug_read(std::uint64_t address, std::span<std::uint8_t> bytes) {
    tlm::tlm_generic_payload payload;
    payload.set_read();
    payload.set_address(address);
    payload.set_data_ptr(bytes.data());
    payload.set_data_length(static_cast<unsigned>(bytes.size()));
    return socket->transport_dbg(payload);
}

std::size_t master::debug_write(std::uint64_t address, std::span<const std::uint8_t> bytes) {
    std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
    tlm::tlm_generic_payload payload;
    payload.set_write();
    payload.set_address(address);
    payload.set_data_ptr(copy.data());
    payload.set_data_length(static_cast<unsigned>(copy.size()));
    return socket->transport_dbg(payload);
}

master::slot& master::slot_of(const tlm::tlm_generic_payload& payload) {
    return &payload == &slots_[0].on_bus.payload ? slots_[0] : slots_[1];
}

}  // namespace vinic::bus
