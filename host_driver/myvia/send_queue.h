// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "firmware/abi/myvia_card.h"
#include "firmware/abi/vi_descriptor.h"
#include "host_driver/card_driver.h"
#include "host_driver/card_window.h"
#include "host_driver/myvia/queues.h"

namespace vinic::driver {

/// How the payload of a message gets to the card.
enum class transfer : std::uint8_t {
    zero_copy,       ///< the card fetches it from the program's memory, and translates its address
    copy,            ///< the library copies it into pinned, contiguous memory, from which the card fetches it
    pio,             ///< the processor stores it into the card, word by word
    write_combined,  ///< the same through write-combining buffers
};

/// What driver.transfer_mode says, for messages of one segment; all others are fetched without a copy.
struct transfer_rules {
    transfer up_to_push = transfer::zero_copy;  ///< for messages that may be pushed
    transfer up_to_copy = transfer::zero_copy;  ///< for longer ones that may be copied
    std::uint64_t push_bytes = 0;               ///< longest message that is pushed
    std::uint64_t copy_bytes = 0;               ///< longest message that is copied
    host::clocks check_clocks = 0;              ///< the library finds the memory of the segment in its table

    transfer of(std::uint64_t bytes) const {
        if (bytes <= push_bytes) return up_to_push;
        return bytes <= copy_bytes ? up_to_copy : transfer::zero_copy;
    }
};

/// Numbers from 0 on of which the lowest free one is taken.
class free_numbers {
public:
    explicit free_numbers(std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) free_.insert(i);
    }
    std::optional<std::uint32_t> take() {
        if (free_.empty()) return std::nullopt;
        const std::uint32_t lowest = *free_.begin();
        free_.erase(free_.begin());
        return lowest;
    }
    void give_back(std::uint32_t number) { free_.insert(number); }

private:
    std::set<std::uint32_t> free_;
};

/// A process's area of the card for pushed messages.
class myvia_push_area {
public:
    /// `area`: its offset in the card's window.
    myvia_push_area(card_window& card, std::uint32_t area) : card_(card), area_(area) {}

    free_numbers entries{abi::myvia::push_entries};
    /// Payload in whole words, slot in front of it.
    void write(host::process& on, std::uint32_t entry, std::span<const std::byte> slot_and_payload,
               bool combined);

private:
    card_window& card_;
    std::uint32_t area_;
};

/// Pinned, contiguous memory of a VI for payload that is copied: a region of the card whose addresses are
/// physical ones.
struct myvia_copy_buffer {
    myvia_copy_buffer(host::memory& ram, std::uint32_t count, std::uint64_t each)
        : memory(ram, count * each, contiguous_memory::contents::any), bytes(each), places(count) {}

    contiguous_memory memory;
    std::uint64_t bytes;  ///< of a place
    free_numbers places;
    std::uint32_t handle = 0;
    host::physical_address at(std::uint32_t place) const { return memory.begin() + place * bytes; }
};

/// Registered memory by handle: what the library knows of its own registrations.
using region_table = std::map<std::uint32_t, region_setup>;

/// A send queue whose messages may be pushed or copied.
class myvia_send_queue : public myvia_work_queue {
public:
    struct ways {
        transfer_rules rules;
        std::shared_ptr<myvia_push_area> pushes;    ///< null: nothing is pushed
        std::shared_ptr<myvia_copy_buffer> copies;  ///< null: nothing is copied
        std::shared_ptr<const region_table> regions;
        std::uint32_t tag = 0;
    };
    myvia_send_queue(host::memory& ram, std::shared_ptr<myvia_doorbells> doorbells, std::uint32_t vi,
                     std::uint32_t slots, host::clocks swap_clocks, std::optional<myvia_tokens> tokens,
                     ways how)
        : myvia_work_queue(ram, std::move(doorbells), vi, false, slots, swap_clocks, tokens),
          how_(std::move(how)),
          used_(slots) {}

    void post(host::process& on, std::span<const std::byte, descriptor_bytes> descriptor,
              host::virtual_address where, std::uint32_t handle) override;
    descriptor_completion take() override;
    void set_tag(std::uint32_t tag) { how_.tag = tag; }
    const std::shared_ptr<myvia_copy_buffer>& copies() const { return how_.copies; }

private:
    /// What a descriptor holds until it is taken back.
    struct holding {
        std::optional<std::uint32_t> entry;
        std::optional<std::uint32_t> place;
    };
    bool readable(host::process& on, const abi::vi_data_segment& segment) const;
    bool push(host::process& on, const abi::myvia::slot& slot, host::virtual_address from,
              std::span<const std::byte> payload, bool combined);
    bool copy(host::process& on, abi::myvia::slot slot, host::virtual_address from,
              std::span<const std::byte> payload);

    ways how_;
    std::vector<holding> used_;  ///< by place in the ring
};

}  // namespace vinic::driver
