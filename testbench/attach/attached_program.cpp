// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/attached_program.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <new>

#include "hw/sim/error.h"

namespace vinic::testbench {

namespace attach = vipl::attach;

namespace {

int shared_file(const char* name, std::uint64_t bytes) {
    const int file = memfd_create(name, MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0)
        throw sim::input_error("cannot make memory to share with programs");
    return file;
}

/// As people are told of it.
std::string label_of(const std::string& command, unsigned number) {
    if (command.empty()) return fmt::format("process {}", number);
    return fmt::format("{} (process {})", std::filesystem::path(command).filename().string(), number);
}

}  // namespace

attached_program::attached_program(unsigned index, unsigned on, std::string file, host::memory& ram)
    : number(index),
      node(on),
      command(std::move(file)),
      name(label_of(command, number)),
      memory(ram, shared_file("vinic window", attach::window_bytes)),
      region_file_(shared_file("vinic region", sizeof(attach::region))) {
    void* const at =
        mmap(nullptr, sizeof(attach::region), PROT_READ | PROT_WRITE, MAP_SHARED, region_file_, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    region_ = static_cast<attach::region*>(at);
    region_->magic = attach::magic;
    region_->version = attach::protocol_version;
    region_->simulator = getpid();
    add_caller();
}

caller& attached_program::add_caller() {
    caller& made =
        *callers.emplace_back(std::make_unique<caller>(callers.empty() ? name : "a thread of " + name));
    made.record.process = number;
    made.record.thread = static_cast<unsigned>(callers.size() - 1);
    return made;
}

/// Threads that still wait for an answer are told that there will be none.
attached_program::~attached_program() {
    region_->closed = 1;
    for (attach::slot& s : region_->slots)
        if (s.asleep != 0) attach::futex_wake(&s.turn);
    munmap(region_, sizeof(attach::region));
    close(region_file_);
}

void attached_program::give_back(attach::slot& s) {
    s.turn = attach::phase::answered;
    if (s.asleep != 0) attach::futex_wake(&s.turn);
}

/// A slot may have passed from one thread to another.
void attached_program::end_callers_without_slot() {
    for (const auto& c : callers)
        if (c->channel && (c->channel->turn == attach::phase::free || c->channel->thread != c->thread)) {
            c->gone = true;
            if (for_handlers == c.get()) for_handlers = nullptr;
        }
}

std::vector<caller*> attached_program::find_callers() {
    end_callers_without_slot();
    std::vector<attach::slot*> unknown;
    for (attach::slot& s : slots())
        if (s.turn == attach::phase::asking &&
            std::ranges::none_of(callers, [&](const auto& c) { return c->channel == &s && !c->gone; }))
            unknown.push_back(&s);
    // Which slot a thread got is chance.
    std::ranges::sort(unknown, {}, &attach::slot::thread);
    std::vector<caller*> fresh;
    for (attach::slot* const s : unknown) {
        const bool first = s->thread == process();
        caller* const who = first ? callers.front().get() : &add_caller();
        who->channel = s;
        who->thread = s->thread;
        if (s->function == static_cast<std::uint32_t>(attach::request::next_callback)) {
            who->served = true;
            for_handlers = who;
        } else if (!first) {
            fresh.push_back(who);
        }
    }
    return fresh;
}

bool attached_program::all_ask() {
    if (ended) return true;
    if (!attached || region_->counted == 0 || region_->forked != 0) return false;
    std::uint32_t asking = 0;
    for (const attach::slot& s : slots()) {
        if (s.turn == attach::phase::asking) ++asking;
        if (s.turn == attach::phase::running || s.turn == attach::phase::answered) return false;
    }
    if (asking != region_->threads) return false;
    excused_.clear();
    return true;
}

bool attached_program::asks(pid_t thread) const {
    return std::ranges::any_of(slots(), [&](const attach::slot& s) {
        return s.turn == attach::phase::asking && s.thread == thread;
    });
}

caller* attached_program::caller_of(pid_t thread) const {
    if (thread == process()) return callers.front().get();
    const auto found =
        std::ranges::find_if(callers, [&](const auto& c) { return c->thread == thread && !c->gone; });
    return found == callers.end() ? nullptr : found->get();
}

bool attached_program::stands(const thread_view& t) const {
    if (asks(t.thread) || excused_.contains(t.thread) || blocked(t)) return true;
    const caller* const c = caller_of(t.thread);
    return c && c->spin.holds();
}

bool attached_program::all_stand(std::uint64_t& seen) {
    if (ended) return true;
    for (const attach::slot& s : slots()) {
        if (s.turn == attach::phase::answered) return false;
        if (s.turn == attach::phase::asking) excused_.erase(s.thread);
    }
    if (!machine) return true;
    std::vector<pid_t> all{process()};
    if (region_->forked != 0 || !attached)
        for (const pid_t child : descendants_of(process())) all.push_back(child);
    for (const pid_t one : all)
        for (const thread_view& t : threads_of(one)) {
            if (!stands(t)) return false;
            if (!asks(t.thread) && !excused_.contains(t.thread)) seen += t.slices;
        }
    return true;
}

void attached_program::judge_running_threads(std::chrono::nanoseconds grace) {
    constexpr std::uint64_t first_proof_ns = 1'000'000;
    for (const thread_view& t : threads_of(process())) {
        if (stands(t)) continue;
        const auto [at, is_new] = running_.try_emplace(t.thread, effort{t.run_ns, t.run_ns + first_proof_ns});
        const std::uint64_t ran = t.run_ns - at->second.begin;
        if (is_new) continue;
        caller* const c = caller_of(t.thread);
        if (t.state == 'R' && t.run_ns >= at->second.next_proof && c) {
            at->second.next_proof = t.run_ns + ran;
            c->others_write = region_->threads > 1 || shares_memory(process());
            if (c->spin.prove(t.thread)) continue;
        }
        if (ran < static_cast<std::uint64_t>(grace.count())) continue;
        excused_.insert(t.thread);
        ++unproven_advances;
    }
}

bool attached_program::release_spins() {
    bool any = false;
    for (const auto& c : callers) any = (c->spin.holds() && c->others_write && !c->spin.still()) || any;
    return any;
}

void attached_program::send(int signal) {
    constexpr int looks = 100;  // 10 ms: it may have blocked the signal
    for (const auto& c : callers) c->spin.release();
    kill(process(), signal);
    for (int i = 0; i < looks && signal_pending(process(), signal); ++i) usleep(100);
}

}  // namespace vinic::testbench
