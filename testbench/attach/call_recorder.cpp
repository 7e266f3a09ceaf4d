// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/call_recorder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <span>

#include "vipl/attach/functions.h"

namespace vinic::testbench {

namespace attach = vipl::attach;

namespace {

bool is(const attach::slot& call, attach::request what) {
    return call.function == static_cast<std::uint32_t>(what);
}

const call_form& form_of(std::uint32_t function) { return call_forms()[function]; }

json or_null(std::optional<unsigned> number) { return number ? json(*number) : json(); }

std::string control_text(unsigned control) {
    static const std::array<const char*, 4> operations{"send", "rdma_write", "rdma_read", "reserved"};
    std::string text = operations[control & VIP_CONTROL_OP_MASK];
    if (control & VIP_CONTROL_IMMEDIATE) text += "+immediate";
    if (control & VIP_CONTROL_QFENCE) text += "+fence";
    if (control & VIP_CONTROL_RESERVED) text += fmt::format("+{:#x}", control & VIP_CONTROL_RESERVED);
    return text;
}

json attributes_json(const object_numbers& objects, VIP_PROTECTION_HANDLE tag, VIP_BOOLEAN write,
                     VIP_BOOLEAN read) {
    return {{"tag", or_null(objects.number_of(object::tag, reinterpret_cast<std::uintptr_t>(tag)))},
            {"rdma_write", write != VIP_FALSE},
            {"rdma_read", read != VIP_FALSE}};
}

template <typename T>
T take(attach::payload_reader& from) {
    T value{};
    from.get(&value, sizeof value);
    return value;
}

std::string take_text(attach::payload_reader& from) {
    std::string text;
    for (char c = 0; text.size() < attach::name_bytes_max && (from.get(&c, 1), c != 0);) text += c;
    return text;
}

}  // namespace

void call_recorder::add_process(unsigned node, const std::string& program) {
    processes_.push_back({.node = node, .program = std::filesystem::path(program).filename().string()});
}

// --- Lines.

json call_recorder::start_line(const recorded_thread& by, sim::picoseconds at) const {
    json line{{"at_ps", at}, {"process", by.process}, {"thread", by.thread}, {"n", by.lines}};
    if (by.waited && by.released_by)
        line["after"] = {by.released_by->process, by.released_by->thread, by.released_by->n};
    else if (by.waited && at > by.free_at)
        line["gap_ps"] = at - by.free_at;
    if (by.busy_ns != 0) line["busy_ns"] = by.busy_ns;
    return line;
}

void call_recorder::put(recorded_thread& by, sim::picoseconds at, const json& line) {
    lines_.push_back({at, by.process, by.thread, line.dump(-1, ' ', false, json::error_handler_t::replace)});
    ++by.lines;
    by.waited = false;
    by.released_by.reset();
    by.busy_ns = 0;
}

void call_recorder::put_vain_polls(recorded_thread& by) {
    for (const auto& [function, handle, count] : std::exchange(by.in_vain, {})) {
        const auto& what = form_of(function).parameters.front();
        json line = start_line(by, by.free_at);
        line["call"] = form_of(function).name;
        line[what.key] = or_null(processes_[by.process].objects.number_of(what.of, handle));
        line["result"] = return_name(VIP_NOT_DONE);
        line["count"] = count;
        put(by, by.free_at, line);
    }
}

/// A look that found nothing waits for what follows.
bool call_recorder::noted_as_poll(recorded_thread& by, const attach::slot& call) {
    if (!polls(call.function) || call.result != VIP_NOT_DONE) return false;
    const auto known = std::ranges::find_if(by.in_vain, [&](const auto& poll) {
        return poll.function == call.function && poll.handle == call.words[0];
    });
    if (known != by.in_vain.end())
        ++known->count;
    else
        by.in_vain.push_back({call.function, call.words[0], 1});
    return true;
}

void call_recorder::begins(recorded_thread& by, const attach::slot& call, vipl::program& of) {
    processes_[by.process].library = &of;
    by.line = start_line(by, sim::now());
    if (call.function < call_forms().size()) {
        by.line["call"] = form_of(call.function).name;
        add_parameters(by, call, of);
    }
}

void call_recorder::ends(recorded_thread& by, const attach::slot& call, vipl::program&) {
    const sim::picoseconds began = by.line["at_ps"].get<sim::picoseconds>();
    const bool of_vipl = call.function < call_forms().size();
    const bool clock = is(call, attach::request::read_clock);
    const bool counter = is(call, attach::request::read_cycles);
    const bool trap = is(call, attach::request::limit_wait) || is(call, attach::request::set_timer) ||
                      is(call, attach::request::open_timer) || is(call, attach::request::read_processor_time);
    if (!of_vipl && !clock && !counter && !trap && !is(call, attach::request::sleep_until)) return;
    if (of_vipl && noted_as_poll(by, call)) {
        by.free_at = sim::now();
        return;
    }
    if (of_vipl && polls(call.function)) {
        add_round(by, call);
    } else {
        put_vain_polls(by);
        by.line["n"] = by.lines;
    }
    if (of_vipl) {
        if (call.result != VIP_SUCCESS) by.line["result"] = return_name(static_cast<VIP_RETURN>(call.result));
        if (call.result == VIP_SUCCESS) add_made_object(processes_[by.process], call, by.line);
    } else if (trap || counter) {
        by.line["call"] = trap ? "trap" : "counter";
    } else if (clock) {
        by.line["call"] = "clock";
        by.clock_ps = call.result;
    } else {
        by.line["call"] = "sleep";
        by.line["for_ps"] = call.words[0] - std::min(call.words[0], by.clock_ps);
        by.clock_ps = call.result;
    }
    put(by, began, by.line);
    by.free_at = sim::now();
}

/// The looks of a loop that goes round several queues, in their order.
void call_recorder::add_round(recorded_thread& by, const attach::slot& call) {
    const auto is_this = [&](const recorded_thread::poll& poll) {
        return poll.function == call.function && poll.handle == call.words[0];
    };
    auto round = std::exchange(by.in_vain, {});
    if (std::ranges::all_of(round, is_this)) return;
    if (std::ranges::none_of(round, is_this)) round.push_back({call.function, call.words[0], 1});
    for (const auto& poll : round) {
        const auto& what = form_of(poll.function).parameters.front();
        by.line["among"].push_back({form_of(poll.function).name,
                                    or_null(processes_[by.process].objects.number_of(what.of, poll.handle))});
    }
}

void call_recorder::answered(const recorded_thread& by) {
    if (by.lines == 0) return;
    answered_ = {by.process, by.thread, by.lines - 1};
    answered_at_ = sim::now();
}

void call_recorder::released(recorded_thread& one) const {
    one.waited = true;
    const bool by_other = answered_ && answered_at_ == sim::now() &&
                          (answered_->process != one.process || answered_->thread != one.thread);
    if (by_other) one.released_by = answered_;
}

void call_recorder::spun(recorded_thread& by, sim::picoseconds since, host::virtual_address end) {
    const recorded_process& in = processes_[by.process];
    constexpr std::uint64_t word = 4;
    for (std::size_t i = 0; i < in.regions.size(); ++i) {
        const area& one = in.regions[i];
        if (end < one.begin + word || end > one.begin + one.bytes) continue;
        put_vain_polls(by);
        json line = start_line(by, since);
        line["call"] = "spin";
        line["written"] = {i, end - word - one.begin};
        put(by, since, line);
        by.free_at = sim::now();
        return;
    }
}

void call_recorder::handler_begins(recorded_thread& by, attach::callback_kind kind) {
    json line = start_line(by, sim::now());
    line["call"] = "handler";
    line["of"] = kind == attach::callback_kind::error        ? "errors"
                 : kind == attach::callback_kind::work_queue ? "work queue"
                                                             : "completion queue";
    put(by, sim::now(), line);
}

void call_recorder::exits(recorded_thread& by) {
    put_vain_polls(by);
    json line = start_line(by, sim::now());
    line["call"] = "exit";
    put(by, sim::now(), line);
    processes_[by.process].ended = sim::now();
}

std::string call_recorder::text() const {
    json head{{"format", "vinic calls 1"}, {"design", design_}, {"processes", json::array()}};
    for (const recorded_process& one : processes_)
        head["processes"].push_back({{"node", one.node}, {"program", one.program}, {"ended_ps", one.ended}});
    std::string all = head.dump() + "\n";
    std::vector<const written_line*> order;
    for (const written_line& one : lines_) order.push_back(&one);
    std::ranges::stable_sort(
        order, {}, [](const written_line* one) { return std::tuple(one->at, one->process, one->thread); });
    for (const written_line* one : order) all += one->text + "\n";
    return all;
}

// --- Parameters.

/// "process, region, offset" or "region, offset" of what is registered, else null.
json call_recorder::place_of(const recorded_process& in, std::uint64_t handle,
                             host::virtual_address address) const {
    const auto number = in.objects.number_of(object::region, handle);
    if (!number) return {};
    const area& one = in.regions[*number];
    if (address < one.begin || address > one.begin + one.bytes) return {};
    return {*number, address - one.begin};
}

json call_recorder::remote_place_of(std::uint64_t vi, const VIP_ADDRESS_SEGMENT& remote,
                                    const vipl::program& of) const {
    const auto ours = of.vis.find(reinterpret_cast<VIP_PVOID>(vi));
    if (!ours) return {};
    const driver::connection& link = ours->kernel->link;
    for (std::size_t i = 0; i < processes_.size(); ++i) {
        const vipl::program* const other = processes_[i].library;
        if (!other) continue;
        for (const VIP_PVOID handle : other->vis.all()) {
            const auto theirs = other->vis.find(handle);
            if (theirs->nic->address != link.peer || theirs->kernel->index != link.peer_vi) continue;
            json place = place_of(processes_[i], remote.Handle, remote.Data.AddressBits);
            if (place.is_array()) place.insert(place.begin(), i);
            return place;
        }
    }
    return {};
}

json call_recorder::descriptor_of(recorded_process& by, const attach::slot& call, vipl::program& of) {
    const host::virtual_address at = call.words[1];
    json all{{"at", place_of(by, call.words[2], at)}};
    if (!of.memory.valid(at, sizeof(VIP_CONTROL_SEGMENT))) return all;
    VIP_CONTROL_SEGMENT head{};
    of.memory.read(at, std::as_writable_bytes(std::span(&head, 1)));
    all["control"] = control_text(head.Control);
    if (head.Control & VIP_CONTROL_IMMEDIATE) all["immediate"] = head.ImmediateData;
    all["bytes"] = head.Length;
    const host::virtual_address first = at + sizeof head;
    if (!of.memory.valid(first, head.SegCount * sizeof(VIP_DESCRIPTOR_SEGMENT))) return all;
    std::vector<VIP_DESCRIPTOR_SEGMENT> segments(head.SegCount);
    of.memory.read(first, std::as_writable_bytes(std::span(segments)));
    const unsigned operation = head.Control & VIP_CONTROL_OP_MASK;
    const bool remote = operation == VIP_CONTROL_OP_RDMAWRITE || operation == VIP_CONTROL_OP_RDMAREAD;
    all["segments"] = json::array();
    for (std::size_t i = 0; i < segments.size(); ++i) {
        if (i == 0 && remote) {
            all["remote"] = remote_place_of(call.words[0], segments[0].Remote, of);
            continue;
        }
        const VIP_DATA_SEGMENT& one = segments[i].Local;
        json place = place_of(by, one.Handle, one.Data.AddressBits);
        if (place.is_array()) place.push_back(one.Length);
        all["segments"].push_back(place);
    }
    return all;
}

/// Runs of numbers: first, and how many.
json call_recorder::pages_of(recorded_process& in, const area& of) {
    json runs = json::array();
    const std::uint64_t last = (of.begin + std::max<std::uint64_t>(of.bytes, 1) - 1) / host::page_bytes;
    for (std::uint64_t page = of.begin / host::page_bytes; page <= last; ++page) {
        const std::uint64_t number = in.pages.try_emplace(page, in.pages.size()).first->second;
        if (!runs.empty() &&
            runs.back()[0].get<std::uint64_t>() + runs.back()[1].get<std::uint64_t>() == number)
            runs.back()[1] = runs.back()[1].get<std::uint64_t>() + 1;
        else
            runs.push_back({number, 1});
    }
    return runs;
}

void call_recorder::add_parameters(recorded_thread& by, const attach::slot& call, vipl::program& of) {
    recorded_process& in = processes_[by.process];
    attach::payload_reader payload(call.payload);
    const auto& parameters = form_of(call.function).parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const auto& [key, is, kind] = parameters[i];
        const std::uint64_t word = call.words[i];
        switch (is) {
            case role::handle:
                by.line[key] = or_null(in.objects.number_of(kind, word));
                break;
            case role::number:
                by.line[key] = word;
                break;
            case role::text:
                by.line[key] = word ? json(take_text(payload)) : json();
                break;
            case role::net_address:
                by.line[key] = word ? to_json(take_net_address(payload).address) : json();
                break;
            case role::memory_attributes: {
                by.line[key] = nullptr;
                if (!word) break;
                const auto a = take<VIP_MEM_ATTRIBUTES>(payload);
                by.line[key] = attributes_json(in.objects, a.Ptag, a.EnableRdmaWrite, a.EnableRdmaRead);
                break;
            }
            case role::vi_attributes: {
                by.line[key] = nullptr;
                if (!word) break;
                const auto a = take<VIP_VI_ATTRIBUTES>(payload);
                by.line[key] = attributes_json(in.objects, a.Ptag, a.EnableRdmaWrite, a.EnableRdmaRead);
                by.line[key]["reliability"] = a.ReliabilityLevel;
                by.line[key]["transfer_bytes"] = a.MaxTransferSize;
                break;
            }
            case role::memory:  // where it is, is said when it has been registered
                if (word == 0) by.line[key] = nullptr;
                break;
            case role::descriptor:
                by.line[key] = descriptor_of(in, call, of);
                break;
            case role::handler:
                by.line[key] = word != 0;
                break;
            case role::context:
                break;
            case role::made:
            case role::address_result:
            case role::attributes_result:
            case role::result:
                if (word == 0) by.line[key] = nullptr;
                break;
        }
    }
}

void call_recorder::add_made_object(recorded_process& in, const attach::slot& call, json& line) {
    attach::payload_reader payload(call.payload);
    const auto& parameters = form_of(call.function).parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (call.words[i] == 0) continue;
        const auto handle = made_handle(parameters[i], payload);
        if (!handle) continue;
        line[parameters[i].key] = in.objects.add(parameters[i].of, *handle);
        if (parameters[i].of != object::region) continue;
        const area made{call.words[1], call.words[2]};
        in.regions.push_back(made);
        line["pages"] = pages_of(in, made);
        line["offset"] = made.begin & host::page_mask;
    }
}

}  // namespace vinic::testbench
