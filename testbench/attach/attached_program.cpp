// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/attached_program.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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
    for (std::size_t i = 0; i < attach::interval_timers; ++i) {
        constexpr int signals[attach::interval_timers] = {SIGALRM, SIGVTALRM, SIGPROF};
        timers[i].tells = attach::timer_tells::process;
        timers[i].signal = signals[i];
    }
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
    for (const program_timer& t : timers)
        if (t.file >= 0) close(t.file);
    munmap(region_, sizeof(attach::region));
    close(region_file_);
}

void attached_program::give_back(attach::slot& s) {
    s.turn = attach::phase::answered;
    attach::free_if_abandoned(s);
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
    std::ranges::sort(unknown, {}, [](const attach::slot* s) { return std::pair(s->thread, s->depth); });
    std::vector<caller*> fresh;
    for (attach::slot* const s : unknown) {
        const bool first = s->thread == process() && s->depth == 0 && !callers.front()->served;
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
    if (!attached || region_->counted == 0 || region_->forked != 0 || told_) return false;
    std::uint32_t asking = 0;
    for (const attach::slot& s : slots()) {
        if (s.turn == attach::phase::asking && s.depth == 0 && s.abandoned == 0) ++asking;
        if (s.turn == attach::phase::running || s.turn == attach::phase::answered) return false;
    }
    if (asking != region_->threads) return false;
    excused_.clear();
    return true;
}

/// A thread in handlers of signals has several slots: what it does now is at the deepest.
const attach::slot* attached_program::slot_of(pid_t thread) const {
    const attach::slot* deepest = nullptr;
    for (const attach::slot& s : slots()) {
        if (s.thread != thread || s.turn == attach::phase::free || s.turn == attach::phase::resting) continue;
        if (deepest == nullptr || s.depth > deepest->depth) deepest = &s;
    }
    return deepest;
}

bool attached_program::asks(pid_t thread) const {
    const attach::slot* const s = slot_of(thread);
    return s != nullptr && s->turn == attach::phase::asking;
}

caller* attached_program::caller_of(pid_t thread) const {
    const attach::slot* const s = slot_of(thread);
    const auto found = std::ranges::find_if(
        callers, [&](const auto& c) { return s != nullptr && c->channel == s && !c->gone; });
    if (found != callers.end()) return found->get();
    return thread == process() ? callers.front().get() : nullptr;
}

bool attached_program::stands(const thread_view& t) const {
    if ((asks(t.thread) && !told_) || excused_.contains(t.thread) || blocked(t)) return true;
    const caller* const c = caller_of(t.thread);
    return c && c->spin.holds();
}

bool attached_program::all_stand(thread_runs& seen) {
    if (ended) return true;
    for (const attach::slot& s : slots()) {
        // Under a handler an answer waits for its end.
        if (s.turn == attach::phase::answered && slot_of(s.thread) == &s) return false;
        if (s.turn == attach::phase::asking) excused_.erase(s.thread);
    }
    if (!machine) return true;
    std::vector<pid_t> all = descendants_of(process());
    all.push_back(process());
    for (const pid_t one : all)
        for (const thread_view& t : threads_of(one)) {
            if (!stands(t)) return false;
            if (!asks(t.thread) && !excused_.contains(t.thread)) seen.emplace_back(t.thread, t.slices);
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

bool attached_program::open_timer(const std::uint64_t (&words)[attach::words_of_call]) {
    if (words[0] < attach::interval_timers || words[0] >= attach::timers_max) return false;
    program_timer& t = timers[words[0]];
    if (t.file >= 0) close(t.file);
    t.file = -1;
    t.at = sim::never;
    t.overruns = 0;
    t.tells = static_cast<attach::timer_tells>(words[1]);
    t.signal = static_cast<int>(words[2]);
    t.value = words[3];
    t.thread = static_cast<pid_t>(words[4]);
    if (t.tells == attach::timer_tells::file) {
        t.file = machine->copy_of(static_cast<int>(words[2]));
        return t.file >= 0;
    }
    return t.tells == attach::timer_tells::nobody || (t.signal > 0 && t.signal <= SIGRTMAX);
}

void attached_program::clear(const program_timer& t) {
    pollfd has{.fd = t.file, .events = POLLIN, .revents = 0};
    eventfd_t count = 0;
    if (t.file >= 0 && poll(&has, 1, 0) == 1) eventfd_read(t.file, &count);
}

void attached_program::tell(program_timer& t) {
    constexpr int looks = 100;  // 10 ms: it may have blocked the signal
    if (t.tells == attach::timer_tells::nobody) return;
    if (t.tells == attach::timer_tells::file) {
        eventfd_write(t.file, 1);
        return;
    }
    const pid_t whom = t.tells == attach::timer_tells::thread ? t.thread : process();
    if (signal_pending(whom, t.signal)) {
        ++t.overruns;
        return;
    }
    t.overruns = 0;
    told_ = true;
    for (const auto& c : callers) c->spin.release();
    siginfo_t info{};
    info.si_signo = t.signal;
    info.si_code = SI_TIMER;
    info.si_value.sival_ptr = reinterpret_cast<void*>(t.value);
    if (whom == process())
        syscall(SYS_rt_sigqueueinfo, process(), t.signal, &info);
    else
        syscall(SYS_rt_tgsigqueueinfo, process(), whom, t.signal, &info);
    for (int i = 0; i < looks && signal_pending(whom, t.signal); ++i) usleep(100);
}

}  // namespace vinic::testbench
