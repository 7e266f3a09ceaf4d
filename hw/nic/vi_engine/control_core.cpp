// SPDX-License-Identifier: Apache-2.0
#include "hw/nic/vi_engine/control_core.h"

#include <bit>
#include <utility>

#include "firmware/abi/wire_format.h"

namespace vinic::nic {

namespace card = abi::vi_engine;
namespace xuni = abi::xuni;

namespace {

/// The connection may be over: nothing more happens on it until the core has decided.
bool stops(const vi_context& of, xuni::control_event what) {
    switch (what) {
        case xuni::event_overrun:
        case xuni::event_send_failed:
        case xuni::event_peer_refused:
        case xuni::event_receive_failed:
        case xuni::event_write_failed:
            return of.connected();
        case xuni::event_queue_empty:
        case xuni::event_write_refused:
            return of.connected() && of.reliable();
        default:
            return false;
    }
}

bool good_route(std::uint32_t length) {
    return length == card::route_loopback || length <= abi::route_bytes_max;
}

}  // namespace

control_core::control_core(const sc_core::sc_module_name& name, sequencer& order, vi_operations& vis,
                           lanai::device_port& others)
    : module(name),
      event_clocks(*this, {.name = "event_clocks",
                           .unit = "clocks",
                           .value = 2,
                           .min = 1,
                           .max = 1000,
                           .help = "from an event to the register in which the core sees it, engine clocks"}),
      event_places(*this, {.name = "event_places",
                           .unit = "events",
                           .value = 64,
                           .min = 1,
                           .max = 65536,
                           .help = "events that may wait for the core; of more, those that come again or are "
                                   "only told are lost"}),
      order_clocks(*this, {.name = "order_clocks",
                           .unit = "clocks",
                           .value = 2,
                           .max = 1000,
                           .help = "an order of the core, engine clocks"}),
      order_places(*this, {.name = "order_places",
                           .unit = "orders",
                           .value = 8,
                           .min = 1,
                           .max = 1024,
                           .help = "orders that may wait for the engine"}),
      sequencer_(order),
      vis_(vis),
      others_(others),
      answered_(order),
      ordered_(order),
      settles_(order),
      obey_machine_(order.start(rank::control, [this] { return obey(); })),
      settle_machine_(order.start(rank::control, [this] { return settle(); })) {}

void control_core::check(bool holds, const char* text) {
    if (!holds) core_->fail(text);
}

// --- What the engine says

void control_core::post(xuni::control_event what, std::uint32_t vi, std::uint32_t argument) {
    core_->sync();
    events.add();
    events_.push_back({what, vi, argument, sequencer_.now() + event_clocks, sim::now()});
}

/// One event of a VI that stands still is never lost: there is none to follow.
void control_core::raise(vi_context& of, xuni::control_event what, std::uint32_t argument) {
    if (stops(of, what))
        vis_.halt(of);
    else if (events_.size() >= event_places)
        return lost.add();
    post(what, of.index, argument);
}

step<std::uint32_t> control_core::command(const card_command& what) {
    command_ = what;
    asked_ = true;
    post(xuni::event_command, 0, what.op);
    while (asked_) co_await answered_.changed();
    co_return answer_;
}

// --- Registers

bool control_core::mapped(std::uint32_t address, unsigned bytes) const {
    if (address - xuni::register_base >= xuni::register_bytes) return others_.mapped(address, bytes);
    return bytes == 4 && address % 4 == 0;
}

std::uint32_t control_core::load(std::uint32_t address, unsigned bytes, lanai::cycle at) {
    const std::uint32_t offset = address - xuni::register_base;
    return offset < xuni::register_bytes ? load_register(offset, at) : others_.load(address, bytes, at);
}

void control_core::store(std::uint32_t address, unsigned bytes, std::uint32_t value, lanai::cycle at) {
    const std::uint32_t offset = address - xuni::register_base;
    if (offset < xuni::register_bytes)
        store_register(offset, value);
    else
        others_.store(address, bytes, value, at);
}

std::optional<lanai::register_value> control_core::peek(std::uint32_t address, unsigned bytes,
                                                        lanai::cycle at) const {
    const std::uint32_t offset = address - xuni::register_base;
    if (offset >= xuni::register_bytes) return others_.peek(address, bytes, at);
    return offset == xuni::EVENT ? std::optional(oldest(at)) : std::nullopt;
}

lanai::register_value control_core::oldest(lanai::cycle at) const {
    if (events_.empty()) return {xuni::event_none, lanai::never};
    const waiting_event& first = events_.front();
    if (first.seen_from > at) return {xuni::event_none, first.seen_from};
    return {first.what, lanai::never};
}

std::uint32_t control_core::load_register(std::uint32_t offset, lanai::cycle at) const {
    if (offset >= xuni::COMMAND) return command_.arguments[(offset - xuni::COMMAND) / 4];
    switch (offset) {
        case xuni::EVENT:
            return oldest(at).value;
        case xuni::EVENT_VI:
            return events_.empty() ? 0 : events_.front().vi;
        case xuni::EVENT_ARGUMENT:
            return events_.empty() ? 0 : events_.front().argument;
        case xuni::ORDER_ROOM:
            return static_cast<std::uint32_t>(order_places - outstanding_);
        case xuni::RETRANSMIT_LIMIT:
            return retransmit_limit_;
        case xuni::QUEUE:
            return vis_.queue_entries(queue_);
        default:
            return 0;
    }
}

void control_core::store_register(std::uint32_t offset, std::uint32_t value) {
    switch (offset) {
        case xuni::EVENT_TAKEN:
            return take_event();
        case xuni::ORDER_VI:
            next_.vi = value;
            return;
        case xuni::ORDER_ARGUMENT:
            next_.argument = value;
            return;
        case xuni::ORDER_ARGUMENT2:
            next_.argument2 = value;
            return;
        case xuni::ORDER:
            next_.what = value;
            return give_order();
        case xuni::QUEUE:
            queue_ = value;
            return;
        default:
            return;
    }
}

void control_core::take_event() {
    check(!events_.empty(), "an event taken where there is none");
    event.report(events_.front().since, sim::now(), "event",
                 {{"kind", events_.front().what}, {"vi", events_.front().vi}});
    events_.pop_front();
}

void control_core::give_order() {
    check(outstanding_ < order_places, "an order for which there is no room");
    ++outstanding_;
    sequencer_.input(rank::control, [this, what = next_] {
        orders_.push_back(what);
        ordered_.notify();
    });
}

// --- What the core says

machine control_core::obey() {
    for (;;) {
        while (orders_.empty()) co_await ordered_.changed();
        const given_order next = orders_.front();
        orders_.pop_front();
        co_await sequencer_.clocks(order_clocks, 1);
        co_await execute(next);
        orders.add();
        --outstanding_;
    }
}

step<bool> control_core::execute(given_order what) {
    if (what.what <= xuni::order_done) {
        check(asked_, "an order on a command where there is none");
        if (what.what == xuni::order_done) {
            answer_ = what.argument;
            asked_ = false;
            answered_.notify();
            co_return true;
        }
        co_return co_await on_command(what.what);
    }
    check(what.vi < card::max_vis, "an order on a VI that there is not");
    vi_context& of = vis_.at(what.vi);
    if (what.what != xuni::order_settle) {
        on_connection(of, what);
        co_return true;
    }
    check(!settling_, "an order to settle before the last one was done");
    settling_ = what;
    settles_.notify();
    co_return true;
}

step<bool> control_core::on_command(std::uint32_t what) {
    const auto attributes = command_.as<card::create_vi_arguments>();
    const auto connection = command_.as<card::connect_vi_arguments>();
    const auto packet = command_.as<card::send_control_arguments>();
    switch (what) {
        case xuni::order_create:
            check(attributes.vi < card::max_vis && std::has_single_bit(attributes.ring_slots),
                  "an order to create what cannot be");
            vis_.create(attributes);
            break;
        case xuni::order_set:
            check(attributes.vi < card::max_vis, "an order on a VI that there is not");
            vis_.set(attributes);
            break;
        case xuni::order_connect:
            check(connection.vi < card::max_vis && good_route(connection.route_length),
                  "an order to connect what cannot be");
            vis_.connect(connection);
            break;
        default:
            check(what == xuni::order_send_control && packet.bytes <= card::control_bytes_max &&
                      good_route(packet.route_length),
                  "an order to send what cannot be");
            co_await vis_.send_control(packet);
    }
    co_return true;
}

void control_core::on_connection(vi_context& of, const given_order& what) {
    const auto next = static_cast<card::vi_state>(what.argument);
    const bool stands = of.connected() || of.halted;
    switch (what.what) {
        case xuni::order_leave:
            check(next <= card::vi_error && next != card::vi_connected, "an order to leave for no state");
            return vis_.leave(of, next);
        case xuni::order_stop:
            check(next <= card::vi_error && next != card::vi_connected, "an order to leave for no state");
            return vis_.stop(of, next);
        case xuni::order_send_again:
            if (of.connected()) vis_.send_again(of);
            return;
        case xuni::order_break:
            if (stands) vis_.break_connection(of, what.argument);
            return;
        case xuni::order_refuse:
            if (stands) vis_.refuse_connection(of, what.argument);
            return;
        case xuni::order_report:
            return vis_.report(of, static_cast<card::event_kind>(what.argument), what.argument2);
        default:
            check(false, "an order that there is not");
    }
}

machine control_core::settle() {
    for (;;) {
        while (!settling_) co_await settles_.changed();
        vi_context& of = vis_.at(settling_->vi);
        const std::uint32_t until = settling_->argument;
        if ((until & xuni::settle_flushed) != 0) co_await vis_.flushed(of);
        if ((until & xuni::settle_fetched) != 0) co_await vis_.fetched(of);
        if ((until & xuni::settle_written) != 0) co_await vis_.written();
        settling_.reset();
        post(xuni::event_settled, of.index, 0);
    }
}

}  // namespace vinic::nic
