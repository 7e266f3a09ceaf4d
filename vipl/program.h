// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host_driver/handle_table.h"
#include "host_driver/kernel_agent.h"
#include "host_driver/objects.h"
#include "hw/host/address_space.h"
#include "hw/host/process.h"
#include "vipl/library.h"
#include "vipl/vipl.h"

namespace vinic::vipl {

class program;

/// A thread that may call VIPL.
struct thread {
    program& of;
    host::process& self;
};

struct nic_object;

/// The registered memory that the library knows of, to check descriptors at post time.
struct registered_memory {
    host::virtual_address address = 0;
    std::uint64_t length = 0;
    VIP_PROTECTION_HANDLE tag = nullptr;    ///< as the program gave it
    driver::protection_tag kernel_tag = 0;  ///< as the card compares it
    const nic_object* owner = nullptr;
};

struct nic_object {
    VIP_NIC_HANDLE handle = nullptr;
    unsigned card = 0;
    driver::kernel_agent* agent = nullptr;
    std::shared_ptr<driver::instance> kernel;
    driver::node_address address{};
    void (*error_handler)(VIP_PVOID, VIP_ERROR_DESCRIPTOR*) = nullptr;
    VIP_PVOID error_context = nullptr;
    unsigned name_service_users = 0;
    std::vector<std::vector<std::uint8_t>> discovered;  ///< what VIP_AUTODISCOVERY_LIST points at
    std::vector<VIP_NET_ADDRESS*> discovered_list;
};

struct tag_object {
    std::shared_ptr<nic_object> nic;
    driver::protection_tag kernel = 0;
};

template <typename Handler>
struct registered_callback {
    VIP_PVOID context = nullptr;
    Handler handler = nullptr;
};

struct queue_object {
    VIP_CQ_HANDLE handle = nullptr;
    std::shared_ptr<nic_object> nic;
    std::shared_ptr<driver::queue> kernel;
    std::deque<driver::completion_queue::entry> carried;  ///< from before a resize
    std::deque<registered_callback<VIP_CQ_CALLBACK>> notify;
};

struct vi_object {
    VIP_VI_HANDLE handle = nullptr;
    std::shared_ptr<nic_object> nic;
    std::shared_ptr<driver::vi> kernel;
    VIP_PROTECTION_HANDLE tag = nullptr;
    std::shared_ptr<queue_object> send_queue;
    std::shared_ptr<queue_object> receive_queue;
    std::deque<registered_callback<VIP_VI_CALLBACK>> notify_send;
    std::deque<registered_callback<VIP_VI_CALLBACK>> notify_receive;

    const std::shared_ptr<queue_object>& queue(bool receive) const {
        return receive ? receive_queue : send_queue;
    }
    auto& notify(bool receive) { return receive ? notify_receive : notify_send; }
};

struct connection_object {
    std::shared_ptr<nic_object> nic;
    std::shared_ptr<driver::incoming_connection> kernel;
};

/// Objects of one kind by the handles that programs see: numbers, never addresses.
template <typename Object, unsigned Kind>
class handles {
public:
    VIP_PVOID add(std::shared_ptr<Object> object) {
        if (table_.full()) return nullptr;
        return reinterpret_cast<VIP_PVOID>(kind | std::uintptr_t{table_.insert(std::move(object))});
    }
    std::shared_ptr<Object> find(VIP_PVOID handle) const {
        const auto value = reinterpret_cast<std::uintptr_t>(handle);
        return (value & ~std::uintptr_t{mask}) == kind ? table_.find(static_cast<std::uint32_t>(value & mask))
                                                       : nullptr;
    }
    void remove(VIP_PVOID handle) {
        if (find(handle))
            table_.erase(static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(handle) & mask));
    }
    std::vector<VIP_PVOID> all() const {
        std::vector<VIP_PVOID> list;
        for (const std::uint32_t id : table_.ids())
            list.push_back(reinterpret_cast<VIP_PVOID>(kind | std::uintptr_t{id}));
        return list;
    }

private:
    static constexpr std::uintptr_t kind = std::uintptr_t{Kind} << 28;
    static constexpr std::uint32_t mask = (1u << 28) - 1;
    driver::handle_table<Object> table_{0xFFFF};
};

/// A program that uses VIPL: one simulated process with its threads, and everything that it has opened.
class program : public std::enable_shared_from_this<program> {
public:
    program(library& installed, host::user_memory& memory, std::string name);
    program(const program&) = delete;
    program& operator=(const program&) = delete;

    /// The end of the process: closes what it left open, as the kernel would.
    void exit(host::process& on);

    /// The thread that is running; throws model_error when it is none of a program's.
    static thread& current();
    /// While it lives, the calling SystemC thread is a thread of the program.
    class scope {
    public:
        scope(program& of, host::process& self);
        ~scope();
        scope(const scope&) = delete;
        scope& operator=(const scope&) = delete;

    private:
        thread thread_;
        const void* key_;
    };

    library& lib;
    host::user_memory& memory;

    handles<nic_object, 1> nics;
    handles<tag_object, 2> tags;
    handles<queue_object, 3> queues;
    handles<vi_object, 4> vis;
    handles<connection_object, 5> connections;

    /// By card.
    std::map<std::pair<unsigned, VIP_MEM_HANDLE>, registered_memory> regions;
    std::map<std::pair<unsigned, std::uint32_t>, VIP_VI_HANDLE> vi_on_card;
    std::map<const driver::queue*, VIP_CQ_HANDLE> queue_of;  // looked up, never iterated

    driver::notification_port notifications;
    /// The thread that runs the program's handlers starts with the first NIC.
    void start_callbacks();
    /// Objects of an open NIC go with it.
    void forget(const nic_object& nic);

private:
    void run_callbacks(host::process& on);

    std::string name_;
    bool callbacks_started_ = false;
    bool exited_ = false;
    std::vector<host::process*> threads_;
};

/// Runs `body` as a program: its thread may call VIPL, and what it leaves open is closed when it returns.
void run_program(library& installed, host::process& self, host::user_memory& memory,
                 const std::function<void()>& body);

}  // namespace vinic::vipl
