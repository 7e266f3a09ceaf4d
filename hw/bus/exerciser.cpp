// SPDX-License-Identifier: Apache-2.0
#include "hw/bus/exerciser.h"

#include <span>

#include "hw/sim/error.h"

namespace vinic::bus {

exerciser::exerciser(const sc_core::sc_module_name& name, const bus_properties& bus, requester_id id)
    : sim::module(name), master("master", bus, id), target("target", bus, *this, &master), id_(id) {}

void exerciser::attach(pci_bus& to) {
    to.attach(master);
    to.attach(target, {.id = id_});
}

void exerciser::start(const chain& of, std::function<void(const outcome&)> done) {
    if (left_ != 0) throw sim::model_error(name(), "a chain is under way");
    if (of.addresses.empty()) throw sim::model_error(name(), "a chain without blocks");
    done_ = std::move(done);
    outcome_ = {.begun = sim::now()};
    left_ = of.addresses.size();
    bytes_.assign(left_ * of.block_bytes, 0);
    blocks_.assign(left_, job{.what = of.what, .client = this});
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        blocks_[i].address = of.addresses[i];
        blocks_[i].bytes = std::span(bytes_).subspan(i * of.block_bytes, of.block_bytes);
        master.start(blocks_[i]);
    }
}

/// Nobody has a reason to address it: no range of the bus is its own.
target_answer exerciser::on_address(const tlm::tlm_generic_payload&, const pci_extension&) {
    return {.kind = answer_kind::abort};
}

void exerciser::on_burst(job& block, std::uint64_t offset, std::uint64_t, const tenure_schedule& when) {
    if (&block == &blocks_.front() && offset == 0) outcome_.first_word = when.first_data_at;
}

void exerciser::on_done(job& block, job_status status) {
    outcome_.aborted = outcome_.aborted || status != job_status::done;
    if (--left_ != 0) return;
    outcome_.ended = sim::now();
    chain_probe.report(outcome_.begun, outcome_.ended, block.what == job::kind::read ? "read" : "write",
                       {{"blocks", blocks_.size()}, {"bytes", bytes_.size()}});
    done_(outcome_);
}

}  // namespace vinic::bus
