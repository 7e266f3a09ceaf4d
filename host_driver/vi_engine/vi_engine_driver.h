// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "firmware/abi/vi_engine_card.h"
#include "host_driver/card_image.h"
#include "host_driver/card_window.h"
#include "host_driver/kernel_mutex.h"
#include "host_driver/vi_card_driver.h"
#include "host_driver/vi_engine/queues.h"
#include "hw/host/cpu.h"
#include "hw/sim/time.h"

namespace vinic::driver {

/// The driver's lower half for cards with a VI engine in hardware: firmware/abi/vi_engine_card.h.
class vi_engine_driver : public vi_card_driver {
public:
    /// `window_bytes`: a whole window of packets on the wire; `byte_time`: on the slowest cable.
    /// `firmware`: for the card's embedded core; null: it has none.
    vi_engine_driver(const sc_core::sc_module_name& name, host::cpu& cpu, std::unique_ptr<card_window> window,
                     std::uint64_t window_bytes, sim::picoseconds byte_time, const card_image* firmware);
    ~vi_engine_driver() override;

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
    void check_identity(host::process& on);
    void start_core(host::process& on, const card_image& image);
    void give_tables(host::process& on);
    void read_limits(host::process& on);
    void store(host::context& on, std::uint32_t reg, std::uint64_t value);
    status command(host::process& on, abi::vi_engine::command_op op,
                   std::span<const std::uint32_t> arguments);
    template <typename Arguments>
    status command_with(host::process& on, abi::vi_engine::command_op op, const Arguments& arguments);
    abi::vi_engine::create_vi_arguments arguments_of(const vi_setup& setup) const;
    void write_pages(host::process& on);
    void interrupt(host::context& on);
    bool take_event(host::context& on);
    void dispatch(std::span<const std::byte> entry);

    host::cpu& cpu_;
    std::unique_ptr<card_window> window_;
    std::uint64_t window_bytes_;
    sim::picoseconds byte_time_;
    std::optional<card_image> firmware_;
    card_events* sink_ = nullptr;
    card_limits limits_;
    std::optional<contiguous_memory> event_ring_;
    std::optional<contiguous_memory> page_table_;  ///< none: the card has its own
    std::map<std::uint32_t, host::physical_address> new_pages_;
    std::uint32_t events_taken_ = 0;
    kernel_mutex command_lock_;
    std::uint32_t commands_given_ = 0;
};

}  // namespace vinic::driver
