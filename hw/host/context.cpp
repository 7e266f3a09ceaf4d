// SPDX-License-Identifier: Apache-2.0
#include "hw/host/context.h"

#include <utility>

#include "hw/host/cpu.h"
#include "hw/host/memory.h"

namespace vinic::host {

context::context(cpu& processor, std::string name, unsigned number)
    : cpu_(processor), name_(std::move(name)), number_(number) {}

memory& context::ram() { return cpu_.ram(); }

void context::compute(clocks n) {
    acted();
    work(cpu_.cost(n));
}

void context::copy(std::uint64_t bytes) {
    acted();
    cpu_.copies.add();
    cpu_.bytes_copied.add(bytes);
    work(cpu_.cost(cpu_.copy_clocks(bytes)));
}

void context::barrier() { compute(cpu_.barrier_clocks); }

sim::picoseconds context::now() {
    acted();
    return sim::now();
}

sim::picoseconds context::processor_time() {
    cpu_.settle();
    return busy_;
}

void context::work(clocks n) {
    cpu_.decide();
    if (n == 0) return;
    left_ += n;
    if (state_ == state::running) cpu_.start(*this);
    wait_until_done();
}

void context::wait_until_done() {
    sc_core::wait(resume_);
    cpu_.decide();
    if (state_ == state::running) cpu_.account(*this, cpu_.edge_now());
    ram().commit();
    goes_on();
}

std::uint64_t context::end() const { return since_ + overhead_ + left_from(since_ + overhead_); }

clocks context::left_from(std::uint64_t) const { return left_; }

void context::advance(clocks n) { left_ -= n; }

void context::begin_stall() {
    acted();
    cpu_.decide();
    while (state_ != state::running) wait_until_done();
    cpu_.stalled(*this);
}

void context::end_stall() {
    const std::uint64_t edge = cpu_.clock().edge_at_or_after(sim::now());
    if (cpu_.clock().edge(edge) > sim::now()) sc_core::wait(sim::delay_until(cpu_.clock().edge(edge)));
    cpu_.decide();
    cpu_.stall_over(*this, edge);
    ram().commit();
    goes_on();
}

}  // namespace vinic::host
