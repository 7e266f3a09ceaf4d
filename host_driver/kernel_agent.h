// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host_driver/card_driver.h"
#include "host_driver/connection_manager.h"
#include "host_driver/fabric_directory.h"
#include "host_driver/handle_table.h"
#include "host_driver/objects.h"
#include "host_driver/page_allocator.h"
#include "host_driver/status.h"
#include "host_driver/types.h"
#include "hw/host/cpu.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::driver {

/// The kernel agent of one card: everything that VIPL needs the operating system for. All calls that take a
/// process are system calls: made by that process in kernel mode (`process::trap`).
class kernel_agent : public sim::module, private card_events {
public:
    sim::parameter<std::uint64_t> opens_max;
    sim::parameter<std::uint64_t> tags_max;
    sim::parameter<std::uint64_t> region_mbytes_max;
    sim::parameter<std::uint64_t> queue_slack_entries;
    sim::parameter<std::uint64_t> open_clocks;
    sim::parameter<std::uint64_t> tag_clocks;
    sim::parameter<std::uint64_t> register_clocks;
    sim::parameter<std::uint64_t> register_page_clocks;
    sim::parameter<std::uint64_t> deregister_clocks;
    sim::parameter<std::uint64_t> deregister_page_clocks;
    sim::parameter<std::uint64_t> vi_clocks;
    sim::parameter<std::uint64_t> queue_clocks;
    sim::parameter<std::uint64_t> query_clocks;
    sim::parameter<std::uint64_t> wait_clocks;
    sim::parameter<std::uint64_t> connect_clocks;
    sim::parameter<std::uint64_t> control_packet_clocks;
    sim::parameter<std::uint64_t> connect_retry_us;
    sim::parameter<std::uint64_t> connect_retry_max_us;
    sim::parameter<std::uint64_t> accept_limit_us;
    sim::parameter<std::uint64_t> disconnect_tries;
    sim::parameter<std::uint64_t> watched_vis;
    sim::parameter<std::uint64_t> watched_queues;

    sim::counter<sim::unit::events> registrations;
    sim::counter<sim::unit::events> connections;
    sim::counter<sim::unit::packets> control_packets_sent;
    sim::counter<sim::unit::packets> control_packets_received;
    sim::counter<sim::unit::events> asynchronous_errors;

    /// `rail`: the card's number within its node. `card` and `fabric` must live as long. A kernel thread
    /// starts the card when the simulation starts.
    kernel_agent(const sc_core::sc_module_name& name, host::cpu& cpu, card_driver& card,
                 const fabric_directory& fabric, const node_address& address, unsigned rail);
    ~kernel_agent() override;

    const node_address& address() const { return address_; }
    unsigned rail() const { return rail_; }
    const fabric_directory& fabric() const { return fabric_; }
    /// Complete once somebody has opened the card.
    const card_limits& limits() const { return card_.limits(); }

    // --- NIC. Waits until the card is ready.
    status open(host::process& on, host::user_memory& space, notification_port& port, bool null_tag_allowed,
                std::shared_ptr<instance>& nic);
    /// Everything that belongs to it goes: connections are ended, peers told.
    void close(host::process& on, const std::shared_ptr<instance>& nic);

    // --- Protection tags and memory.
    status create_tag(host::process& on, const std::shared_ptr<instance>& nic, protection_tag& made);
    status destroy_tag(host::process& on, const std::shared_ptr<instance>& nic, protection_tag which);
    status register_memory(host::process& on, const std::shared_ptr<instance>& nic,
                           host::virtual_address address, std::uint64_t length,
                           const memory_attributes& attributes, std::uint32_t& handle);
    status deregister_memory(host::process& on, const std::shared_ptr<instance>& nic,
                             host::virtual_address address, std::uint32_t handle);
    status set_memory(host::process& on, const std::shared_ptr<instance>& nic, host::virtual_address address,
                      std::uint32_t handle, const memory_attributes& attributes);
    status query_memory(host::process& on, const std::shared_ptr<instance>& nic,
                        host::virtual_address address, std::uint32_t handle, memory_attributes& attributes);

    // --- VIs.
    status create_vi(host::process& on, const std::shared_ptr<instance>& nic, const vi_attributes& attributes,
                     std::shared_ptr<queue> send_queue, std::shared_ptr<queue> receive_queue,
                     std::shared_ptr<vi>& made);
    /// The caller has made sure that the queues are empty.
    status destroy_vi(host::process& on, const std::shared_ptr<vi>& which);
    status set_vi(host::process& on, const std::shared_ptr<vi>& which, const vi_attributes& attributes);
    void query_vi(host::process& on, const vi& which, vi_state& state, vi_attributes& attributes);
    /// A program's call found what the card cannot know of (a bad descriptor, too many of them): error state
    /// and asynchronous error.
    void fail_vi(host::process& on, const std::shared_ptr<vi>& which, error_code code,
                 host::virtual_address descriptor);

    // --- Completion queues.
    status create_queue(host::process& on, const std::shared_ptr<instance>& nic, std::uint64_t entries,
                        std::shared_ptr<queue>& made);
    status destroy_queue(host::process& on, const std::shared_ptr<queue>& which);
    /// The queue's ring is a new one afterwards; the caller drains the old one first.
    status resize_queue(host::process& on, const std::shared_ptr<queue>& which, std::uint64_t entries);

    // --- Completions. The queue has been armed; false when the deadline came first.
    bool wait_work(host::process& on, const std::shared_ptr<vi>& which, bool receive,
                   sim::picoseconds deadline);
    bool wait_queue_entry(host::process& on, const std::shared_ptr<queue>& which, sim::picoseconds deadline);
    /// One notification when the armed queue has a completion.
    void notify_work(host::process& on, const std::shared_ptr<vi>& which, bool receive);
    void notify_queue(host::process& on, const std::shared_ptr<queue>& which);

    connection_manager connecting;

private:
    friend class connection_manager;

    void run(host::process& on);
    void work(host::process& on);
    void do_later(std::function<void(host::process&)> work);

    status check(const instance& nic, const vi_attributes& attributes) const;
    status check(const instance& nic, const memory_attributes& attributes) const;
    std::shared_ptr<tag> tag_of(const instance& nic, protection_tag which) const;
    protection_tag use_tag(const instance& nic, protection_tag which);
    void release_tag(const instance& nic, protection_tag which);
    std::shared_ptr<region> region_of(const instance& nic, host::virtual_address address,
                                      std::uint32_t handle) const;
    void free_region(host::process& on, std::uint32_t handle);
    void free_vi(host::process& on, const std::shared_ptr<vi>& which);
    void free_queue(host::process& on, const std::shared_ptr<queue>& which);
    vi_setup setup_of(const vi& which) const;
    region_setup region_setup_of(std::uint32_t id, const region& which) const;

    /// The VI's connection is broken from this side or below: error state; the peer is told.
    void break_vi(host::process& on, const std::shared_ptr<vi>& which, bool on_card);
    void raise(const std::shared_ptr<vi>& which, error_code code, host::virtual_address descriptor);
    void wake(const vi& which);

    // card_events
    void on_completion(std::uint32_t vi_index, bool receive) override;
    void on_queue_completion(std::uint32_t queue_index) override;
    void on_error(std::uint32_t vi_index, error_code code, host::virtual_address descriptor) override;
    void on_vi_error(std::uint32_t vi_index) override;
    void on_transport_lost(std::uint32_t vi_index) override;
    void on_control_packet(std::span<const std::byte> payload) override;

    host::cpu& cpu_;
    card_driver& card_;
    const fabric_directory& fabric_;
    node_address address_;
    unsigned rail_;

    bool ready_ = false;
    host::wait_queue started_;
    host::wait_queue work_arrived_;
    std::deque<std::function<void(host::process&)>> later_;

    std::uint32_t opens_ = 0;
    handle_table<card_process> processes_;
    handle_table<tag> tags_;
    handle_table<region> regions_;
    handle_table<vi> vis_;
    handle_table<queue> queues_;
    page_allocator pages_;
    std::vector<std::unique_ptr<vi_watch>> vi_watches_;        // by number
    std::vector<std::unique_ptr<queue_watch>> queue_watches_;  // likewise
};

}  // namespace vinic::driver
