// SPDX-License-Identifier: Apache-2.0

// Slots of work queues (myvia_card.h): their byte order, and the checks of vipl.md 3 and 6.2.
#pragma once

#include "firmware/abi/myvia_card.h"
#include "firmware/abi/vi_descriptor.h"
#include "firmware/common/bytes.h"

namespace vinic::common {

using descriptor = abi::myvia::slot;
using segment = abi::myvia::slot_segment;

// Status bits as plain numbers: the enumerations of the contract mix badly with other integers.
constexpr uint32_t when(bool condition, uint32_t bits) { return condition ? bits : 0; }

// The errors of vipl.md 1.3 that the card raises.
enum vip_error : uint32_t {
    vip_error_post_descriptor = 0,
    vip_error_connection_lost = 1,
    vip_error_receive_queue_empty = 2,
    vip_error_vi_overrun = 3,
    vip_error_rdma_write_protection = 4,
    vip_error_rdma_write_abort = 6
};

// Slots stand in the ring as the card wants them; natively this machine is the card.
[[gnu::always_inline]] inline void decode([[maybe_unused]] descriptor& slot) {
    if constexpr (!card_is_big_endian) {
        slot.next = __builtin_bswap64(slot.next);
        uint32_t* words = &slot.next_handle;
        for (uint32_t i = 0; i != 6; ++i) words[i] = network(words[i]);
        for (segment& one : slot.segments)
            one = {__builtin_bswap64(one.address), network(one.handle), network(one.length)};
    }
}

inline uint32_t segment_count(const descriptor& of) { return of.control_and_count & 0xFFFF; }
inline uint32_t control_bits(const descriptor& of) { return of.control_and_count >> 16; }

// Segments beyond the slot's are as the program wrote them.
inline void decode_segment(const uint32_t* raw, segment& to) {
    const uint32_t low = program(raw[0]), high = program(raw[1]);
    to.address = join(high, low);
    to.handle = program(raw[2]);
    to.length = program(raw[3]);
}

inline uint32_t first_data_segment(const descriptor& of) {
    return (control_bits(of) & abi::vi_op_mask) == abi::vi_op_rdma_write ? 1 : 0;
}

inline uint32_t operation_status(uint32_t control) {
    const uint32_t operation = control & abi::vi_op_mask;
    if (operation == abi::vi_op_rdma_write) return abi::vi_status_op_rdma_write;
    return operation == abi::vi_op_rdma_read ? abi::vi_status_op_rdma_read : abi::vi_status_op_send;
}

// Status bits for what can be seen in the slot itself; `limit`: the longest message.
inline uint32_t check_send_format(const descriptor& from, uint32_t limit, uint32_t max_segments) {
    const uint32_t control = control_bits(from);
    const uint32_t count = segment_count(from);
    if ((control & abi::vi_control_reserved) != 0 || from.reserved != 0 || count > max_segments ||
        (control & abi::vi_op_rdma_read) != 0)  // of both: RDMA read and the reserved operation
        return abi::vi_status_format_error;
    if ((control & abi::vi_op_rdma_write) != 0 && (count == 0 || from.segments[0].length != 0))
        return abi::vi_status_format_error;
    return when(from.length > limit, abi::vi_status_length_error);
}

inline uint32_t check_receive_format(const descriptor& slot, uint32_t max_segments) {
    const uint32_t control = control_bits(slot);
    const bool good = (control & (abi::vi_control_reserved | abi::vi_op_mask)) == 0 && slot.reserved == 0 &&
                      segment_count(slot) <= max_segments;
    return when(!good, abi::vi_status_format_error);
}

inline bool crosses_4_gib(uint32_t ring_low, uint32_t slots) {
    return slots * abi::myvia::slot_bytes - 1 > 0xFFFFFFFF - ring_low;
}

}  // namespace vinic::common
