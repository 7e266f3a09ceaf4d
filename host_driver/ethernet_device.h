// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "firmware/abi/ethernet_card.h"
#include "host_driver/card_window.h"
#include "host_driver/contiguous_memory.h"
#include "host_driver/types.h"
#include "hw/host/cpu.h"
#include "hw/sim/module.h"
#include "hw/sim/parameter.h"
#include "hw/sim/probe.h"
#include "hw/sim/statistic.h"
#include "hw/sim/unit.h"

namespace vinic::driver {

/// The network driver of a plain Ethernet card: its rings in host memory, its interrupt. Several protocols
/// may use one device, each with an EtherType of its own.
class ethernet_device : public sim::module {
public:
    sim::parameter<std::uint64_t> mtu_bytes;
    sim::parameter<std::uint64_t> transmit_entries;
    sim::parameter<std::uint64_t> receive_entries;
    sim::parameter<std::uint64_t> transmit_clocks;
    sim::parameter<std::uint64_t> part_clocks;
    sim::parameter<std::uint64_t> handler_clocks;
    sim::parameter<std::uint64_t> receive_clocks;
    sim::parameter<std::uint64_t> reap_clocks;
    sim::parameter<std::uint64_t> refill_frames;
    sim::parameter<std::uint64_t> report_frames;
    sim::parameter<std::uint64_t> coalesce_sent_frames;
    sim::parameter<std::uint64_t> coalesce_sent_us;
    sim::parameter<std::uint64_t> coalesce_received_frames;
    sim::parameter<std::uint64_t> coalesce_received_us;

    sim::counter<sim::unit::packets> frames_sent;
    sim::counter<sim::unit::packets> frames_received;
    sim::counter<sim::unit::packets> frames_unknown;
    sim::counter<sim::unit::events> interrupts;
    sim::counter<sim::unit::events> ring_full;

    /// What the driver does, step by step; `number` is that of the frame's last descriptor.
    sim::span_probe transmit_probe;
    sim::span_probe receive_probe;
    sim::span_probe handler_probe;

    /// A piece of a frame that lies where the protocol says, until the frame is sent.
    struct part {
        host::physical_address at = 0;
        std::uint32_t bytes = 0;
    };
    struct frame {
        std::uint32_t number = 0;            ///< of its receive descriptor
        std::span<const std::byte> payload;  ///< behind the header, padding included
        node_address source{};
    };
    using sent_handler = std::function<void(host::context&)>;
    using frame_handler = std::function<void(host::context&, const frame&)>;

    ethernet_device(const sc_core::sc_module_name& name, host::cpu& cpu, std::unique_ptr<card_window> window,
                    const node_address& address);
    ~ethernet_device() override;

    /// Finds the card and switches it on. Throws input_error when it is another one.
    void start(host::process& on);
    bool started() const { return started_; }
    const node_address& address() const { return address_; }

    /// Who gets the frames of that type, and hears when an interrupt has been served or the ring has room
    /// again; in interrupt context, before the simulation starts.
    void listen(std::uint16_t type, frame_handler handler) { protocols_[type] = std::move(handler); }
    void after_interrupt(std::function<void(host::context&)> what) { after_.push_back(std::move(what)); }
    void on_room(std::function<void(host::context&)> what) { on_room_.push_back(std::move(what)); }

    /// Sends a frame: header, then `linear`, which is taken over at once, then `parts` where they lie. `sent`
    /// (may be null) is called in interrupt context when the frame has left. The number of its last
    /// descriptor; none when the ring is full.
    std::optional<std::uint32_t> transmit(host::context& on, const node_address& to, std::uint16_t type,
                                          std::span<const std::byte> linear, std::span<const part> parts,
                                          sent_handler sent);

    /// Whether that frame has left, by what the driver knows.
    bool left(std::uint32_t number) const { return static_cast<std::int32_t>(reaped_ - number) > 0; }

private:
    struct sending {
        std::uint32_t last = 0;
        std::uint32_t descriptors = 0;
        bool reported = false;
        sent_handler sent;
    };

    bool room(std::size_t descriptors) const { return posted_ - reaped_ + descriptors <= transmit_entries; }
    void interrupt(host::context& on);
    void reap(host::context& on);
    void receive(host::context& on);
    bool take_frame(host::context& on);
    void refill(host::context& on);
    void write_descriptor(const contiguous_memory& ring, std::uint64_t entries, std::uint32_t number,
                          const abi::ethernet::descriptor& d) const;
    std::uint32_t status_of(const contiguous_memory& ring, std::uint64_t entries, std::uint32_t number) const;
    std::uint64_t slot_bytes() const;

    host::cpu& cpu_;
    std::unique_ptr<card_window> window_;
    node_address address_;
    bool started_ = false;
    std::optional<contiguous_memory> transmit_ring_;
    std::optional<contiguous_memory> receive_ring_;
    std::optional<contiguous_memory> linear_;   ///< a slot for each transmit descriptor
    std::optional<contiguous_memory> buffers_;  ///< one for each receive descriptor
    std::uint32_t posted_ = 0;
    std::uint32_t reaped_ = 0;
    std::uint64_t since_report_ = 0;
    std::deque<sending> sending_;
    std::uint32_t received_ = 0;  ///< frames taken
    std::uint32_t refilled_ = 0;
    std::map<std::uint16_t, frame_handler> protocols_;
    std::vector<std::function<void(host::context&)>> after_;
    std::vector<std::function<void(host::context&)>> on_room_;
};

}  // namespace vinic::driver
