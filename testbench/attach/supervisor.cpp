// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/supervisor.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>

#include "hw/sim/error.h"
#include "vipl/attach/service.h"

namespace vinic::testbench {

namespace attach = vipl::attach;

namespace {

std::string socket_path() {
    return (std::filesystem::temp_directory_path() / fmt::format("vinic-{:07}.socket", getpid())).string();
}

/// The latest write of the card's that the processors of a node have seen, while it lives.
class write_watch : host::memory_watcher {
public:
    explicit write_watch(window_memory& of) : of_(of) {
        of_.ram().watch_pages_of(static_cast<const host::user_memory*>(&of_), *this);
    }
    ~write_watch() override { of_.ram().unwatch(*this); }
    /// Behind its last byte; zero if there was none.
    host::virtual_address end_of_last() const {
        for (auto one = writes_.rbegin(); one != writes_.rend(); ++one)
            if (one->first <= sim::now()) return of_.address_of(one->second - 1) + 1;
        return 0;
    }

private:
    void changes_at(sim::picoseconds at, const host::physical_range& where) override {
        writes_.emplace_back(at, where.begin + where.bytes);
    }

    window_memory& of_;
    std::vector<std::pair<sim::picoseconds, host::physical_address>> writes_;
};

bool has_several_processors() {
    cpu_set_t all;
    return sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) > 1;
}

}  // namespace

supervisor::supervisor(platform& on, attach_plan plan, const attach_timing& timing, results& report,
                       call_recorder* recorder)
    : platform_(on),
      plan_(std::move(plan)),
      timing_(timing),
      report_(report),
      recorder_(recorder),
      bell_file_(memfd_create("vinic doorbell", MFD_CLOEXEC)),
      looks_(has_several_processors() ? attach::looks_before_sleep : 0) {
    if (plan_.launcher) find_program(plan_.launcher->words.front());
    for (const program_place& one : plan_.programs) {
        if (one.command) find_program(one.command->words.front());
        if (one.node >= on.nodes().size())
            throw sim::input_error("no node {} for a program: there are {} (--nodes)", one.node,
                                   on.nodes().size());
    }
    if (bell_file_ < 0 || ftruncate(bell_file_, sizeof(attach::doorbell)) != 0) throw std::bad_alloc();
    void* const at =
        mmap(nullptr, sizeof(attach::doorbell), PROT_READ | PROT_WRITE, MAP_SHARED, bell_file_, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    bell_ = static_cast<attach::doorbell*>(at);
    listener_ = std::make_unique<listener>(plan_.socket.empty() ? socket_path() : plan_.socket);
    for (const program_place& one : plan_.programs) add_program(one);
}

supervisor::~supervisor() {
    for (const auto& p : programs_) p->channel().closed = 1;
    munmap(bell_, sizeof(attach::doorbell));
    close(bell_file_);
}

// --- Start and end.

void supervisor::add_program(const program_place& place) {
    const auto number = static_cast<unsigned>(programs_.size());
    host::memory& ram = platform_.nodes()[place.node]->host.memory;
    programs_.push_back(std::make_unique<attached_program>(
        number, place.node, place.command ? place.command->words.front() : "", ram));
    attached_program& p = *programs_.back();
    if (recorder_) recorder_->add_process(place.node, p.command);
    p.channel().measures = timing_.cpu_scale != 0 ? 1 : 0;
    p.handlers = std::make_unique<attach::callbacks>(
        [this, &p](const auto& words, const VIP_ERROR_DESCRIPTOR* error) { run_handler(p, words, error); });
    platform_.start_program(place.node, p.name, p.memory,
                            [this, &p](host::process& self) { serve(p, self); });
}

int supervisor::exit_status() {
    while (launcher_ && !launcher_->ended()) {
        if (interrupt_guard::raised()) throw interrupted("interrupted while the launcher ends");
        usleep(10'000);
    }
    if (launcher_) return launcher_->exit_status();
    for (const auto& p : programs_)
        if (p->machine && p->machine->exit_status() != 0) return p->machine->exit_status();
    return 0;
}

// --- The simulated side: each thread that calls has a simulated process.

void supervisor::serve(attached_program& p, host::process& self) {
    p.library = vipl::program::current().of.shared_from_this();
    settle();
    wake();
    serve_thread(p, *p.callers.front(), self);
    if (recorder_) recorder_->exits(p.callers.front()->record);
    report_.add_row(
        sim::now(), p.number,
        {{"process", p.number},
         {"node", p.node},
         {"program", p.command},
         {"exit_status", p.machine && p.machine->ours() ? json(p.machine->exit_status()) : json()},
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
        else if (!self.block(c.outside, c.limit))
            expire(p, c);
    }
    c.limit = sim::never;
    c.served = !p.ended;
    if (c.served && timing_.cpu_scale != 0) charge(c, self);
    return !p.ended;
}

/// What the thread was measured to do between its calls.
void supervisor::charge(caller& c, host::process& self) {
    const double ns = static_cast<double>(c.channel->ran_ns) * timing_.cpu_scale;
    c.record.busy_ns = static_cast<std::uint64_t>(ns);
    self.compute(self.processor().from_ns(c.record.busy_ns));
}

/// The simulated processor goes round the loop, look by look, until something is written into the program's
/// memory.
void supervisor::spin(attached_program& p, caller& c, host::process& self) {
    c.self = &self;
    const host::poll_point look{
        .key = ~std::uint64_t{p.number}, .cost = vipl::program::current().of.lib.poll_clocks, .watched = {}};
    const sim::picoseconds begun = sim::now();
    const auto watch = recorder_ ? std::make_unique<write_watch>(p.memory) : nullptr;
    do {
        const sim::picoseconds since = sim::now();
        while (
            !self.poll(look, [&] { return p.ended || !c.spin.holds() || p.memory.changed_since(since); })) {
        }
    } while (!p.ended && c.spin.still());
    c.self = nullptr;
    if (const host::virtual_address end = watch ? watch->end_of_last() : 0)
        recorder_->spun(c.record, begun, end);
    settle();
    wake();
}

void supervisor::perform(attached_program& p, caller& c) {
    attach::slot& s = *c.channel;
    if (recorder_) recorder_->begins(c.record, s, *p.library);
    const auto is = [&](attach::request what) { return s.function == static_cast<std::uint32_t>(what); };
    if (is(attach::request::share_pages))
        p.memory.share(s.words[0], s.words[1], s.words[2]);
    else if (is(attach::request::limit_wait))
        limit_wait(c);
    else if (is(attach::request::set_timer))
        set_timer(p, s);
    else if (is(attach::request::open_timer))
        open_timer(p, s);
    else if (!attach::perform(s, *p.handlers))
        s.result = VIP_ERROR_NOT_SUPPORTED;
    if (recorder_) recorder_->ends(c.record, s, *p.library);
}

/// The thread goes on, and time with it when it has come to its next call.
void supervisor::answer(attached_program& p, caller& c) {
    c.served = false;
    if (recorder_) recorder_->answered(c.record);
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
    if (recorder_) recorder_->handler_begins(c.record, static_cast<attach::callback_kind>(words[0]));
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

}  // namespace vinic::testbench
