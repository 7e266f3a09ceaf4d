// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "host_driver/status.h"
#include "host_driver/types.h"
#include "host_driver/work_queue.h"
#include "hw/host/context.h"
#include "hw/host/process.h"

namespace vinic::driver {

/// What a card tells the kernel agent. Called in interrupt context; takes no time and does not block.
class card_events {
public:
    virtual ~card_events() = default;
    /// An armed work queue has a completion.
    virtual void on_completion(std::uint32_t vi, bool receive) = 0;
    virtual void on_queue_completion(std::uint32_t queue) = 0;
    /// `descriptor`: of the program, zero where none is concerned.
    virtual void on_error(std::uint32_t vi, error_code code, host::virtual_address descriptor) = 0;
    /// The card put the VI into the error state; what happened stands in its descriptors.
    virtual void on_vi_error(std::uint32_t vi) = 0;
    virtual void on_transport_lost(std::uint32_t vi) = 0;
    virtual void on_control_packet(std::span<const std::byte> payload) = 0;
};

struct vi_setup {
    std::uint32_t vi = 0;
    std::uint32_t process = 0;
    vi_attributes attributes;
    std::optional<std::uint32_t> send_queue;  ///< completion queues
    std::optional<std::uint32_t> receive_queue;
};

struct vi_queues {
    std::shared_ptr<work_queue> send;
    std::shared_ptr<work_queue> receive;
};

/// How packets get to a card: a source route of one byte a switch (none back to back), or not out of the card
/// at all; a network that routes by itself needs only the address.
struct route {
    std::vector<std::uint8_t> bytes;
    bool loopback = false;
    node_address to{};
};

struct connection_setup {
    std::uint32_t vi = 0;
    std::uint32_t remote_vi = 0;
    std::uint32_t key = 0;
    route path;
    std::uint64_t peer_max_transfer_bytes = 0;
};

struct region_setup {
    std::uint32_t region = 0;
    std::uint32_t handle = 0;
    host::virtual_address address = 0;
    std::uint64_t length = 0;
    std::uint32_t first_page = 0;
    memory_attributes attributes;
};

/// What differs from design to design: how the card is started and commanded, and how its rings, tables and
/// doorbells look. Indices are the kernel agent's; all calls come from processes in kernel mode.
class card_driver {
public:
    virtual ~card_driver() = default;

    /// Finds the card, loads its firmware, starts it and waits until it is ready. Throws input_error when
    /// card or firmware are not what they should be.
    virtual void start(host::process& on, card_events& events) = 0;
    virtual const card_limits& limits() const = 0;

    virtual status open_process(host::process& on, std::uint32_t process) = 0;
    virtual void close_process(host::process& on, std::uint32_t process) = 0;

    virtual status create_vi(host::process& on, const vi_setup& setup, vi_queues& queues) = 0;
    virtual status set_vi(host::process& on, const vi_setup& setup) = 0;
    virtual void destroy_vi(host::process& on, std::uint32_t vi) = 0;
    virtual status connect_vi(host::process& on, const connection_setup& setup) = 0;
    /// Both queues are flushed, unless `keep` lets the posted descriptors stand (a connection that did not
    /// come about).
    virtual void disconnect_vi(host::process& on, std::uint32_t vi, vi_state next, bool keep) = 0;

    /// One entry of the translation table.
    virtual void set_page(std::uint32_t page, host::physical_address frame) = 0;
    virtual status set_region(host::process& on, const region_setup& setup) = 0;
    virtual void clear_region(host::process& on, std::uint32_t region) = 0;

    virtual status create_queue(host::process& on, std::uint32_t queue, std::uint32_t process,
                                std::uint32_t entries, std::shared_ptr<completion_queue>& ring) = 0;
    /// Later entries go to `ring`, which takes the place of the one that the queue had.
    virtual status resize_queue(host::process& on, std::uint32_t queue, std::uint32_t entries,
                                std::shared_ptr<completion_queue>& ring) = 0;
    virtual void destroy_queue(host::process& on, std::uint32_t queue) = 0;

    virtual void send_control(host::process& on, const route& path, std::span<const std::byte> payload) = 0;
};

}  // namespace vinic::driver
