// SPDX-License-Identifier: Apache-2.0
#include "host_driver/kernel_agent.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "firmware/abi/connection_packet.h"
#include "firmware/abi/vi_descriptor.h"
#include "hw/sim/time.h"

namespace vinic::driver {

namespace {

sim::parameter_spec<std::uint64_t> cost(const char* name, std::uint64_t clocks, const char* help) {
    return {.name = name, .unit = "clocks", .value = clocks, .min = 0, .max = 10'000'000, .help = help};
}

}  // namespace

kernel_agent::kernel_agent(const sc_core::sc_module_name& name, host::cpu& cpu, card_driver& card,
                           const fabric_directory& fabric, const node_address& address, unsigned rail)
    : sim::module(name),
      opens_max(*this, {.name = "opens_max",
                        .unit = "opens",
                        .value = 256,
                        .min = 1,
                        .max = 65535,
                        .help = "opens of the card at one time by all processes"}),
      tags_max(*this, {.name = "tags_max",
                       .unit = "tags",
                       .value = 4096,
                       .min = 1,
                       .max = 65535,
                       .help = "protection tags of the card"}),
      region_mbytes_max(*this, {.name = "region_mbytes_max",
                                .unit = "mbytes",
                                .value = 128,
                                .min = 1,
                                .max = 2048,
                                .help = "longest region that can be registered"}),
      queue_slack_entries(*this,
                          {.name = "queue_slack_entries",
                           .unit = "entries",
                           .value = 1024,
                           .min = 0,
                           .max = 1'048'576,
                           .help = "entries that a completion queue has beyond those asked for",
                           .source = "facts vipl.md 7: programs ask for too few; allocate generously"}),
      open_clocks(*this, cost("open_clocks", 20'000, "opening or closing the card")),
      tag_clocks(*this, cost("tag_clocks", 500, "creating or destroying a protection tag")),
      register_clocks(*this, cost("register_clocks", 3'000, "registering memory, without its pages")),
      register_page_clocks(*this,
                           cost("register_page_clocks", 150, "pinning a page and writing its table entry")),
      deregister_clocks(*this, cost("deregister_clocks", 2'000, "deregistering memory, without its pages")),
      deregister_page_clocks(*this, cost("deregister_page_clocks", 80, "unpinning a page")),
      vi_clocks(*this, cost("vi_clocks", 8'000, "creating or destroying a VI")),
      queue_clocks(*this, cost("queue_clocks", 8'000, "creating, resizing or destroying a completion queue")),
      query_clocks(*this, cost("query_clocks", 300, "looking up the state of an object")),
      wait_clocks(*this, cost("wait_clocks", 300, "preparing to wait for a completion in the kernel")),
      connect_clocks(*this, cost("connect_clocks", 4'000, "a call that makes or ends a connection")),
      control_packet_clocks(*this, cost("control_packet_clocks", 1'500, "handling a control packet")),
      connect_retry_us(*this, {.name = "connect_retry_us",
                               .unit = "us",
                               .value = 1000,
                               .min = 1,
                               .max = 10'000'000,
                               .help = "time after which a control packet without answer is sent again"}),
      connect_retry_max_us(*this, {.name = "connect_retry_max_us",
                                   .unit = "us",
                                   .value = 100'000,
                                   .min = 1,
                                   .max = 10'000'000,
                                   .help = "longest such time: it doubles with each repetition"}),
      accept_limit_us(*this, {.name = "accept_limit_us",
                              .unit = "us",
                              .value = 2'000'000,
                              .min = 1,
                              .max = 1'000'000'000,
                              .help = "a client that has not confirmed by then is gone"}),
      disconnect_tries(*this, {.name = "disconnect_tries",
                               .value = 16,
                               .min = 0,
                               .max = 1'000'000,
                               .help = "repetitions of an unanswered disconnection"}),
      watched_vis(*this, {.name = "watched_vis",
                          .unit = "vis",
                          .value = 16,
                          .min = 0,
                          .max = 65535,
                          .help = "VIs, from number 0, whose state and queues waveforms and logs show"}),
      watched_queues(*this, {.name = "watched_queues",
                             .unit = "queues",
                             .value = 16,
                             .min = 0,
                             .max = 65535,
                             .help = "completion queues, from number 0, whose depth they show"}),
      registrations(*this, "registrations", "memory regions registered"),
      connections(*this, "connections", "VIs connected"),
      control_packets_sent(*this, "control_packets_sent", "control packets sent"),
      control_packets_received(*this, "control_packets_received", "control packets received"),
      asynchronous_errors(*this, "asynchronous_errors", "asynchronous errors reported to programs"),
      connecting(*this),
      cpu_(cpu),
      card_(card),
      fabric_(fabric),
      address_(address),
      rail_(rail),
      started_("the start of " + std::string(this->name())),
      work_arrived_("work for " + std::string(this->name())) {
    for (unsigned i = 0; i < watched_vis; ++i) vi_watches_.push_back(std::make_unique<vi_watch>(*this, i));
    for (unsigned i = 0; i < watched_queues; ++i)
        queue_watches_.push_back(std::make_unique<queue_watch>(*this, i, cpu_.ram()));
    cpu_.spawn(this->name(), nullptr, [this](host::process& on) { on.trap([&] { run(on); }); });
}

kernel_agent::~kernel_agent() = default;

// --- The agent's own thread -----------------------------------------------------------------------------

void kernel_agent::run(host::process& on) {
    card_.start(on, *this);
    const card_limits& limits = card_.limits();
    processes_.set_limit(limits.processes);
    tags_.set_limit(static_cast<std::uint32_t>(tags_max.get()));
    regions_.set_limit(limits.regions);
    vis_.set_limit(limits.vis);
    queues_.set_limit(limits.completion_queues);
    pages_.reset(limits.pages);
    ready_ = true;
    started_.wake_all();
    for (;;) {
        if (later_.empty() && connecting.next_time() > sim::now())
            on.block(work_arrived_, connecting.next_time());
        work(on);
    }
}

void kernel_agent::work(host::process& on) {
    while (!later_.empty()) {
        const auto first = std::move(later_.front());
        later_.pop_front();
        first(on);
    }
    connecting.on_time(on);
}

void kernel_agent::do_later(std::function<void(host::process&)> work) {
    later_.push_back(std::move(work));
    work_arrived_.wake_one();
}

// --- NIC ------------------------------------------------------------------------------------------------

status kernel_agent::open(host::process& on, host::user_memory& space, notification_port& port,
                          bool null_tag_allowed, std::shared_ptr<instance>& nic) {
    while (!ready_) on.block(started_);
    on.compute(open_clocks);
    if (opens_ >= opens_max) return status::error_resource;
    std::shared_ptr<card_process> process;
    for (const std::uint32_t id : processes_.ids())
        if (auto known = processes_.find(id); known->space == &space) process = known;
    if (!process) {
        if (processes_.full()) return status::error_resource;
        process = std::make_shared<card_process>();
        const std::uint32_t id = processes_.insert(process);
        *process = {
            .id = id, .index = handle_table<card_process>::index_of(id), .space = &space, .port = &port};
        if (const status s = card_.open_process(on, process->index); s != status::success) {
            processes_.erase(id);
            return s;
        }
    }
    ++process->opens;
    ++opens_;
    nic = std::make_shared<instance>();
    nic->agent = this;
    nic->process = process;
    if (null_tag_allowed) {
        if (create_tag(on, nic, nic->default_tag) != status::success) {
            close(on, nic);
            return status::error_resource;
        }
        nic->null_tag_allowed = true;
    }
    return status::success;
}

void kernel_agent::close(host::process& on, const std::shared_ptr<instance>& nic) {
    if (!nic->open) return;
    nic->open = false;
    on.compute(open_clocks);
    connecting.forget(on, nic);
    for (const std::uint32_t id : vis_.ids())
        if (const auto v = vis_.find(id); v && v->owner == nic) {
            connecting.disconnect(on, v);
            free_vi(on, v);
        }
    for (const std::uint32_t id : queues_.ids())
        if (const auto q = queues_.find(id); q && q->owner == nic) free_queue(on, q);
    for (const std::uint32_t id : regions_.ids())
        if (const auto r = regions_.find(id); r && r->owner == nic) free_region(on, id);
    for (const std::uint32_t id : tags_.ids())
        if (const auto t = tags_.find(id); t && t->owner == nic) tags_.erase(id);
    --opens_;
    if (--nic->process->opens > 0) return;
    card_.close_process(on, nic->process->index);
    processes_.erase(nic->process->id);
}

// --- VIs ------------------------------------------------------------------------------------------------

status kernel_agent::check(const instance& nic, const vi_attributes& a) const {
    const card_limits& limits = card_.limits();
    if (!std::has_single_bit(a.reliability) || (a.reliability & limits.reliability_mask) == 0)
        return status::invalid_reliability_level;
    if (a.max_transfer_bytes == 0 || a.max_transfer_bytes > limits.transfer_bytes) return status::invalid_mtu;
    if (a.quality_of_service != 0) return status::invalid_qos;
    if (!tag_of(nic, a.tag)) return status::invalid_ptag;
    if (a.rdma_read && (a.reliability & limits.rdma_read_mask) == 0) return status::invalid_rdmaread;
    return status::success;
}

vi_setup kernel_agent::setup_of(const vi& which) const {
    vi_setup setup{.vi = which.index, .process = which.owner->process->index, .attributes = which.attributes};
    setup.attributes.tag = tag_of(*which.owner, which.attributes.tag)->on_card;
    if (which.send_queue) setup.send_queue = which.send_queue->index;
    if (which.receive_queue) setup.receive_queue = which.receive_queue->index;
    return setup;
}

status kernel_agent::create_vi(host::process& on, const std::shared_ptr<instance>& nic,
                               const vi_attributes& attributes, std::shared_ptr<queue> send_queue,
                               std::shared_ptr<queue> receive_queue, std::shared_ptr<vi>& made) {
    on.compute(vi_clocks);
    for (const auto& q : {send_queue, receive_queue})
        if (q && (!q->alive || q->owner->process != nic->process)) return status::invalid_parameter;
    if (const status s = check(*nic, attributes); s != status::success) return s;
    if (vis_.full()) return status::error_resource;
    const auto fresh = std::make_shared<vi>("a VI of " + std::string(this->name()));
    fresh->owner = nic;
    fresh->id = vis_.insert(fresh);
    fresh->index = handle_table<vi>::index_of(fresh->id);
    fresh->attributes = attributes;
    fresh->send_queue = std::move(send_queue);
    fresh->receive_queue = std::move(receive_queue);
    if (const status s = card_.create_vi(on, setup_of(*fresh), fresh->queues); s != status::success) {
        vis_.erase(fresh->id);
        return s;
    }
    if (fresh->index < vi_watches_.size()) fresh->watch = vi_watches_[fresh->index].get();
    fresh->enter(vi_state::idle);
    fresh->queue_changed(false);
    fresh->queue_changed(true);
    use_tag(*nic, attributes.tag);
    for (const auto& q : {fresh->send_queue, fresh->receive_queue})
        if (q) ++q->uses;
    made = fresh;
    return status::success;
}

status kernel_agent::destroy_vi(host::process& on, const std::shared_ptr<vi>& which) {
    on.compute(vi_clocks);
    if (!which->alive) return status::invalid_parameter;
    if (which->state != vi_state::idle) return status::invalid_state;
    free_vi(on, which);
    return status::success;
}

void kernel_agent::free_vi(host::process& on, const std::shared_ptr<vi>& which) {
    which->alive = false;
    card_.destroy_vi(on, which->index);
    for (const auto& q : {which->send_queue, which->receive_queue}) {
        if (!q) continue;
        const std::uint32_t before = q->watch ? q->ring->pending() : 0;
        q->ring->forget(which->index);
        if (q->watch) q->watch->leave(before - q->ring->pending());
        --q->uses;
    }
    if (which->watch) which->watch->goes();
    release_tag(*which->owner, which->attributes.tag);
    vis_.erase(which->id);
    wake(*which);
}

status kernel_agent::set_vi(host::process& on, const std::shared_ptr<vi>& which,
                            const vi_attributes& attributes) {
    on.compute(vi_clocks);
    if (!which->alive) return status::invalid_parameter;
    if (which->state != vi_state::idle) return status::invalid_state;
    if (const status s = check(*which->owner, attributes); s != status::success) return s;
    const vi_attributes before = std::exchange(which->attributes, attributes);
    if (const status s = card_.set_vi(on, setup_of(*which)); s != status::success) {
        which->attributes = before;
        return s;
    }
    use_tag(*which->owner, attributes.tag);
    release_tag(*which->owner, before.tag);
    return status::success;
}

void kernel_agent::query_vi(host::process& on, const vi& which, vi_state& state, vi_attributes& attributes) {
    on.compute(query_clocks);
    state = which.state;
    attributes = which.attributes;
}

// --- Completion queues ----------------------------------------------------------------------------------

status kernel_agent::create_queue(host::process& on, const std::shared_ptr<instance>& nic,
                                  std::uint64_t entries, std::shared_ptr<queue>& made) {
    on.compute(queue_clocks);
    if (entries == 0) return status::invalid_parameter;
    if (entries > card_.limits().completion_entries || queues_.full()) return status::error_resource;
    const auto fresh =
        std::make_shared<queue>("an entry of a completion queue of " + std::string(this->name()));
    fresh->owner = nic;
    fresh->id = queues_.insert(fresh);
    fresh->index = handle_table<queue>::index_of(fresh->id);
    const auto room = static_cast<std::uint32_t>(entries + queue_slack_entries);
    if (const status s = card_.create_queue(on, fresh->index, nic->process->index, room, fresh->ring);
        s != status::success) {
        queues_.erase(fresh->id);
        return s;
    }
    if (fresh->index < queue_watches_.size()) {
        fresh->watch = queue_watches_[fresh->index].get();
        fresh->watch->follow(fresh->ring);
    }
    made = fresh;
    return status::success;
}

status kernel_agent::destroy_queue(host::process& on, const std::shared_ptr<queue>& which) {
    on.compute(queue_clocks);
    if (!which->alive) return status::invalid_parameter;
    if (which->uses > 0) return status::error_resource;
    free_queue(on, which);
    return status::success;
}

void kernel_agent::free_queue(host::process& on, const std::shared_ptr<queue>& which) {
    which->alive = false;
    card_.destroy_queue(on, which->index);
    if (which->watch) which->watch->goes();
    queues_.erase(which->id);
    which->completed.wake_all();
}

status kernel_agent::resize_queue(host::process& on, const std::shared_ptr<queue>& which,
                                  std::uint64_t entries) {
    on.compute(queue_clocks);
    if (!which->alive || entries == 0) return status::invalid_parameter;
    if (entries > card_.limits().completion_entries || entries < which->ring->pending())
        return status::error_resource;
    const auto room = static_cast<std::uint32_t>(entries + queue_slack_entries);
    const status result = card_.resize_queue(on, which->index, room, which->ring);
    if (which->watch) which->watch->follow(which->ring);
    which->completed.wake_all();  // whoever armed the old ring looks at the new one
    return result;
}

// --- Completions ----------------------------------------------------------------------------------------

bool kernel_agent::wait_work(host::process& on, const std::shared_ptr<vi>& which, bool receive,
                             sim::picoseconds deadline) {
    on.compute(wait_clocks);
    if (!which->alive || which->work(receive)->head_done()) return true;
    return on.block(which->completed(receive), deadline);
}

bool kernel_agent::wait_queue_entry(host::process& on, const std::shared_ptr<queue>& which,
                                    sim::picoseconds deadline) {
    on.compute(wait_clocks);
    if (!which->alive || which->ring->head_valid()) return true;
    return on.block(which->completed, deadline);
}

void kernel_agent::notify_work(host::process& on, const std::shared_ptr<vi>& which, bool receive) {
    on.compute(wait_clocks);
    if (which->alive && which->work(receive)->head_done()) {
        which->owner->process->port->push(
            {.what = notification::kind::work_queue, .nic = which->owner, .on = which, .receive = receive});
        return;
    }
    (receive ? which->notify_receive : which->notify_send) = true;
}

void kernel_agent::notify_queue(host::process& on, const std::shared_ptr<queue>& which) {
    on.compute(wait_clocks);
    if (which->alive && which->ring->head_valid()) {
        which->owner->process->port->push(
            {.what = notification::kind::completion_queue, .nic = which->owner, .cq = which});
        return;
    }
    which->notify = true;
}

void kernel_agent::wake(const vi& which) {
    // A wait queue is woken, not changed: whoever waits looks again.
    const_cast<vi&>(which).send_completed.wake_all();
    const_cast<vi&>(which).receive_completed.wake_all();
}

// --- Errors ---------------------------------------------------------------------------------------------

void kernel_agent::raise(const std::shared_ptr<vi>& which, error_code code,
                         host::virtual_address descriptor) {
    asynchronous_errors.add();
    which->owner->process->port->push({.what = notification::kind::error,
                                       .nic = which->owner,
                                       .on = which,
                                       .code = code,
                                       .descriptor = descriptor});
}

void kernel_agent::break_vi(host::process& on, const std::shared_ptr<vi>& which, bool on_card) {
    if (which->state != vi_state::connected) return;
    which->enter(vi_state::error);
    if (on_card) card_.disconnect_vi(on, which->index, vi_state::error, false);
    connecting.tell_peer(on, *which);
    wake(*which);
}

void kernel_agent::fail_vi(host::process& on, const std::shared_ptr<vi>& which, error_code code,
                           host::virtual_address descriptor) {
    on.compute(query_clocks);
    if (!which->alive) return;
    raise(which, code, descriptor);
    break_vi(on, which, true);
}

// --- What the card tells ---------------------------------------------------------------------------------

void kernel_agent::on_completion(std::uint32_t vi_index, bool receive) {
    const std::shared_ptr<vi> which = vis_.at_index(vi_index);
    if (!which) return;
    which->completed(receive).wake_all();
    bool& notify = receive ? which->notify_receive : which->notify_send;
    if (!std::exchange(notify, false)) return;
    which->owner->process->port->push(
        {.what = notification::kind::work_queue, .nic = which->owner, .on = which, .receive = receive});
}

void kernel_agent::on_queue_completion(std::uint32_t queue_index) {
    const std::shared_ptr<queue> which = queues_.at_index(queue_index);
    if (!which) return;
    which->completed.wake_all();
    if (!std::exchange(which->notify, false)) return;
    which->owner->process->port->push(
        {.what = notification::kind::completion_queue, .nic = which->owner, .cq = which});
}

// Facts vipl.md 6.2: an unreliable VI stays connected where the error is confined to one message.
void kernel_agent::on_error(std::uint32_t vi_index, error_code code, host::virtual_address descriptor) {
    do_later([this, vi_index, code, descriptor](host::process& on) {
        const std::shared_ptr<vi> which = vis_.at_index(vi_index);
        if (!which) return;
        raise(which, code, descriptor);
        const bool confined = code == error_code::receive_queue_empty ||
                              code == error_code::rdma_write_protection ||
                              code == error_code::rdma_write_data || code == error_code::rdma_write_abort;
        if (which->attributes.reliability != abi::vi_unreliable || !confined) break_vi(on, which, false);
    });
}

void kernel_agent::on_vi_error(std::uint32_t vi_index) {
    do_later([this, vi_index](host::process& on) {
        if (const auto which = vis_.at_index(vi_index)) break_vi(on, which, false);
    });
}

void kernel_agent::on_transport_lost(std::uint32_t vi_index) {
    do_later([this, vi_index](host::process& on) {
        const std::shared_ptr<vi> which = vis_.at_index(vi_index);
        if (!which || which->state != vi_state::connected) return;
        raise(which, error_code::connection_lost, 0);
        break_vi(on, which, false);
    });
}

void kernel_agent::on_control_packet(std::span<const std::byte> payload) {
    control_packets_received.add();
    if (payload.size() < sizeof(abi::connection_packet)) return;
    abi::connection_packet packet;
    std::memcpy(&packet, payload.data(), sizeof packet);
    do_later([this, packet](host::process& on) {
        on.compute(control_packet_clocks);
        connecting.on_packet(on, packet);
    });
}

}  // namespace vinic::driver
