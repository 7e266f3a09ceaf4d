// SPDX-License-Identifier: Apache-2.0

// Simulated time ends what programs wait in outside of the simulation, and sends the signals of their timers.
#include "testbench/attach/supervisor.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace vinic::testbench {

namespace attach = vipl::attach;

/// The thread will wait outside, and not for ever.
void supervisor::limit_wait(caller& c) {
    attach::slot& s = *c.channel;
    vipl::program::current().self.trap([] {});
    c.limit = s.words[0] + (s.words[1] != 0 ? sim::now() : 0);
    if (c.limit > sim::now()) return;
    c.limit = sim::never;
    s.limit = attach::limit::expired;
}

/// It still waits.
void supervisor::expire(attached_program& p, caller& c) {
    c.limit = sim::never;
    attach::limit armed = attach::limit::armed;
    if (!c.channel->limit.compare_exchange_strong(armed, attach::limit::expired)) return;
    syscall(SYS_tgkill, p.process(), c.thread, attach::limit_signal);
    settle();
    wake();
}

void supervisor::set_timer(attached_program& p, attach::slot& s) {
    vipl::program::current().self.trap([] {});
    if (s.words[0] >= attach::timers_max) return;
    const auto which = static_cast<std::size_t>(s.words[0]);
    program_timer& t = p.timers[which];
    const std::uint64_t left = t.at == sim::never ? 0 : t.at - std::min(t.at, sim::now());
    const std::uint64_t interval_before = t.interval;
    const auto how = static_cast<attach::timer_set>(s.words[1]);
    if (how != attach::timer_set::no) {
        t.at = how == attach::timer_set::off  ? sim::never
               : how == attach::timer_set::at ? std::max(s.words[2], sim::now() + 1)
                                              : sim::now() + s.words[2];
        t.interval = s.words[3];
        attached_program::clear(t);
        if (!t.kept)
            platform_.watch(platform_.nodes()[p.node]->host.cpu.spawn(
                p.name + " timer", nullptr,
                [this, &p, which](host::process& self) { keep_time(p, which, self); }));
        t.kept = true;
        t.changed.wake_one();
    }
    s.words[2] = left;
    s.words[3] = interval_before;
    s.result = t.overruns;
}

void supervisor::open_timer(attached_program& p, attach::slot& s) {
    vipl::program::current().self.trap([] {});
    s.result = p.open_timer(s.words) ? 1 : 0;
    if (s.result != 0) p.timers[s.words[0]].changed.wake_one();
}

/// A simulated process of the kernel's that looks after a timer.
void supervisor::keep_time(attached_program& p, std::size_t which, host::process& self) {
    program_timer& t = p.timers[which];
    while (!p.ended) {
        if (self.block(t.changed, t.at)) continue;
        t.at = t.interval == 0 ? sim::never : t.at + t.interval;
        p.tell(t);
        settle();
        wake();
    }
}

}  // namespace vinic::testbench
