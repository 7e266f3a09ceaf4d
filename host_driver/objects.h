// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "host_driver/card_driver.h"
#include "host_driver/types.h"
#include "host_driver/watched_objects.h"
#include "host_driver/work_queue.h"
#include "hw/host/address_space.h"
#include "hw/host/process.h"

namespace vinic::driver {

class kernel_agent;
struct vi;
struct queue;
struct instance;

/// Something that the kernel tells a program without having been asked.
struct notification {
    enum class kind { error, work_queue, completion_queue, closed };

    kind what = kind::error;
    std::shared_ptr<instance> nic;
    std::shared_ptr<vi> on;     ///< null where no VI is concerned
    std::shared_ptr<queue> cq;  ///< likewise
    bool receive = false;       ///< work_queue
    error_code code = error_code::catastrophic;
    host::virtual_address descriptor = 0;
};

/// Where a program's notifications gather until its callback thread takes them.
class notification_port {
public:
    explicit notification_port(const std::string& program) : arrived_("notifications of " + program) {}

    void push(notification what) {
        waiting_.push_back(std::move(what));
        arrived_.wake_one();
    }
    /// In kernel mode; blocks until there is one.
    notification next(host::process& on) {
        while (waiting_.empty()) on.block(arrived_);
        notification first = std::move(waiting_.front());
        waiting_.pop_front();
        return first;
    }

private:
    host::wait_queue arrived_;
    std::deque<notification> waiting_;
};

/// A process as one card knows it: all opens of a card by one process share its page of doorbells.
struct card_process {
    std::uint32_t id = 0;
    std::uint32_t index = 0;
    host::user_memory* space = nullptr;
    notification_port* port = nullptr;
    std::uint32_t opens = 0;
};

/// One open of a NIC: what belongs to it goes when it is closed.
struct instance {
    kernel_agent* agent = nullptr;
    std::shared_ptr<card_process> process;
    /// Programs of some providers pass no protection tag (facts vipl.md 8): all tags of this open are then
    /// one to the card, and a null tag is that one too.
    bool null_tag_allowed = false;
    protection_tag default_tag = 0;
    bool open = true;
};

struct tag {
    std::shared_ptr<instance> owner;
    protection_tag on_card = 0;
    std::uint32_t uses = 0;  ///< by VIs and regions
};

struct region {
    std::shared_ptr<instance> owner;
    host::virtual_address address = 0;
    std::uint64_t length = 0;
    memory_attributes attributes;
    std::uint32_t first_page = 0;
    std::vector<host::physical_address> frames;
};

struct queue {
    explicit queue(std::string what) : completed(std::move(what)) {}

    std::shared_ptr<instance> owner;
    std::uint32_t id = 0;
    std::uint32_t index = 0;
    std::shared_ptr<completion_queue> ring;
    std::uint32_t uses = 0;  ///< by queues of VIs
    bool notify = false;
    bool alive = true;
    queue_watch* watch = nullptr;  ///< null: nobody can
    host::wait_queue completed;
};

/// The connection that a VI has, or had last.
struct connection {
    node_address peer{};
    std::uint32_t peer_vi = 0;
    std::uint32_t key = 0;
    std::uint32_t attempt = 0;
};

struct vi {
    explicit vi(const std::string& what)
        : send_completed("a completion on the send queue of " + what),
          receive_completed("a completion on the receive queue of " + what) {}

    void enter(vi_state next) {
        state = next;
        if (watch) watch->enters(next);
    }
    /// Descriptors have been posted or taken back.
    void queue_changed(bool receive) {
        if (watch) watch->holds(receive, work(receive)->outstanding());
    }
    host::wait_queue& completed(bool receive) { return receive ? receive_completed : send_completed; }
    const std::shared_ptr<work_queue>& work(bool receive) const {
        return receive ? queues.receive : queues.send;
    }

    std::shared_ptr<instance> owner;
    std::uint32_t id = 0;
    std::uint32_t index = 0;
    vi_attributes attributes;
    vi_state state = vi_state::idle;
    bool alive = true;
    vi_watch* watch = nullptr;  ///< null: nobody can
    vi_queues queues;
    std::shared_ptr<queue> send_queue;
    std::shared_ptr<queue> receive_queue;
    bool notify_send = false;
    bool notify_receive = false;
    host::wait_queue send_completed;
    host::wait_queue receive_completed;
    connection link;
};

}  // namespace vinic::driver
