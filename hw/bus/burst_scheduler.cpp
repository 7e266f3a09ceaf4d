// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/burst_scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "hw/sim/error.h"

namespace vinic::bus {

burst_scheduler::burst_scheduler(surroundings& around, std::string name)
    : around_(around), bus_(around.bus()), limits_(around.limits()), name_(std::move(name)) {}

void burst_scheduler::start(job& what) {
    if (repeating_) around_.to_bus(repeating_->on_bus, phase::cut);
    jobs_.insert(std::ranges::upper_bound(jobs_, &what, is_older), &what);
    // At the edge that ends a tenure of its own, how that ended comes first: a split may leave no room for a read.
    // on_end() asks.
    if (active_ && active_->on_bus.pci.schedule.done_at <= sim::now()) return;
    request();
}

// --- what to do next
// -----------------------------------------------------------------------------------------

bool burst_scheduler::ready(const job& j) const {
    if (j.not_before > sim::now()) return false;
    const bool may_split = bus_.kind == bus_kind::pcix && j.what == job::kind::read;
    return !may_split || outstanding_ < limits_.max_outstanding_splits;
}

/// The first job that may go and can. At a grant only what was there before this instant counts, so that the
/// order in which the kernel wakes processes does not matter.
job* burst_scheduler::pick(bool granted) const {
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

void burst_scheduler::request() {
    if (requesting_) return;
    if (!pick(false)) {
        sleep();
        return;
    }
    requesting_ = active_ == &slots_[0] ? &slots_[1] : &slots_[0];
    around_.to_bus(requesting_->on_bus, phase::request);
}

/// Until the first job that only waits for its time.
void burst_scheduler::sleep() {
    sim::picoseconds first = sim::never;
    for (const job* j : jobs_) {
        if (j->issued < j->bytes.size() && j->not_before > sim::now()) first = std::min(first, j->not_before);
    }
    wake_.no_later_than(first);
}

std::uint64_t burst_scheduler::burst_bytes(const job& j) const {
    const std::uint64_t rest = j.bytes.size() - j.issued;
    const std::uint64_t at = j.address + j.issued;
    const bool pcix = bus_.kind == bus_kind::pcix;
    if (j.where != job::space::memory) return std::min(rest, 4 - at % 4);
    if (j.what == job::kind::completion) return std::min<std::uint64_t>(rest, max_sequence_bytes);
    std::uint64_t count = std::min(rest, limits_.burst_boundary_bytes - at % limits_.burst_boundary_bytes);
    count = std::min<std::uint64_t>(
        count, pcix && j.what == job::kind::read ? limits_.max_read_bytes : limits_.max_burst_bytes);
    if (pcix) count = std::min<std::uint64_t>(count, max_sequence_bytes);
    const bool lines = !pcix && j.what == job::kind::write && limits_.write_and_invalidate &&
                       at % bus_.cache_line_bytes == 0 && count >= bus_.cache_line_bytes;
    return lines ? count - count % bus_.cache_line_bytes : count;
}

command burst_scheduler::command_for(const job& j, std::uint64_t address, std::uint64_t count) const {
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
    const bool whole_lines = limits_.write_and_invalidate && address % line == 0 && count % line == 0;
    return whole_lines ? command::write_and_invalidate : command::memory_write;
}

// --- on the bus
// ----------------------------------------------------------------------------------------------

void burst_scheduler::on_phase(const tlm::tlm_generic_payload& payload, const tlm::tlm_phase& what) {
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
        throw sim::model_error(name_, "a phase that is not for initiators");
    }
}

void burst_scheduler::on_grant(slot& s) {
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
    pci.requester = j->what == job::kind::completion ? j->requester : around_.requester();
    pci.completer = around_.requester();
    pci.split_error = j->split_error;
    pci.tag = j->what == job::kind::completion ? j->tag : unused_tag();
    j->issued += count;
}

/// Only a write may find none, and nobody answers it.
std::uint8_t burst_scheduler::unused_tag() const {
    const auto unused = std::ranges::find(splits_, nullptr, &part::job);
    return unused == splits_.end() ? 0 : static_cast<std::uint8_t>(unused - splits_.begin());
}

void burst_scheduler::on_end(slot& s) {
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
                return around_.to_bus(s.on_bus, phase::repeat);
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
void burst_scheduler::retried(slot& s, std::uint64_t times) {
    around_.count_repeats(times);
    const std::uint64_t seen = bus_.clock.edge_at_or_before(s.on_bus.pci.schedule.done_at);
    s.part.job->not_before = bus_.clock.edge(seen + bus_.retry_delay_clocks - 1);
}

/// Its target has said how it will answer, and no other job waits for its turn.
bool burst_scheduler::only_repeats(const slot& s) const {
    if (requesting_ || bus_.free || s.on_bus.pci.answer.retry_before == 0) return false;
    return std::ranges::none_of(jobs_,
                                [&](const job* j) { return j != s.part.job && j->issued < j->bytes.size(); });
}

void burst_scheduler::moved(part& p, std::uint64_t count) {
    job& j = *p.job;
    j.moved += count;
    around_.count_moved(j, count);
    const std::uint64_t offset = p.offset + p.received;
    p.received += count;
    if (j.what == job::kind::read) j.client->on_arrival(j, offset, count);
}

void burst_scheduler::fail(job& j, job_status why) {
    if (j.status == job_status::done) j.status = why;
    j.issued = j.bytes.size();
}

/// Hands the job back when nothing of it is left to do.
void burst_scheduler::settle(job& j) {
    const bool failed = j.status != job_status::done;
    if (j.splits > 0 || (active_ && active_->part.job == &j) || !(failed || j.moved == j.bytes.size()))
        return;
    std::erase(jobs_, &j);
    j.client->on_done(j, j.status);
}

// --- split completions
// ---------------------------------------------------------------------------------------

burst_scheduler::part& burst_scheduler::split_of(const pci_extension& pci) {
    part& p = splits_[pci.tag % max_tags];
    if (pci.requester != around_.requester() || !p.job)
        throw sim::model_error(name_,
                               fmt::format("a split completion that nobody awaits (tag {})", pci.tag));
    return p;
}

void burst_scheduler::on_completion_schedule(const tlm::tlm_generic_payload&, const pci_extension& pci) {
    part& p = split_of(pci);
    p.job->client->on_burst(*p.job, p.offset + p.received, pci.schedule.bytes, pci.schedule);
}

void burst_scheduler::on_completion_cut(const pci_extension& pci) {
    part& p = split_of(pci);
    p.job->client->on_cut(*p.job, p.offset + p.received, pci.schedule.bytes, pci.schedule);
}

void burst_scheduler::on_completion(const pci_extension& pci, std::span<const std::uint8_t> bytes) {
    part& p = split_of(pci);
    job& j = *p.job;
    if (pci.split_error) {
        fail(j, job_status::split_error);
        p.received = p.count;
    } else if (bytes.size() > p.count - p.received) {
        throw sim::model_error(name_, "a split completion brings more than was asked");
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

burst_scheduler::slot& burst_scheduler::slot_of(const tlm::tlm_generic_payload& payload) {
    return &payload == &slots_[0].on_bus.payload ? slots_[0] : slots_[1];
}

}  // namespace vinic::bus
