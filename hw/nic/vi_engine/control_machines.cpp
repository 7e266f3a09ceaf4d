// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/control_machines.h"

namespace vinic::nic {

namespace card = abi::vi_engine;

namespace {

constexpr std::uint32_t ring_slots_max = 65536;

bool good_attributes(const card::create_vi_arguments& a) {
    return a.reliability != 0 && (a.reliability & (a.reliability - 1)) == 0 &&
           a.reliability <= abi::vi_reliable_reception;
}

bool good_route(std::uint32_t length) {
    return length == card::route_loopback || length <= abi::route_bytes_max;
}

}  // namespace

// --- Errors, sending again (facts vipl.md 6.2)

void control_machines::raise(vi_context& of, abi::xuni::control_event what, std::uint32_t argument) {
    switch (what) {
        case abi::xuni::event_time_over:
            return time_over(of);
        case abi::xuni::event_asked_again:
            return vis_.send_again(of);
        case abi::xuni::event_write_aborted:
            return vis_.report(of, vip_error::rdma_write_abort);
        case abi::xuni::event_overrun:
            vis_.report(of, vip_error::vi_overrun);
            if (of.connected()) vis_.break_connection(of, 0);
            return;
        case abi::xuni::event_send_failed:
            vis_.break_connection(of, 0);
            return vis_.report(of, card::event_vi_error);
        case abi::xuni::event_peer_refused:
            return peer_refused(of, argument);
        case abi::xuni::event_receive_failed:
            vis_.refuse_connection(of, abi::vi_status_remote_descriptor_error);
            return vis_.report(of, card::event_vi_error);
        case abi::xuni::event_write_failed:
            vis_.refuse_connection(of, abi::vi_status_rdma_protection_error);
            return vis_.report(of, card::event_vi_error);
        case abi::xuni::event_queue_empty:
            if (of.reliable()) vis_.refuse_connection(of, abi::vi_status_remote_descriptor_error);
            return vis_.report(of, vip_error::receive_queue_empty);
        case abi::xuni::event_write_refused:
            if (of.reliable()) vis_.refuse_connection(of, abi::vi_status_rdma_protection_error);
            return vis_.report(of, vip_error::rdma_write_protection);
        default:
            return;
    }
}

void control_machines::time_over(vi_context& of) {
    if (++of.tries <= retransmit_limit_) return vis_.send_again(of);
    vis_.break_connection(of, abi::vi_status_transport_error);
    vis_.report(of, card::event_transport_lost, static_cast<std::uint32_t>(vip_error::connection_lost));
}

void control_machines::peer_refused(vi_context& of, std::uint32_t status) {
    if (of.reliability == abi::vi_reliable_reception) {
        vis_.break_connection(of, status & abi::vi_status_error_mask);
        return vis_.report(of, card::event_vi_error);
    }
    vis_.break_connection(of, 0);
    vis_.report(of, vip_error::connection_lost);
}

// --- Commands

step<std::uint32_t> control_machines::command(const card_command& what) {
    const auto& a = what.arguments;
    switch (what.op) {
        case card::command_create_vi:
            co_return create(what.as<card::create_vi_arguments>());
        case card::command_set_vi:
            co_return set(what.as<card::create_vi_arguments>());
        case card::command_destroy_vi:
            co_return co_await destroy(a[0]);
        case card::command_connect_vi:
            co_return co_await connect(what.as<card::connect_vi_arguments>());
        case card::command_disconnect_vi:
            co_return co_await disconnect(a[0], a[1], a[2] == 1);
        case card::command_send_control:
            co_return co_await send_control(what.as<card::send_control_arguments>());
        default:
            co_return card::command_bad_argument;
    }
}

bool control_machines::good_queue(std::uint32_t number) const {
    return number == card::no_queue || vis_.queue_entries(number) != 0;
}

std::uint32_t control_machines::create(const card::create_vi_arguments& a) {
    if (a.vi >= card::max_vis || a.ring_slots == 0 || a.ring_slots > ring_slots_max ||
        (a.ring_slots & (a.ring_slots - 1)) != 0 || !good_queue(a.send_queue) ||
        !good_queue(a.receive_queue) || !good_attributes(a))
        return card::command_bad_argument;
    if (vis_.at(a.vi).state != card::vi_unused) return card::command_wrong_state;
    vis_.create(a);
    return card::command_ok;
}

std::uint32_t control_machines::set(const card::create_vi_arguments& a) {
    if (a.vi >= card::max_vis || !good_attributes(a)) return card::command_bad_argument;
    if (vis_.at(a.vi).state != card::vi_idle) return card::command_wrong_state;
    vis_.set(a);
    return card::command_ok;
}

step<std::uint32_t> control_machines::connect(card::connect_vi_arguments a) {
    if (a.vi >= card::max_vis || a.remote_vi > 0xFFFF || !good_route(a.route_length))
        co_return card::command_bad_argument;
    vi_context& of = vis_.at(a.vi);
    if (of.state != card::vi_idle) co_return card::command_wrong_state;
    co_await vis_.flushed(of);
    vis_.connect(a);
    co_return card::command_ok;
}

step<std::uint32_t> control_machines::end(vi_context& of, card::vi_state next) {
    if (of.state == card::vi_unused) co_return card::command_wrong_state;
    vis_.leave(of, next);
    co_await vis_.flushed(of);
    co_await vis_.fetched(of);
    co_await vis_.written();
    co_return card::command_ok;
}

step<std::uint32_t> control_machines::destroy(std::uint32_t number) {
    if (number >= card::max_vis) co_return card::command_bad_argument;
    co_return co_await end(vis_.at(number), card::vi_unused);
}

step<std::uint32_t> control_machines::disconnect(std::uint32_t number, std::uint32_t next, bool keep) {
    if (number >= card::max_vis || (next != card::vi_idle && next != card::vi_error))
        co_return card::command_bad_argument;
    vi_context& of = vis_.at(number);
    if (!keep) co_return co_await end(of, static_cast<card::vi_state>(next));
    if (of.state == card::vi_unused) co_return card::command_wrong_state;
    vis_.stop(of, static_cast<card::vi_state>(next));
    co_await vis_.written();
    co_return card::command_ok;
}

step<std::uint32_t> control_machines::send_control(card::send_control_arguments a) {
    if (!good_route(a.route_length) || a.bytes > card::control_bytes_max)
        co_return card::command_bad_argument;
    co_await vis_.send_control(a);
    co_return card::command_ok;
}

}  // namespace vinic::nic
