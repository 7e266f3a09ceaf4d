// SPDX-License-Identifier: Apache-2.0

// Commands of the driver on VIs and their connections, one at a time: what may be done in which state. One
// that takes something away is done when nothing under way can touch it any more.
#pragma once

#include <stddef.h>

#include "firmware/abi/wire_format.h"
#include "firmware/common/bytes.h"
#include "firmware/xuni/vi.h"

namespace vinic::xuni {

using namespace abi::vi_engine;

inline constexpr uint32_t ring_slots_max = 65536;

// The command goes on when the engine has settled.
inline constexpr uint32_t goes_on = 0xFFFFFFFF;
inline uint32_t connecting;  // it is to connect a VI then

inline uint32_t settle(uint32_t number, uint32_t what) {
    order(order_settle, number, what);
    return goes_on;
}

inline bool good_queue(uint32_t queue) {
    if (queue == no_queue) return true;
    hardware::store(QUEUE, queue);
    return hardware::load(QUEUE) != 0;
}

inline bool good_route(uint32_t length) { return length == route_loopback || length <= abi::route_bytes_max; }

inline bool power_of_two(uint32_t value) { return value != 0 && (value & (value - 1)) == 0; }

inline uint32_t reliability_argument() {
    return argument_of_command(offsetof(create_vi_arguments, reliability) / 4);
}
inline bool good_reliability(uint32_t level) {
    return power_of_two(level) && level <= abi::vi_reliable_reception;
}

inline uint32_t create_vi(uint32_t number) {
    const uint32_t slots = argument_of_command(offsetof(create_vi_arguments, ring_slots) / 4);
    if (number >= max_vis || !power_of_two(slots) || slots > ring_slots_max ||
        !good_queue(argument_of_command(offsetof(create_vi_arguments, send_queue) / 4)) ||
        !good_queue(argument_of_command(offsetof(create_vi_arguments, receive_queue) / 4)) ||
        !good_reliability(reliability_argument()))
        return command_bad_argument;
    vi& of = vis[number];
    if (of.state != vi_unused) return command_wrong_state;
    of.state = vi_idle;
    of.reliability = reliability_argument();
    order(order_create, number);
    return command_ok;
}

inline uint32_t set_vi(uint32_t number) {
    if (number >= max_vis || !good_reliability(reliability_argument())) return command_bad_argument;
    vi& of = vis[number];
    if (of.state != vi_idle) return command_wrong_state;
    of.reliability = reliability_argument();
    order(order_set, number);
    return command_ok;
}

inline uint32_t connect_vi(uint32_t number) {
    if (number >= max_vis || argument_of_command(offsetof(connect_vi_arguments, remote_vi) / 4) > 0xFFFF ||
        !good_route(argument_of_command(offsetof(connect_vi_arguments, route_length) / 4)))
        return command_bad_argument;
    if (vis[number].state != vi_idle) return command_wrong_state;
    connecting = 1;
    return settle(number, settle_flushed);
}

inline uint32_t end_vi(uint32_t number, uint32_t next) {
    if (vis[number].state == vi_unused) return command_wrong_state;
    vis[number].state = next;
    order(order_leave, number, next);
    return settle(number, settle_flushed | settle_fetched | settle_written);
}

inline uint32_t destroy_vi(uint32_t number) {
    return number >= max_vis ? uint32_t{command_bad_argument} : end_vi(number, vi_unused);
}

inline uint32_t disconnect_vi(uint32_t number) {
    const uint32_t next = argument_of_command(1), keep = argument_of_command(2);
    if (number >= max_vis || (next != vi_idle && next != vi_error)) return command_bad_argument;
    if (keep != 1) return end_vi(number, next);
    if (vis[number].state == vi_unused) return command_wrong_state;
    vis[number].state = next;
    order(order_stop, number, next);
    return settle(number, settle_written);
}

inline uint32_t send_control() {
    if (!good_route(argument_of_command(offsetof(send_control_arguments, route_length) / 4)) ||
        argument_of_command(offsetof(send_control_arguments, bytes) / 4) > control_bytes_max)
        return command_bad_argument;
    order(order_send_control, 0);
    return command_ok;
}

inline uint32_t execute(uint32_t op) {
    if (op == command_send_control) return send_control();
    const uint32_t number = argument_of_command(0);
    switch (op) {
        case command_create_vi:
            return create_vi(number);
        case command_set_vi:
            return set_vi(number);
        case command_connect_vi:
            return connect_vi(number);
        case command_disconnect_vi:
            return disconnect_vi(number);
        case command_destroy_vi:
            return destroy_vi(number);
        default:
            return command_bad_argument;
    }
}

[[gnu::noinline]] inline void command(uint32_t op) {
    const uint32_t status = execute(op);
    if (status != goes_on) order(order_done, 0, status);
}

[[gnu::noinline]] inline void settled(uint32_t number) {
    if (connecting) {
        connecting = 0;
        vis[number].state = vi_connected;
        vis[number].tries = vis[number].oldest = 0;
        order(order_connect, number);
    }
    order(order_done, 0, command_ok);
}

}  // namespace vinic::xuni
