// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "firmware/abi/myvia_card.h"
#include "host_driver/card_image.h"
#include "host_driver/card_window.h"
#include "host_driver/kernel_mutex.h"
#include "host_driver/myvia/queues.h"
#include "host_driver/myvia/send_queue.h"
#include "host_driver/vi_card_driver.h"
#include "hw/host/cpu.h"
#include "hw/sim/parameter.h"

namespace vinic::driver {

/// What the card's EEPROM says, and who cabled the cluster.
struct card_facts {
    std::uint64_t sram_bytes = 0;
    sim::picoseconds byte_time = 0;  ///< on the slowest cable
    /// Told to the model of the card: where the table of translations stands, and how long it is.
    std::function<void(host::physical_address, std::uint64_t)> table_stands{};
};

/// The driver's lower half for cards with the MyVIA firmware: firmware/abi/myvia_card.h.
class myvia_driver : public vi_card_driver {
public:
    sim::parameter<std::uint64_t> credit_poll_clocks;
    sim::parameter<std::uint64_t> swap_clocks;
    sim::parameter<std::string> transfer_mode;
    sim::parameter<std::uint64_t> automatic_push_bytes;
    sim::parameter<std::uint64_t> automatic_copy_bytes;
    sim::parameter<std::uint64_t> copy_place_bytes;
    sim::parameter<std::uint64_t> copy_places;
    sim::parameter<std::uint64_t> transfer_check_clocks;
    sim::parameter<std::uint64_t> boot_poll_us;
    sim::parameter<std::uint64_t> boot_limit_us;

    myvia_driver(const sc_core::sc_module_name& name, host::cpu& cpu, std::unique_ptr<card_window> window,
                 card_image image, const card_facts& facts);
    ~myvia_driver() override;

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

private:
    using interface_block = abi::myvia::card_interface_block;

    void load_image(host::process& on);
    void fill_interface(host::process& on);
    void wait_until_ready(host::process& on);
    void set_dma_chains(host::process& on);
    void set_doorbell_fifo(host::process& on);
    void read_limits(host::process& on);
    std::shared_ptr<myvia_doorbells> make_doorbells(std::uint32_t process);
    std::optional<myvia_tokens> tokens_of(std::uint32_t vi, bool receive) const;
    std::shared_ptr<myvia_work_queue> make_queue(const vi_setup& of, bool receive);
    /// Length of a work queue.
    std::uint32_t slots() const;
    std::uint64_t retransmit_ticks() const;
    std::uint32_t isr() const;
    std::uint32_t interrupt_mask() const;

    // transfer.cpp
    bool transfers() const { return transfer_mode.get() != "zero_copy"; }
    void read_transfer_limits(host::process& on);
    transfer_rules rules() const;
    std::shared_ptr<myvia_work_queue> make_send_queue(host::process& on, const vi_setup& setup);
    std::shared_ptr<myvia_copy_buffer> make_copy_buffer(host::process& on, const vi_setup& setup);
    status register_copies(host::process& on, const vi_setup& setup, myvia_copy_buffer& buffer);
    std::uint32_t copy_region(std::uint32_t vi) const;
    void end_transfers(host::process& on, std::uint32_t vi);

    status command(host::process& on, abi::myvia::command_op op, std::span<const std::uint32_t> arguments);
    status vi_command(host::process& on, abi::myvia::command_op op, const vi_setup& setup,
                      host::physical_address send_ring, host::physical_address receive_ring);
    void interrupt(host::context& on);
    bool take_event(host::context& on);
    void dispatch(std::span<const std::byte> entry);

    std::uint32_t interface_word(std::size_t offset) const {
        return image_.interface_address + static_cast<std::uint32_t>(offset);
    }

    struct rings {
        host::physical_address send = 0;
        host::physical_address receive = 0;
    };

    host::cpu& cpu_;
    std::unique_ptr<card_window> window_;
    card_image image_;
    card_facts facts_;
    card_events* sink_ = nullptr;
    card_limits limits_;
    std::uint32_t doorbell_pages_ = 0;
    std::optional<contiguous_memory> event_ring_;
    std::optional<contiguous_memory> page_table_;
    std::uint32_t events_taken_ = 0;
    kernel_mutex command_lock_;
    std::uint32_t command_number_ = 0;
    std::map<std::uint32_t, std::shared_ptr<myvia_doorbells>> processes_;
    // Of transfer modes other than zero_copy.
    std::uint32_t push_areas_ = 0;
    std::map<std::uint32_t, std::shared_ptr<myvia_push_area>> pushes_;        ///< by process
    std::map<std::uint32_t, std::shared_ptr<myvia_send_queue>> send_queues_;  ///< by VI
    std::shared_ptr<region_table> regions_ = std::make_shared<region_table>();
    std::map<std::uint32_t, rings> vis_;
    std::map<std::uint32_t, std::uint32_t> queue_owners_;  ///< processes, by completion queue
};

}  // namespace vinic::driver
