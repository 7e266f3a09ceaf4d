// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "firmware/abi/wire_format.h"
#include "host_driver/card_driver.h"
#include "host_driver/card_window.h"
#include "host_driver/ethernet_device.h"
#include "host_driver/mvia/queues.h"
#include "host_driver/mvia/vi.h"
#include "hw/host/cpu.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/timer.h"
#include "hw/sim/unit.h"

namespace vinic::driver {

/// M-VIA: the VI architecture in the kernel, over a plain Ethernet card. A post is a fast trap; the kernel
/// checks the descriptor, translates its segments and puts the user's own pages on the transmit ring. What
/// arrives is copied once, from the card's buffer into the posted one, by the interrupt handler. Packets are
/// those of firmware/abi/wire_format.h in Ethernet frames, whose FCS covers them.
class mvia_driver : public sim::module, public card_driver {
public:
    sim::parameter<std::uint64_t> vis_max;
    sim::parameter<std::uint64_t> regions_max;
    sim::parameter<std::uint64_t> queues_max;
    sim::parameter<std::uint64_t> queue_entries_max;
    sim::parameter<std::uint64_t> pages_max;
    sim::parameter<std::uint64_t> ring_slots;
    sim::parameter<std::uint64_t> transfer_bytes;

    sim::parameter<std::uint64_t> gate_entry_clocks;
    sim::parameter<std::uint64_t> gate_exit_clocks;
    sim::parameter<std::uint64_t> descriptor_clocks;
    sim::parameter<std::uint64_t> segment_clocks;
    sim::parameter<std::uint64_t> packet_clocks;
    sim::parameter<std::uint64_t> page_clocks;
    sim::parameter<std::uint64_t> receive_clocks;
    sim::parameter<std::uint64_t> place_clocks;
    sim::parameter<std::uint64_t> complete_clocks;
    sim::parameter<std::uint64_t> acknowledge_clocks;

    sim::parameter<std::uint64_t> window_packets;
    sim::parameter<std::uint64_t> acknowledge_packets;
    sim::parameter<std::uint64_t> acknowledge_us;
    sim::parameter<std::uint64_t> retransmit_us;
    sim::parameter<std::uint64_t> retransmit_tries;

    sim::counter<sim::unit::packets> packets_sent;
    sim::counter<sim::unit::packets> packets_received;
    sim::counter<sim::unit::packets> packets_dropped;
    sim::counter<sim::unit::packets> packets_sent_again;
    sim::counter<sim::unit::packets> acknowledgements_sent;
    sim::counter<sim::unit::events> timeouts;

    /// What the kernel does for a message, step by step: `message` is the driver's count, `number` that of
    /// the transmit or receive descriptor of its packet.
    sim::span_probe send_probe;
    sim::span_probe receive_probe;

    ethernet_device device;

    /// `address`: of the card.
    mvia_driver(const sc_core::sc_module_name& name, host::cpu& cpu, std::unique_ptr<card_window> window,
                const node_address& address);
    ~mvia_driver() override;

    void start(host::process& on, card_events& sink) override;
    const card_limits& limits() const override { return limits_; }
    status open_process(host::process& on, std::uint32_t process) override;
    void close_process(host::process& on, std::uint32_t process) override;
    status create_vi(host::process& on, const vi_setup& setup, vi_queues& queues) override;
    status set_vi(host::process& on, const vi_setup& setup) override;
    void destroy_vi(host::process& on, std::uint32_t vi) override;
    status connect_vi(host::process& on, const connection_setup& setup) override;
    void disconnect_vi(host::process& on, std::uint32_t vi, vi_state next, bool keep) override;
    void set_page(std::uint32_t page, host::physical_address frame) override;
    status set_region(host::process& on, const region_setup& setup) override;
    void clear_region(host::process& on, std::uint32_t region) override;
    status create_queue(host::process& on, std::uint32_t queue, std::uint32_t process, std::uint32_t entries,
                        std::shared_ptr<completion_queue>& ring) override;
    status resize_queue(host::process& on, std::uint32_t queue, std::uint32_t entries,
                        std::shared_ptr<completion_queue>& ring) override;
    void destroy_queue(host::process& on, std::uint32_t queue) override;
    void send_control(host::process& on, const route& path, std::span<const std::byte> payload) override;

    // --- From work queues: fast traps.
    void post(host::process& on, std::uint32_t vi, bool receive,
              std::span<const std::byte, descriptor_bytes> descriptor, host::virtual_address where,
              std::uint32_t handle);
    void arm(host::process& on, const mvia_work_queue& which, bool& armed);

private:
    using vi_ptr = std::shared_ptr<mvia_vi>;
    using send_ptr = std::shared_ptr<mvia_send>;
    using parts = std::vector<ethernet_device::part>;

    // --- Descriptors and memory (mvia_driver.cpp).
    mvia_descriptor read_descriptor(host::process& on, std::span<const std::byte, descriptor_bytes> bytes,
                                    host::virtual_address where, std::uint32_t handle,
                                    const mvia_vi& of) const;
    std::uint32_t check_send(const mvia_vi& of, const mvia_descriptor& d) const;
    const region_setup* find_region(std::uint32_t handle, protection_tag tag, host::virtual_address address,
                                    std::uint64_t bytes) const;
    void add_pages(const region_setup& where, host::virtual_address address, std::uint64_t bytes,
                   parts& to) const;
    void wait_until_left(host::process& on);

    // --- Completion (mvia_driver.cpp).
    host::physical_address complete(const mvia_vi& of, bool receive, std::uint32_t status,
                                    std::optional<std::uint32_t> length = {},
                                    std::optional<std::uint32_t> immediate = {});
    void flush(mvia_vi& of, bool sends, bool receives);
    void leave(mvia_vi& of, vi_state next, bool keep);

    // --- Sending (send.cpp).
    void pump(host::context& on, const vi_ptr& of);
    bool send_next(host::context& on, const vi_ptr& of);
    bool fail_send(host::context& on, const vi_ptr& of, const send_ptr& what);
    bool send_packet(host::context& on, const vi_ptr& of, const send_ptr& what);
    bool gather(const mvia_vi& of, const mvia_send& what, std::uint32_t offset, std::uint32_t bytes,
                parts& into) const;
    std::vector<std::byte> headers_of(const mvia_vi& of, const mvia_send& what, std::uint32_t offset,
                                      std::uint32_t bytes) const;
    std::vector<std::byte> header_of(const mvia_vi& of, std::uint8_t kind, std::uint8_t flags,
                                     std::uint32_t length, std::uint32_t sequence, std::uint32_t offset,
                                     std::uint32_t immediate) const;
    std::optional<std::uint32_t> put(host::context& on, const route& path, std::span<const std::byte> linear,
                                     const parts& pages, ethernet_device::sent_handler sent);
    void frame_left(host::context& on, const vi_ptr& of, const send_ptr& what);
    bool can_finish(const mvia_vi& of) const;
    void finish_sends(host::context& on, const vi_ptr& of);
    void go_back(mvia_vi& of);
    void acknowledged(host::context& on, const vi_ptr& of, std::uint32_t sequence);
    void not_acknowledged(host::context& on, const vi_ptr& of, std::uint32_t sequence, std::uint32_t status);
    void break_connection(mvia_vi& of, std::uint32_t status);
    void room(host::context& on);
    void plan();
    void expired(host::context& on);
    void retransmit(host::context& on, const vi_ptr& of);

    // --- Receiving (receive.cpp).
    void receive(host::context& on, const ethernet_device::frame& frame);
    void receive_data(host::context& on, const vi_ptr& of, const abi::packet_header& header,
                      std::span<const std::byte> body, std::uint32_t number);
    bool accept_sequence(host::context& on, const vi_ptr& of, std::uint32_t sequence);
    std::uint32_t find_place(const mvia_vi& of, const abi::packet_header& header,
                             std::span<const std::byte>& body, parts& into) const;
    void message_failed(mvia_vi& of, const abi::packet_header& header, std::uint32_t status);
    void message_lost(mvia_vi& of);
    void complete_receive(mvia_vi& of, const abi::packet_header& last, std::uint32_t status,
                          std::uint32_t number);
    void refuse(mvia_vi& of, std::uint32_t status);
    void owe(host::context& on, const vi_ptr& of);
    bool acknowledge(host::context& on, const vi_ptr& of);

    host::cpu& cpu_;
    card_events* sink_ = nullptr;
    card_limits limits_;
    std::uint64_t messages_ = 0;
    std::uint32_t last_frame_ = 0;  ///< number of the last descriptor that names pages of users
    bool any_frame_ = false;
    host::wait_queue left_;
    std::map<std::uint32_t, vi_ptr> vis_;
    std::map<std::uint32_t, region_setup> regions_;
    std::vector<host::physical_address> pages_;
    std::map<std::uint32_t, std::shared_ptr<mvia_completion_queue>> queues_;
    sim::timer timer_;
    bool timer_posted_ = false;
};

}  // namespace vinic::driver
