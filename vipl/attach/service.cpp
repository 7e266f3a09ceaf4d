// SPDX-License-Identifier: Apache-2.0

// The simulator's side of the table in functions.h: arguments are unpacked, the function of VIPL is called,
// and what it wrote is packed.
#include "vipl/attach/service.h"

#include <array>
#include <tuple>

#include "hw/host/process.h"
#include "vipl/attach/functions.h"
#include "vipl/program.h"

namespace vinic::vipl::attach {

namespace {

// --- Handlers of ours, one for each type.

using words = std::uint64_t[words_of_call];

std::uint64_t word_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
    const auto& r = *static_cast<callbacks::registered*>(context);
    const words w{static_cast<std::uint64_t>(callback_kind::error), r.handler, r.context};
    r.owner->call(w, error);
}

void on_work(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
    const callbacks::registered r = *static_cast<callbacks::registered*>(context);
    r.owner->remove(static_cast<callbacks::registered*>(context));
    const words w{static_cast<std::uint64_t>(callback_kind::work_queue),
                  r.handler,
                  r.context,
                  word_of(nic),
                  word_of(vi),
                  word_of(descriptor)};
    r.owner->call(w, nullptr);
}

void on_entry(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_BOOLEAN receive) {
    const callbacks::registered r = *static_cast<callbacks::registered*>(context);
    r.owner->remove(static_cast<callbacks::registered*>(context));
    const words w{static_cast<std::uint64_t>(callback_kind::completion_queue),
                  r.handler,
                  r.context,
                  word_of(nic),
                  word_of(vi),
                  static_cast<std::uint64_t>(receive)};
    r.owner->call(w, nullptr);
}

template <typename Handler>
Handler ours() {
    if constexpr (std::is_same_v<Handler, VIP_ERROR_HANDLER>)
        return on_error;
    else if constexpr (std::is_same_v<Handler, VIP_VI_CALLBACK>)
        return on_work;
    else
        return on_entry;
}

// --- Parameters: where each lives during the call.

struct unpacking {
    const slot& from;
    callbacks& handlers;
    payload_reader payload;
};

template <way Way, typename P>
class argument {
public:
    argument(unpacking& u, std::size_t i) {
        if constexpr (Way == way::context)
            value_ = u.from.words[i + 1] ? u.handlers.add(u.from.words[i + 1], u.from.words[i]) : nullptr;
        else if constexpr (Way == way::handler)
            value_ = u.from.words[i] ? ours<P>() : nullptr;
        else if constexpr (std::is_pointer_v<P>)
            value_ = reinterpret_cast<P>(u.from.words[i]);
        else
            value_ = static_cast<P>(u.from.words[i]);
    }
    P get() { return value_; }
    void pack(payload_writer&, bool) {}

private:
    P value_;
};

/// What a pointer points at, in the simulator.
template <typename T, bool In>
class pointed_at {
public:
    pointed_at(unpacking& u, std::size_t i) : there_(u.from.words[i] != 0) {
        if (there_) u.payload.get(&value_, sizeof value_);
    }
    T* get() { return there_ ? &value_ : nullptr; }
    void pack(payload_writer& to, bool) {
        if (there_ && !In) to.put(&value_, sizeof value_);
    }

private:
    bool there_;
    T value_{};
};

template <bool In>
class pointed_at<VIP_CHAR, In> {
public:
    pointed_at(unpacking& u, std::size_t i) : there_(u.from.words[i] != 0) {
        if (!there_ || !In) return;
        for (char& c : text_) {
            u.payload.get(&c, 1);
            if (c == 0) break;
        }
        text_.back() = 0;
    }
    VIP_CHAR* get() { return there_ ? text_.data() : nullptr; }
    void pack(payload_writer& to, bool success) {
        if (there_ && !In && success) to.put(text_.data(), std::strlen(text_.data()) + 1);
    }

private:
    bool there_;
    std::array<char, name_bytes_max> text_{};
};

template <bool In>
class pointed_at<VIP_NET_ADDRESS, In> {
public:
    pointed_at(unpacking& u, std::size_t i) : there_(u.from.words[i] != 0) {
        if (!there_ || !In) return;
        u.payload.get(&room_, address_header);
        u.payload.get(room_.bytes.data() + address_header, bytes_of(room_.address) - address_header);
    }
    VIP_NET_ADDRESS* get() { return there_ ? &room_.address : nullptr; }
    void pack(payload_writer& to, bool success) {
        if (there_ && !In && success) to.put(&room_, bytes_of(room_.address));
    }

private:
    bool there_;
    union {
        VIP_NET_ADDRESS address;
        std::array<std::byte, address_bytes_max + sizeof(VIP_NET_ADDRESS)> bytes{};
    } room_;
};

template <bool In>
class pointed_at<VIP_NIC_ATTRIBUTES, In> {
public:
    pointed_at(unpacking& u, std::size_t i) : there_(u.from.words[i] != 0) {}
    VIP_NIC_ATTRIBUTES* get() { return there_ ? &value_ : nullptr; }
    void pack(payload_writer& to, bool success) {
        if (!there_ || !success) return;
        to.put(&value_, sizeof value_);
        to.put(value_.LocalNicAddress, value_.NicAddressLen);
    }

private:
    bool there_;
    VIP_NIC_ATTRIBUTES value_{};
};

template <typename P>
class argument<way::in, P> : public pointed_at<std::remove_const_t<std::remove_pointer_t<P>>, true> {
    using pointed_at<std::remove_const_t<std::remove_pointer_t<P>>, true>::pointed_at;
};
template <typename P>
class argument<way::out, P> : public pointed_at<std::remove_pointer_t<P>, false> {
    using pointed_at<std::remove_pointer_t<P>, false>::pointed_at;
};

template <typename P>
class argument<way::discovery, P> {
public:
    argument(unpacking& u, std::size_t i) : there_(u.from.words[i] != 0) {}
    VIP_PVOID get() { return there_ ? &value_ : nullptr; }
    void pack(payload_writer& to, bool success) {
        if (!there_ || !success) return;
        to.put(&value_.NumberOfHops, sizeof value_.NumberOfHops);
        to.put(&value_.NumAdAddrs, sizeof value_.NumAdAddrs);
        for (VIP_ULONG i = 0; i < value_.NumAdAddrs; ++i)
            to.put(value_.ADAddrArray[i], bytes_of(*value_.ADAddrArray[i]));
    }

private:
    bool there_;
    VIP_AUTODISCOVERY_LIST value_{};
};

// --- Calls.

template <auto Function, way... Ways, typename... P, std::size_t... I>
void call(slot& s, callbacks& handlers, VIP_RETURN (*)(P...), std::index_sequence<I...>) {
    unpacking u{s, handlers, payload_reader(s.payload)};
    // In braces, so that they are unpacked in their order.
    std::tuple<argument<Ways, P>...> arguments{argument<Ways, P>(u, I)...};
    const VIP_RETURN code = Function(std::get<I>(arguments).get()...);
    s.result = static_cast<std::uint64_t>(code);
    payload_writer to(s.payload);
    (std::get<I>(arguments).pack(to, code == VIP_SUCCESS), ...);
}

template <auto Function, way... Ways>
void call_entry(slot& s, callbacks& handlers, entry<Function, Ways...>) {
    call<Function, Ways...>(s, handlers, Function, std::make_index_sequence<sizeof...(Ways)>());
}

using server = void (*)(slot&, callbacks&);

template <typename... Entries>
constexpr std::array<server, sizeof...(Entries)> servers_of(list<Entries...>) {
    return {[](slot& s, callbacks& handlers) { call_entry(s, handlers, Entries{}); }...};
}
constexpr auto servers = servers_of(table{});

/// Of all threads of the program.
sim::picoseconds processor_time_of_program(host::process& self) {
    sim::picoseconds sum = 0;
    for (const auto& p : self.processor().processes())
        if (p->has_space() && &p->space() == &self.space()) sum += p->processor_time();
    return sum;
}

/// What programs ask of the operating system rather than of VIPL.
bool perform_system_call(slot& s) {
    host::process& self = program::current().self;
    switch (static_cast<request>(s.function)) {
        case request::read_clock:
            s.result = self.trap([&] { return self.now(); });
            return true;
        case request::read_cycles:
            self.compute(program::current().of.lib.poll_clocks);  // about what a look costs
            s.result = self.processor().clock().edge_at_or_after(self.now());
            return true;
        case request::read_processor_time:
            s.result = self.trap(
                [&] { return s.words[0] != 0 ? self.processor_time() : processor_time_of_program(self); });
            return true;
        case request::sleep_until:
            self.trap([&] { self.sleep_until(s.words[0]); });
            s.result = self.now();
            return true;
        default:
            return false;
    }
}

}  // namespace

bool perform(slot& asked, callbacks& handlers) {
    if (asked.function >= servers.size()) return perform_system_call(asked);
    servers[asked.function](asked, handlers);
    return true;
}

}  // namespace vinic::vipl::attach
