// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/supervisor.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <new>

#include "hw/sim/error.h"
#include "vipl/attach/service.h"

namespace vinic::testbench {

namespace attach = vipl::attach;
using namespace std::chrono_literals;

namespace {

/// A program that the simulator does not hear of (it is killed, or blocks) is noticed after so long.
constexpr std::chrono::nanoseconds look_again = 1ms;
constexpr std::chrono::nanoseconds longest_rest = 10ms;
constexpr auto patience = 10s;

std::string socket_path() {
    return (std::filesystem::temp_directory_path() / fmt::format("vinic-{:07}.socket", getpid())).string();
}

bool has_several_processors() {
    cpu_set_t all;
    return sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) > 1;
}

}  // namespace

supervisor::supervisor(platform& on, std::vector<program_place> programs, std::chrono::milliseconds grace,
                       results& report)
    : platform_(on),
      places_(std::move(programs)),
      grace_(grace),
      report_(report),
      bell_file_(memfd_create("vinic doorbell", MFD_CLOEXEC)),
      looks_(has_several_processors() ? attach::looks_before_sleep : 0) {
    for (const program_place& one : places_) {
        find_program(one.command.words.front());
        if (one.node >= on.nodes().size())
            throw sim::input_error("no node {} for a program: there are {} (--nodes)", one.node,
                                   on.nodes().size());
    }
    if (bell_file_ < 0 || ftruncate(bell_file_, sizeof(attach::doorbell)) != 0) throw std::bad_alloc();
    void* const at =
        mmap(nullptr, sizeof(attach::doorbell), PROT_READ | PROT_WRITE, MAP_SHARED, bell_file_, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    bell_ = static_cast<attach::doorbell*>(at);
    listener_ = std::make_unique<listener>(socket_path());
    for (const program_place& one : places_) add_program(one);
}

supervisor::~supervisor() {
    for (const auto& p : programs_) {
        p->channel().closed = 1;
        if (p->ended || p->process == 0) continue;
        kill(p->process, SIGKILL);
        waitpid(p->process, nullptr, 0);
    }
    munmap(bell_, sizeof(attach::doorbell));
    close(bell_file_);
}

// --- Start and end.

void supervisor::add_program(const program_place& place) {
    const auto number = static_cast<unsigned>(programs_.size());
    const std::string file = std::filesystem::path(place.command.words.front()).filename().string();
    const std::string name = fmt::format("{} (process {})", file, number);
    host::memory& ram = platform_.nodes()[place.node]->host.memory;
    programs_.push_back(std::make_unique<attached_program>(number, place.node, name, ram));
    attached_program& p = *programs_.back();
    p.handlers = std::make_unique<attach::callbacks>(
        [this, &p](const auto& words, const VIP_ERROR_DESCRIPTOR* error) { run_handler(p, words, error); });
    platform_.start_program(place.node, name, p.memory, [this, &p](host::process& self) { serve(p, self); });
}

void supervisor::launch() {
    for (const auto& p : programs_) {
        program_command command = places_[p->number].command;
        command.environment.push_back(fmt::format("{}={}", attach::socket_variable, listener_->path()));
        command.environment.push_back(fmt::format("{}={:05}", attach::process_variable, p->number));
        command.environment.push_back(fmt::format("VINIC_NODE={:05}", p->node));
        p->process = testbench::launch(command, p->number == 0);
    }
}

int supervisor::exit_status() const {
    for (const auto& p : programs_)
        if (p->exit_status != 0) return p->exit_status;
    return 0;
}

void supervisor::reap() {
    for (const auto& p : programs_) {
        int status = 0;
        if (p->ended || p->process == 0 || waitpid(p->process, &status, WNOHANG) != p->process) continue;
        if (!WIFEXITED(status) && !WIFSIGNALED(status)) continue;
        p->ended = true;
        p->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        if (WIFSIGNALED(status))
            fmt::print(stderr, "vinic: {} was ended by signal {} ({})\n", p->name, WTERMSIG(status),
                       strsignal(WTERMSIG(status)));
    }
}

/// Programs that have just begun to use VIPL.
void supervisor::meet() {
    listener::caller who;
    while (listener_->accept(who)) {
        const auto index = static_cast<std::size_t>(who.said.process);
        if (who.said.process < 0 || index >= programs_.size()) {
            listener::refuse(who, fmt::format("the simulation has no process {}", who.said.process));
            continue;
        }
        attached_program& p = *programs_[index];
        if (p.attached) {
            listener::refuse(who,
                             fmt::format("{} uses VIPL already: a process that it made cannot, too", p.name));
            continue;
        }
        p.attached = true;
        listener::welcome(who, p.region_file(), bell_file_, p.memory.file());
    }
}

// --- The simulated side: each thread that calls has a simulated process.

void supervisor::serve(attached_program& p, host::process& self) {
    p.library = vipl::program::current().of.shared_from_this();
    settle();
    wake();
    serve_thread(p, *p.callers.front(), self);
    report_.add_row(sim::now(), p.number,
                    {{"process", p.number},
                     {"node", p.node},
                     {"program", places_[p.number].command.words.front()},
                     {"exit_status", p.exit_status},
                     {"unproven_advances", p.unproven_advances},
                     {"ended_us", static_cast<double>(sim::now()) / 1e6}});
}

void supervisor::serve_thread(attached_program& p, caller& c, host::process& self) {
    while (next_call(p, c, self)) {
        perform(p, c);
        answer(p, c);
    }
}

/// The thread's next call; until there is one, others have the processor. False when the thread has gone; the
/// first goes with the program.
bool supervisor::next_call(attached_program& p, caller& c, host::process& self) {
    const bool first = &c == p.callers.front().get();
    while (!p.ended && !c.asks()) {
        if (c.gone && !first) return false;
        if (c.spin.holds())
            spin(p, c, self);
        else
            self.block(c.outside);
    }
    c.served = !p.ended;
    return !p.ended;
}

/// The simulated processor goes round the loop, look by look, until something is written into the program's
/// memory.
void supervisor::spin(attached_program& p, caller& c, host::process& self) {
    c.self = &self;
    const host::poll_point look{
        .key = ~std::uint64_t{p.number}, .cost = vipl::program::current().of.lib.poll_clocks, .watched = {}};
    do {
        const sim::picoseconds since = sim::now();
        while (
            !self.poll(look, [&] { return p.ended || !c.spin.holds() || p.memory.changed_since(since); })) {
        }
    } while (!p.ended && c.spin.still());
    c.self = nullptr;
    settle();
    wake();
}

void supervisor::perform(attached_program& p, caller& c) {
    attach::slot& s = *c.channel;
    if (s.function == static_cast<std::uint32_t>(attach::request::share_pages))
        p.memory.share(s.words[0], s.words[1], s.words[2]);
    else if (!attach::perform(s, *p.handlers))
        s.result = VIP_ERROR_NOT_SUPPORTED;
}

/// The thread goes on, and time with it when it has come to its next call.
void supervisor::answer(attached_program& p, caller& c) {
    c.served = false;
    attached_program::give_back(*c.channel);
    if (somebody_elsewhere_ || !wait_briefly(c) || !p.all_ask()) settle();
    wake();
}

/// On the library's thread for handlers: the program's own runs the handler, and may call meanwhile.
void supervisor::run_handler(attached_program& p, const std::uint64_t (&words)[attach::words_of_call],
                             const VIP_ERROR_DESCRIPTOR* error) {
    if (p.ended || p.for_handlers == nullptr) return;
    host::process& self = vipl::program::current().self;
    caller& c = *p.for_handlers;
    std::copy(std::begin(words), std::end(words), std::begin(c.channel->words));
    if (error) std::memcpy(c.channel->payload, error, sizeof *error);
    answer(p, c);
    while (next_call(p, c, self)) {
        if (c.channel->function == static_cast<std::uint32_t>(attach::request::next_callback)) return;
        perform(p, c);
        answer(p, c);
    }
}

/// A program that ended in the middle of a call: its kernel closes what it has left open, which ends the
/// call.
void supervisor::close_after(attached_program& p) {
    platform_.nodes()[p.node]->host.cpu.spawn(
        p.name + ".exit", nullptr, [library = p.library](host::process& on) { library->exit(on); });
}

// --- What happens outside.

bool supervisor::wake() {
    bool any = false;
    for (const auto& p : programs_) any = wake(*p) || any;
    return any;
}

bool supervisor::wake(attached_program& p) {
    bool any = false;
    if (!p.ended)
        for (caller* fresh : p.find_callers()) {
            any = true;
            platform_.watch(platform_.nodes()[p.node]->host.cpu.spawn(
                fmt::format("{} thread {}", p.name, p.callers.size() - 1), &p.memory,
                [this, &p, fresh](host::process& self) {
                    const vipl::program::scope mine(*p.library, self);
                    serve_thread(p, *fresh, self);
                }));
        }
    if (p.ended && !p.closed) {
        p.closed = any = true;
        if (p.library && std::ranges::any_of(p.callers, [](const auto& c) { return c->served; }))
            close_after(p);
    }
    for (const auto& c : p.callers)
        if (p.ended && c->self) c->self->disturb();
    for (const auto& c : p.callers)
        if (p.ended || c->gone || c->asks()) any = c->outside.wake_one() || any;
    return any;
}

/// The usual case: one thread goes on and asks again, soon.
bool supervisor::wait_briefly(const caller& c) {
    for (int i = 0; i < looks_; ++i) {
        if (c.channel->turn == attach::phase::asking) return true;
        attach::relax();
    }
    const std::uint32_t rings = bell_->rings;
    bell_->asleep = 1;
    if (c.channel->turn != attach::phase::asking)
        attach::futex_wait(&bell_->rings, rings, look_again.count());
    bell_->asleep = 0;
    return c.channel->turn == attach::phase::asking;
}

/// Twice, because one thread may have woken another behind our back; one that has run meanwhile shows.
bool supervisor::all_stand() {
    meet();
    reap();
    if (std::ranges::all_of(programs_, [](const auto& p) { return p->all_ask(); })) {
        somebody_elsewhere_ = false;
        return true;
    }
    std::uint64_t seen[2] = {};
    for (std::uint64_t& sum : seen) {
        if (!std::ranges::all_of(programs_, [&](const auto& p) { return p->all_stand(sum); })) return false;
        meet();
    }
    somebody_elsewhere_ = true;
    return seen[0] == seen[1];
}

void supervisor::settle() {
    const auto since = clock::now();
    std::chrono::nanoseconds rest = look_again / 16;
    for (const auto& p : programs_) p->expect_calls();
    for (;;) {
        const std::uint32_t rings = bell_->rings;
        bell_->asleep = 1;
        if (all_stand()) break;
        attach::futex_wait(&bell_->rings, rings, rest.count());
        bell_->asleep = 0;
        rest = std::min(2 * rest, look_again);
        if (interrupt_guard::raised()) throw interrupted(fmt::format("interrupted at {} ps", sim::now()));
        complain(since);
        if (rest == look_again)
            for (const auto& p : programs_) judge(*p);
    }
    bell_->asleep = 0;
}

void supervisor::judge(attached_program& p) {
    const bool proven = p.unproven_advances == 0;
    if (!p.ended) p.judge_running_threads(grace_);
    if (proven && p.unproven_advances != 0)
        fmt::print(stderr,
                   "vinic: {} runs without a call for longer than --grace: time goes on, and this run is not "
                   "reproducible\n",
                   p.name);
}

void supervisor::complain(clock::time_point since) {
    if (complained_ || clock::now() - since < patience) return;
    complained_ = true;
    for (const auto& p : programs_) {
        std::uint64_t seen = 0;
        if (!p->all_stand(seen))
            fmt::print(stderr, "vinic: waiting for {}, which runs (or is stopped) and calls nothing\n",
                       p->name);
    }
}

bool supervisor::look_outside(bool wait) {
    reap();
    if (somebody_elsewhere_ || wait) settle();
    bool any = wake();
    if (!wait) return any;
    for (const auto since = clock::now(); !any; any = wake()) {
        if (!somebody_elsewhere_) return false;
        if (interrupt_guard::raised()) return true;  // the runner sees it
        if (!complained_ && clock::now() - since > patience) {
            complained_ = true;
            fmt::print(stderr, "vinic: all programs wait for each other, or for something outside\n");
        }
        usleep(static_cast<useconds_t>(longest_rest / 1us));
        settle();
    }
    return true;
}

}  // namespace vinic::testbench
