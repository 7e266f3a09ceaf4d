// SPDX-License-Identifier: Apache-2.0
#include "vipl/program.h"

#include <systemc>

#include <unordered_map>

#include "hw/sim/error.h"
#include "vipl/call.h"

namespace vinic::vipl {

namespace {

// Which SystemC threads are threads of programs; looked up, never iterated.
std::unordered_map<const void*, thread*>& bound_threads() {
    static std::unordered_map<const void*, thread*> threads;
    return threads;
}

const void* this_thread() { return sc_core::sc_get_current_process_b(); }

}  // namespace

program::program(library& installed, host::user_memory& user, std::string name)
    : lib(installed), memory(user), notifications(name), name_(std::move(name)) {}

thread& program::current() {
    const auto found = bound_threads().find(this_thread());
    if (found == bound_threads().end())
        throw sim::model_error("vipl", "a VIPL function was called outside a simulated program");
    return *found->second;
}

program::scope::scope(program& of, host::process& self) : thread_{of, self}, key_(this_thread()) {
    bound_threads()[key_] = &thread_;
    of.threads_.push_back(&self);
}

program::scope::~scope() {
    bound_threads().erase(key_);
    std::erase(thread_.of.threads_, &thread_.self);
}

void program::exit(host::process& on) {
    exited_ = true;
    for (const VIP_PVOID handle : nics.all()) {
        const auto nic = nics.find(handle);
        on.trap([&] { nic->agent->close(on, nic->kernel); });
        forget(*nic);
    }
    notifications.push({.what = driver::notification::kind::closed});
}

void program::forget(const nic_object& nic) {
    for (const VIP_PVOID handle : vis.all())
        if (const auto vi = vis.find(handle); vi->nic.get() == &nic) {
            vi_on_card.erase({nic.card, vi->kernel->index});
            vis.remove(handle);
        }
    for (const VIP_PVOID handle : queues.all())
        if (const auto queue = queues.find(handle); queue->nic.get() == &nic) {
            queue_of.erase(queue->kernel.get());
            queues.remove(handle);
        }
    for (const VIP_PVOID handle : connections.all())
        if (connections.find(handle)->nic.get() == &nic) connections.remove(handle);
    for (const VIP_PVOID handle : tags.all())
        if (tags.find(handle)->nic.get() == &nic) tags.remove(handle);
    std::erase_if(regions, [&](const auto& entry) { return entry.second.owner == &nic; });
    nics.remove(nic.handle);
}

void run_program(library& installed, host::process& self, host::user_memory& memory,
                 const std::function<void()>& body) {
    // Shared with the thread that runs its handlers, which may be the last to go.
    const auto running = std::make_shared<program>(installed, memory, self.name());
    const program::scope scope(*running, self);
    body();
    running->exit(self);
}

}  // namespace vinic::vipl
