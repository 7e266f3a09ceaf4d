// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <sstream>

#include "hw/host/cpu.h"
#include "hw/sim/error.h"
#include "testbench/workloads/replayed_process.h"
#include "vipl/attach/functions.h"

namespace vinic::testbench {

namespace attach = vipl::attach;

namespace {

constexpr auto request_number = static_cast<std::uint32_t>(attach::number_of<&VipConnectRequest>());

/// Looks that come to what waiting of that kind comes to.
std::uint32_t look_of(std::uint32_t function) {
    using attach::number_of;
    if (function == number_of<&VipSendWait>()) return number_of<&VipSendDone>();
    if (function == number_of<&VipRecvWait>()) return number_of<&VipRecvDone>();
    if (function == number_of<&VipCQWait>()) return number_of<&VipCQDone>();
    return function;
}

bool waits(std::uint32_t function) { return look_of(function) != function; }

unsigned control_of(const std::string& text) {
    unsigned control = 0;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, '+');) {
        if (word == "rdma_write") control |= VIP_CONTROL_OP_RDMAWRITE;
        if (word == "rdma_read") control |= VIP_CONTROL_OP_RDMAREAD;
        if (word == "reserved") control |= VIP_CONTROL_OP_RESERVED;
        if (word == "immediate") control |= VIP_CONTROL_IMMEDIATE;
        if (word == "fence") control |= VIP_CONTROL_QFENCE;
        if (word.starts_with("0x")) control |= static_cast<unsigned>(std::stoul(word, nullptr, 16));
    }
    return control;
}

}  // namespace

replayed_thread::replayed_thread(replayed_process& of, const std::vector<call_trace::line>& lines)
    : of_(of),
      lines_(lines),
      runs_handlers_(std::ranges::any_of(lines, [](const auto& one) { return one.call() == "handler"; })),
      waits_("another thread, as the recorded program did") {}

// --- Order.

void replayed_thread::run(host::process& self) {
    begun_ = true;
    const std::size_t first = next_;
    while (next_ < lines_.size()) {
        const call_trace::line& one = lines_[next_];
        if (runs_handlers_ && next_ != first && one.call() == "handler") return;
        wait_for(one, self);
        ++next_;
        make(one, self);
        done_ = std::max<std::uint64_t>(done_, next_);
        of_.tell_all();
    }
}

bool replayed_thread::may_begin(const call_trace::line& one) const {
    return !one.text.contains("after") || of_.has_done(one.text["after"]);
}

void replayed_thread::wait_for(const call_trace::line& one, host::process& self) {
    while (!may_begin(one)) self.block(waits_);
    if (one.text.contains("gap_ps")) self.sleep_for(one.text["gap_ps"].get<sim::picoseconds>());
    if (one.text.contains("busy_ns"))
        self.compute(self.processor().from_ns(one.text["busy_ns"].get<std::uint64_t>()));
}

void replayed_thread::notice() {
    if (next_ == lines_.size() || !may_begin(lines_[next_])) return;
    waits_.wake_one();
    const bool is_further = next_ == 0 && !begun_ && !runs_handlers_ && lines_.front().text["thread"] != 0;
    if (!is_further) return;
    begun_ = true;
    of_.start(*this);
}

// --- Lines.

void replayed_thread::make(const call_trace::line& one, host::process& self) {
    const std::string call = one.call();
    if (const auto function = call_number(call)) return make_call(one, *function);
    if (call == "clock") clock_ps_ = self.trap([&] { return self.now(); });
    if (call == "counter") self.compute(vipl::program::current().of.lib.poll_clocks);
    if (call == "trap") self.trap([] {});
    if (call == "sleep") sleep(one, self);
    if (call == "spin") spin(one, self);
}

void replayed_thread::sleep(const call_trace::line& one, host::process& self) {
    const sim::picoseconds until = clock_ps_ + one.text["for_ps"].get<sim::picoseconds>();
    self.trap([&] { self.sleep_until(until); });
    clock_ps_ = self.now();
}

/// As the simulated processor does while a program's own loop is stopped (supervisor.cpp).
void replayed_thread::spin(const call_trace::line& one, host::process& self) {
    watched_word& word =
        of_.word(one.text["written"][0].get<std::uint64_t>(), one.text["written"][1].get<std::uint64_t>());
    const host::poll_point look{.key = ~std::uint64_t{of_.number},
                                .cost = vipl::program::current().of.lib.poll_clocks,
                                .watched = {}};
    bool written = word.take();
    while (!written) written = self.poll(look, [&] { return word.take(); });
}

void replayed_thread::make_call(const call_trace::line& one, std::uint32_t function) {
    if (polls(function) || waits(function)) return poll(one, function);
    if (function == request_number) return request_connection(one, function);
    const VIP_RETURN code = ask(one, function);
    if (!one.text.contains("result")) expect(one, code);
    if (code == VIP_SUCCESS && !one.text.contains("result")) take_made_object(one, function);
}

void replayed_thread::expect(const call_trace::line& one, VIP_RETURN code) const {
    if (code == VIP_SUCCESS) return;
    throw sim::input_error("{}: line {}: {} gives {} here, and succeeded when it was recorded",
                           of_.trace.file, one.number, one.call(), return_name(code));
}

/// Until what the program found is there: earlier or later than then.
void replayed_thread::poll(const call_trace::line& one, std::uint32_t function) {
    const parameter& what = call_forms()[function].parameters.front();
    const std::uint64_t key =
        one.text[what.key].is_null() ? ~std::uint64_t{0} : one.text[what.key].get<std::uint64_t>();
    std::uint64_t& early = found_early_[{look_of(function), key}];
    const std::string result = one.text.value("result", "");
    const bool in_vain = result == return_name(VIP_NOT_DONE) || result == return_name(VIP_TIMEOUT);
    if (in_vain) {
        for (std::uint64_t i = one.text.value("count", std::uint64_t{1}); i != 0; --i) {
            const VIP_RETURN code = ask(one, function);
            if (code == VIP_NOT_DONE || code == VIP_TIMEOUT) continue;
            ++early;
            return;
        }
    } else if (early != 0) {
        --early;
    } else if (one.text.contains("among")) {
        go_round(one);
    } else {
        for (VIP_RETURN code = VIP_NOT_DONE; code == VIP_NOT_DONE || code == VIP_TIMEOUT;)
            code = ask(one, function);
    }
}

void replayed_thread::go_round(const call_trace::line& one) {
    for (;;)
        for (const json& look : one.text["among"]) {
            const std::uint32_t function = *call_number(look[0].get<std::string>());
            const parameter& what = call_forms()[function].parameters.front();
            call_trace::line asked{one.number, {{"call", look[0]}, {what.key, look[1]}}};
            if (ask(asked, function) == VIP_NOT_DONE) continue;
            if (one.call() == look[0] && one.text[what.key] == look[1]) return;
            ++found_early_[{function, look[1].get<std::uint64_t>()}];
        }
}

/// A request that nobody waits for is made again, as the program made it again then; one that comes through
/// earlier than then is not.
void replayed_thread::request_connection(const call_trace::line& one, std::uint32_t function) {
    const VIP_RETURN code = ask(one, function);
    const bool came_through = !one.text.contains("result");
    if (code == VIP_NO_MATCH && came_through) {
        const auto before = other_request(one, false);
        next_ = before ? *before + 1 : next_ - 1;
    } else if (code == VIP_SUCCESS && one.text.value("result", "") == return_name(VIP_NO_MATCH)) {
        const auto later = other_request(one, true);
        if (later) next_ = *later + 1;
    } else if (came_through) {
        expect(one, code);
    }
}

/// Of the same VI: the one before, or the next that came through.
std::optional<std::size_t> replayed_thread::other_request(const call_trace::line& one, bool later) const {
    const auto index = static_cast<std::size_t>(&one - lines_.data());
    const auto is_one = [&](const call_trace::line& line) {
        return line.call() == one.call() && line.text["vi"] == one.text["vi"];
    };
    for (std::size_t i = index + 1; later && i < lines_.size(); ++i)
        if (is_one(lines_[i]) && !lines_[i].text.contains("result")) return i;
    for (std::size_t i = index; !later && i-- > 0;)
        if (is_one(lines_[i])) return i;
    return std::nullopt;
}

// --- Calls.

VIP_RETURN replayed_thread::ask(const call_trace::line& one, std::uint32_t function) {
    attach::payload_writer to(call_->payload);
    call_->function = function;
    const auto& parameters = call_forms()[function].parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) call_->words[i] = word_of(one, parameters[i], to);
    attach::perform(*call_, of_.handlers);
    return static_cast<VIP_RETURN>(call_->result);
}

std::uint64_t replayed_thread::word_of(const call_trace::line& one, const parameter& what,
                                       attach::payload_writer& to) {
    constexpr std::uint64_t somewhere = 1;  // a pointer whose target is in the payload
    const json& text = one.text;
    const auto given = text.find(what.key);
    const bool null = given != text.end() && given->is_null();
    const auto handle = [&](object kind, const json& number) -> std::uint64_t {
        return number.is_null() ? 0 : of_.objects.handle_of(kind, number.get<std::uint64_t>()).value_or(0);
    };
    switch (what.is) {
        case role::handle:
            return handle(what.of, *given);
        case role::number:
            return given->get<std::uint64_t>();
        case role::text: {
            if (null) return 0;
            const auto name = given->get<std::string>();
            to.put(name.c_str(), name.size() + 1);
            return somewhere;
        }
        case role::net_address: {
            if (null) return 0;
            const net_address_room room = net_address_from(*given);
            to.put(room.bytes.data(), attach::bytes_of(room.address));
            return somewhere;
        }
        case role::memory_attributes: {
            if (null) return 0;
            VIP_MEM_ATTRIBUTES a{};
            a.Ptag = reinterpret_cast<VIP_PROTECTION_HANDLE>(handle(object::tag, (*given)["tag"]));
            a.EnableRdmaWrite = given->value("rdma_write", false);
            a.EnableRdmaRead = given->value("rdma_read", false);
            to.put(&a, sizeof a);
            return somewhere;
        }
        case role::vi_attributes: {
            if (null) return 0;
            VIP_VI_ATTRIBUTES a{};
            a.Ptag = reinterpret_cast<VIP_PROTECTION_HANDLE>(handle(object::tag, (*given)["tag"]));
            a.EnableRdmaWrite = given->value("rdma_write", false);
            a.EnableRdmaRead = given->value("rdma_read", false);
            a.ReliabilityLevel = given->value("reliability", VIP_RELIABILITY_LEVEL{0});
            a.MaxTransferSize = given->value("transfer_bytes", VIP_ULONG{0});
            to.put(&a, sizeof a);
            return somewhere;
        }
        case role::memory: {
            constexpr std::uint64_t nowhere = host::page_bytes;
            if (null) return 0;
            if (text.contains("pages")) return of_.address_of_pages(one);
            const bool known =
                text.contains("region") && text["region"].is_number() && of_.has_region(text["region"]);
            return known ? of_.region_address(text["region"]) : nowhere;
        }
        case role::descriptor: {
            const json& at = (*given)["at"];
            if (at.is_null()) return 0;
            const host::virtual_address address = of_.region_address(at[0]) + at[1].get<std::uint64_t>();
            write_descriptor(*given, address);
            return address;
        }
        case role::handler:
            return given->get<bool>() ? somewhere : 0;
        case role::context:
            return 0;
        default:
            return null ? 0 : somewhere;
    }
}

/// As the program wrote it, without the data: no call depends on them.
void replayed_thread::write_descriptor(const json& what, host::virtual_address at) {
    const auto address_of = [](const replayed_process& of, const json& region, const json& offset) {
        return of.has_region(region) ? of.region_address(region) + offset.get<std::uint64_t>() : 0;
    };
    const auto handle_of = [](const replayed_process& of, const json& region) {
        return static_cast<VIP_MEM_HANDLE>(
            of.objects.handle_of(object::region, region).value_or(~VIP_MEM_HANDLE{0}));
    };
    std::vector<VIP_DESCRIPTOR_SEGMENT> segments;
    if (what.contains("remote")) {
        VIP_DESCRIPTOR_SEGMENT& one = segments.emplace_back();
        const json& remote = what["remote"];
        if (!remote.is_null()) {
            const replayed_process& peer = of_.other(remote[0]);
            one.Remote.Data.AddressBits = address_of(peer, remote[1], remote[2]);
            one.Remote.Handle = handle_of(peer, remote[1]);
        }
    }
    for (const json& place : what.value("segments", json::array())) {
        VIP_DESCRIPTOR_SEGMENT& one = segments.emplace_back();
        one.Local.Handle = ~VIP_MEM_HANDLE{0};
        if (place.is_null()) continue;
        one.Local.Data.AddressBits = address_of(of_, place[0], place[1]);
        one.Local.Handle = handle_of(of_, place[0]);
        one.Local.Length = place[2].get<VIP_UINT32>();
    }
    VIP_CONTROL_SEGMENT head{};
    head.SegCount = static_cast<VIP_UINT16>(segments.size());
    head.Control = static_cast<VIP_UINT16>(control_of(what.value("control", "")));
    head.ImmediateData = what.value("immediate", VIP_UINT32{0});
    head.Length = what.value("bytes", VIP_UINT32{0});
    auto* const place = reinterpret_cast<std::byte*>(at);
    std::memcpy(place, &head, sizeof head);
    std::memcpy(place + sizeof head, segments.data(), segments.size() * sizeof segments[0]);
}

void replayed_thread::take_made_object(const call_trace::line& one, std::uint32_t function) {
    attach::payload_reader from(call_->payload);
    const auto& parameters = call_forms()[function].parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (call_->words[i] == 0) continue;
        if (const auto handle = made_handle(parameters[i], from)) of_.objects.add(parameters[i].of, *handle);
        if (parameters[i].is == role::made && parameters[i].of == object::region) of_.add_region(one);
    }
}

}  // namespace vinic::testbench
