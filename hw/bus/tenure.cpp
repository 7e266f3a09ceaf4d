// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/tenure.h"

#include <algorithm>

namespace vinic::bus {
namespace {

constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }
constexpr std::uint64_t align_up(std::uint64_t a, std::uint64_t b) { return divide_up(a, b) * b; }

/// PCI-X: a disconnection is announced this many data phases ahead of its boundary.
constexpr std::uint64_t adb_notice_phases = 4;
/// The last clock after the address phase in which somebody may assert DEVSEL#: subtractive decode.
constexpr std::uint64_t pci_decode_window = 4;
constexpr std::uint64_t pcix_decode_window = 6;

/// PCI: from one data phase to the next. PCI-X: from FRAME# to a retry.
constexpr std::uint64_t later_limit_clocks = 8;
constexpr std::uint64_t pcix_retry_limit_clocks = 8;

}  // namespace

const char* fault_of(const tenure_terms& terms, std::uint64_t initial_limit_clocks) {
    const target_answer& answer = terms.answer;
    const bool pcix = terms.kind == bus_kind::pcix;
    if (answer.kind == answer_kind::split && !pcix) return "PCI has no split response";
    if (answer.kind == answer_kind::split && !terms.read) return "only a read can be split";
    if (answer.wait_clocks >= (pcix ? 1 : later_limit_clocks))
        return "too many wait states between data phases";
    const std::uint64_t limit = pcix && answer.kind == answer_kind::retry
                                    ? std::min(pcix_retry_limit_clocks, initial_limit_clocks)
                                    : initial_limit_clocks;
    const bool late = tenure(terms, 0).clocks().first_data + 1 > limit;
    return late ? "too late with its first data or STOP#" : nullptr;
}

tenure::tenure(const tenure_terms& terms, std::uint64_t address_clock) : terms_(terms) {
    clocks_.address = address_clock;
    clocks_.width_bytes = terms.width_bytes;
    place_first();
    if (!terms_.claimed || terms_.answer.kind != answer_kind::accept) {
        end_without_data();
        return;
    }
    const std::uint64_t phases = std::min({all_phases(), phases_by_limit(), phases_by_boundary()});
    stopped_ = phases < all_phases();
    end_after(phases);
}

tenure tenure::later(std::uint64_t clocks) const {
    tenure t = *this;
    t.clocks_.address += clocks;
    t.clocks_.response += clocks;
    t.clocks_.first_data += clocks;
    t.clocks_.end += clocks;
    t.leaves_ += clocks;
    return t;
}

ending_kind tenure::ending() const {
    if (!terms_.claimed) return ending_kind::master_abort;
    switch (terms_.answer.kind) {
        case answer_kind::retry:
            return ending_kind::retry;
        case answer_kind::split:
            return ending_kind::split;
        case answer_kind::abort:
            return ending_kind::target_abort;
        case answer_kind::accept:
            break;
    }
    return clocks_.bytes < terms_.length ? ending_kind::disconnected : ending_kind::complete;
}

void tenure::place_first() {
    const target_answer& answer = terms_.answer;
    if (terms_.kind == bus_kind::pcix) {
        clocks_.response = last_address() + 1 + terms_.decode_clocks;
        const std::uint64_t pairs =
            terms_.read ? answer.initial_wait_clocks : align_up(answer.initial_wait_clocks, 2);
        clocks_.first_data = clocks_.response + 1 + pairs;
        clocks_.stride = 1;
        return;
    }
    clocks_.response = last_address() + terms_.decode_clocks;
    clocks_.stride = 1 + std::max(answer.wait_clocks, terms_.initiator_wait_clocks);
    std::uint64_t ready = clocks_.response;
    if (answer.kind == answer_kind::abort) {
        ++ready;  // DEVSEL# is seen for a clock before it is taken away
    } else if (answer.kind == answer_kind::accept && terms_.read) {
        ready = std::max(ready, last_address() + 2);  // AD turns around
    }
    clocks_.first_data =
        std::max(ready + answer.initial_wait_clocks, last_address() + 1 + terms_.initiator_wait_clocks);
}

void tenure::end_without_data() {
    clocks_.phases = 0;
    clocks_.bytes = 0;
    // PCI: FRAME# of a burst falls only in the clock after STOP# (or after nobody answered) was seen.
    const std::uint64_t burst = terms_.kind == bus_kind::pci && all_phases() > 1 ? 1 : 0;
    if (!terms_.claimed) {
        const std::uint64_t window = terms_.kind == bus_kind::pci ? pci_decode_window : pcix_decode_window;
        clocks_.response = clocks_.first_data = last_address() + window;
    } else {
        stopped_ = terms_.answer.kind != answer_kind::split;
    }
    clocks_.end = clocks_.first_data + 2 + burst;
}

void tenure::end_after(std::uint64_t phases) {
    clocks_.phases = phases;
    clocks_.bytes = std::min(terms_.length, phases * terms_.width_bytes - offset());
    // PCI: an initiator that is stopped in mid-burst takes one more clock to raise FRAME# while IRDY# stays.
    const std::uint64_t surprise = terms_.kind == bus_kind::pci && stopped_ ? 1 : 0;
    clocks_.end = clocks_.last_data() + 2 + surprise;
}

std::uint64_t tenure::target_ready(std::uint64_t n) const {
    if (n > 0) return data_clock(n - 1) + 1 + terms_.answer.wait_clocks;
    if (terms_.kind == bus_kind::pcix) return clocks_.first_data;
    const std::uint64_t ready =
        terms_.read ? std::max(clocks_.response, last_address() + 2) : clocks_.response;
    return ready + terms_.answer.initial_wait_clocks;
}

std::uint64_t tenure::initiator_ready(std::uint64_t n) const {
    if (terms_.kind == bus_kind::pcix) return last_address() + 2;
    return (n > 0 ? data_clock(n - 1) : last_address()) + 1 + terms_.initiator_wait_clocks;
}

std::uint64_t tenure::last_frame() const {
    if (terms_.kind == bus_kind::pcix) {
        // FRAME# rises one clock before the last data phase, at the earliest with IRDY# after the attributes.
        return std::max(last_address() + 1, clocks_.last_data() - 1);
    }
    if (last_irdy() > clocks_.last_data()) return last_irdy() - 1;  // surprised by the target
    // FRAME# rises when IRDY# falls for the last data phase, or later if only then the initiator knew that it
    // is.
    const std::uint64_t last_phase = initiator_ready(clocks_.phases ? clocks_.phases - 1 : 0);
    return std::max(last_phase, leaves_) - 1;
}

bool tenure::cut_by_initiator(std::uint64_t clock) {
    if (clocks_.phases == 0) return false;
    std::uint64_t phases;
    if (terms_.kind == bus_kind::pcix) {
        const std::uint64_t gone = clock > clocks_.first_data ? clock - clocks_.first_data : 0;
        phases = phases_to_adb(gone + adb_notice_phases);
    } else {
        const std::uint64_t late = clock > clocks_.first_data ? clock - clocks_.first_data : 0;
        phases = divide_up(late, clocks_.stride) + 1;
        if (terms_.whole_lines) {
            const std::uint64_t next = terms_.address - offset() + phases * terms_.width_bytes;
            phases = phases_to(align_up(next, terms_.cache_line_bytes));
        }
    }
    if (phases >= clocks_.phases) return false;
    stopped_ = false;
    leaves_ = clock;
    end_after(phases);
    return true;
}

bool tenure::cut_by_target(std::uint64_t clock) {
    if (clocks_.phases == 0) return false;
    const std::uint64_t late = clock > clocks_.first_data ? clock - clocks_.first_data : 0;
    const std::uint64_t phases = terms_.kind == bus_kind::pcix ? phases_to_adb(late + adb_notice_phases)
                                                               : divide_up(late, clocks_.stride) + 1;
    if (phases >= clocks_.phases) return false;
    stopped_ = true;
    end_after(phases);
    return true;
}

std::uint64_t tenure::all_phases() const { return divide_up(offset() + terms_.length, terms_.width_bytes); }

std::uint64_t tenure::phases_to(std::uint64_t boundary) const {
    return (boundary - (terms_.address - offset())) / terms_.width_bytes;
}

/// The first ADB that lies at least so many data phases after the start.
std::uint64_t tenure::phases_to_adb(std::uint64_t at_least) const {
    return phases_to(align_up(terms_.address - offset() + at_least * terms_.width_bytes, adb_bytes));
}

std::uint64_t tenure::phases_by_limit() const {
    if (terms_.answer.limit_bytes == 0) return all_phases();
    const std::uint64_t most = (offset() + terms_.answer.limit_bytes) / terms_.width_bytes;
    if (most >= all_phases()) return all_phases();
    if (terms_.kind == bus_kind::pci) return std::max<std::uint64_t>(most, 1);
    const std::uint64_t end = terms_.address - offset() + most * terms_.width_bytes;
    const std::uint64_t adb = end / adb_bytes * adb_bytes;
    if (adb < terms_.address + adb_notice_phases * terms_.width_bytes - offset()) return 1;
    return phases_to(adb);
}

std::uint64_t tenure::phases_by_boundary() const {
    std::uint64_t boundary = terms_.answer.boundary_bytes;
    if (boundary == 0) return all_phases();
    const bool pcix = terms_.kind == bus_kind::pcix;
    boundary = std::max<std::uint64_t>(boundary, pcix ? adb_bytes : terms_.width_bytes);
    const std::uint64_t phases = phases_to(align_up(terms_.address + 1, boundary));
    if (pcix && phases < adb_notice_phases) return phases + adb_bytes / terms_.width_bytes;
    return phases;
}

}  // namespace vinic::bus
