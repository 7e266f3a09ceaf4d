// SPDX-License-Identifier: Apache-2.0
// The driver's part in transfer modes: what the card can do, and the memory that a VI needs for them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "firmware/abi/card_map.h"
#include "host_driver/myvia/myvia_driver.h"
#include "hw/sim/error.h"

namespace vinic::driver {

namespace myvia = abi::myvia;

transfer_rules myvia_driver::rules() const {
    const std::string& mode = transfer_mode;
    transfer_rules made{.check_clocks = transfer_check_clocks};
    if (mode == "pio" || mode == "write_combined") {
        made.up_to_push = mode == "pio" ? transfer::pio : transfer::write_combined;
        made.push_bytes = myvia::push_bytes;
    } else if (mode == "copy") {
        made.up_to_copy = transfer::copy;
        made.copy_bytes = copy_place_bytes;
    } else if (mode == "automatic") {
        made.up_to_push = transfer::write_combined;
        made.push_bytes = push_areas_ != 0 ? automatic_push_bytes.get() : 0;
        made.up_to_copy = transfer::copy;
        made.copy_bytes = std::min(automatic_copy_bytes.get(), copy_place_bytes.get());
    }
    return made;
}

void myvia_driver::read_transfer_limits(host::process& on) {
    const auto get = [&](std::size_t offset) { return window_->load_big(on, interface_word(offset)); };
    push_areas_ = get(offsetof(interface_block, push_areas));
    const bool pushes = transfer_mode.get() == "pio" || transfer_mode.get() == "write_combined";
    if (pushes && push_areas_ == 0)
        throw sim::input_error("{}.transfer_mode = {}: {} has no place on the card for pushed messages",
                               name(), transfer_mode.get(), image_.name);
    if (rules().copy_bytes == 0) return;
    if (get(offsetof(interface_block, physical_regions)) != 1)
        throw sim::input_error("{}.transfer_mode = {}: {} translates every address", name(),
                               transfer_mode.get(), image_.name);
    // The last regions are the driver's own, one for each VI.
    if (limits_.regions <= limits_.vis)
        throw sim::input_error("{}.transfer_mode = {}: {} has too few regions", name(), transfer_mode.get(),
                               image_.name);
    limits_.regions -= limits_.vis;
}

std::uint32_t myvia_driver::copy_region(std::uint32_t vi) const { return limits_.regions + vi; }

status myvia_driver::register_copies(host::process& on, const vi_setup& setup, myvia_copy_buffer& buffer) {
    const std::uint32_t region = copy_region(setup.vi);
    buffer.handle = region + 1;
    const std::uint64_t begin = buffer.memory.begin();
    return command(
        on, myvia::command_set_region,
        std::array{region, buffer.handle, static_cast<std::uint32_t>(begin >> 32),
                   static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(buffer.memory.bytes()), 0u,
                   setup.attributes.tag, myvia::region_physical});
}

std::shared_ptr<myvia_copy_buffer> myvia_driver::make_copy_buffer(host::process& on, const vi_setup& setup) {
    auto made = std::make_shared<myvia_copy_buffer>(cpu_.ram(), static_cast<std::uint32_t>(copy_places.get()),
                                                    copy_place_bytes);
    if (register_copies(on, setup, *made) != status::success) return nullptr;
    return made;
}

/// Null: the card refuses.
std::shared_ptr<myvia_work_queue> myvia_driver::make_send_queue(host::process& on, const vi_setup& setup) {
    if (!transfers()) return make_queue(setup, false);
    myvia_send_queue::ways how{.rules = rules(),
                               .pushes = nullptr,
                               .copies = nullptr,
                               .regions = regions_,
                               .tag = setup.attributes.tag};
    if (how.rules.push_bytes != 0) {
        auto& area = pushes_[setup.process];
        if (!area)
            area = std::make_shared<myvia_push_area>(
                *window_, abi::card_map::sram + push_areas_ + setup.process * myvia::push_area_bytes);
        how.pushes = area;
    }
    if (how.rules.copy_bytes != 0) {
        how.copies = make_copy_buffer(on, setup);
        if (!how.copies) return nullptr;
    }
    auto made =
        std::make_shared<myvia_send_queue>(cpu_.ram(), processes_.at(setup.process), setup.vi, slots(),
                                           swap_clocks, tokens_of(setup.vi, false), std::move(how));
    send_queues_[setup.vi] = made;
    return made;
}

void myvia_driver::end_transfers(host::process& on, std::uint32_t vi) {
    const auto queue = send_queues_.find(vi);
    if (queue == send_queues_.end()) return;
    if (queue->second->copies()) command(on, myvia::command_clear_region, std::array{copy_region(vi)});
    send_queues_.erase(queue);
}

}  // namespace vinic::driver
