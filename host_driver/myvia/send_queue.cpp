// SPDX-License-Identifier: Apache-2.0
#include "host_driver/myvia/send_queue.h"

#include <algorithm>
#include <cstring>

#include "host_driver/byte_order.h"

namespace vinic::driver {

namespace myvia = abi::myvia;

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint32_t);

}  // namespace

void myvia_push_area::write(host::process& on, std::uint32_t entry,
                            std::span<const std::byte> slot_and_payload, bool combined) {
    const std::uint32_t at = area_ + entry * std::uint32_t{sizeof(myvia::pushed_message)};
    if (combined) {
        card_.store_block(on, at, slot_and_payload);
        card_.fence(on);
        return;
    }
    for (std::size_t i = 0; i < slot_and_payload.size(); i += word_bytes) {
        std::uint32_t word;
        std::memcpy(&word, slot_and_payload.data() + i, word_bytes);
        card_.store(on, at + static_cast<std::uint32_t>(i), word);
    }
}

/// The memory of a segment is registered and is the VI's: what the card would check.
bool myvia_send_queue::readable(host::process& on, const abi::vi_data_segment& segment) const {
    on.compute(how_.rules.check_clocks);
    const auto found = how_.regions->find(segment.handle);
    if (found == how_.regions->end() || found->second.attributes.tag != how_.tag) return false;
    const region_setup& region = found->second;
    return segment.data >= region.address && segment.length <= region.length &&
           segment.data - region.address <= region.length - segment.length &&
           on.space().valid(segment.data, segment.length);
}

bool myvia_send_queue::push(host::process& on, const myvia::slot& slot, host::virtual_address from,
                            std::span<const std::byte> payload, bool combined) {
    const auto entry = how_.pushes ? how_.pushes->entries.take() : std::nullopt;
    if (!entry) return false;
    std::vector<std::byte> bytes(sizeof slot + (payload.size() + word_bytes - 1) / word_bytes * word_bytes);
    std::memcpy(bytes.data(), &slot, sizeof slot);
    std::ranges::copy(payload, bytes.begin() + sizeof slot);
    how_.pushes->write(on, *entry, bytes, combined);
    put(on, slot, from);
    used_[last_place()].entry = entry;
    ring(on, static_cast<myvia::doorbell_op>(myvia::doorbell_send_pushed + *entry));
    return true;
}

bool myvia_send_queue::copy(host::process& on, myvia::slot slot, host::virtual_address from,
                            std::span<const std::byte> payload) {
    const auto place = how_.copies ? how_.copies->places.take() : std::nullopt;
    if (!place) return false;
    on.copy(payload.size());
    const host::physical_address at = how_.copies->at(*place);
    how_.copies->memory.ram().write(at, payload);
    slot.segments[0].address = big_endian(at);
    slot.segments[0].handle = big_endian(how_.copies->handle);
    put(on, slot, from);
    used_[last_place()].place = place;
    ring(on, myvia::doorbell_send);
    return true;
}

void myvia_send_queue::post(host::process& on, std::span<const std::byte, descriptor_bytes> descriptor,
                            host::virtual_address where, std::uint32_t handle) {
    const myvia::slot slot = make_slot(on, descriptor, where, handle);
    abi::vi_control_segment control;
    abi::vi_data_segment segment;
    std::memcpy(&control, descriptor.data(), sizeof control);
    std::memcpy(&segment, descriptor.data() + sizeof control, sizeof segment);
    const transfer way = how_.rules.of(control.length);
    const bool usual = (control.control & ~abi::vi_control_immediate) == 0 && control.segment_count == 1 &&
                       control.length == segment.length && control.length != 0;
    if (usual && way != transfer::zero_copy && readable(on, segment)) {
        std::vector<std::byte> payload(segment.length);
        on.space().read(segment.data, payload);
        const bool sent = way == transfer::copy
                              ? copy(on, slot, where, payload)
                              : push(on, slot, where, payload, way == transfer::write_combined);
        if (sent) return;
    }
    put(on, slot, where);
    ring(on, myvia::doorbell_send);
}

descriptor_completion myvia_send_queue::take() {
    holding& held = used_[first_place()];
    if (held.entry) how_.pushes->entries.give_back(*held.entry);
    if (held.place) how_.copies->places.give_back(*held.place);
    held = {};
    return myvia_work_queue::take();
}

}  // namespace vinic::driver
