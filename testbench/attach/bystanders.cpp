// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/bystanders.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace vinic::testbench {

bystanders::bystanders() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

bystanders::~bystanders() {
    for (const pid_t one : descendants_of(getpid())) kill(one, SIGKILL);
}

bool bystanders::all_stand(const std::set<pid_t>& programs, thread_runs& seen) {
    found_ = descendants_of(getpid());
    std::erase_if(found_, [&](pid_t one) { return programs.contains(one); });
    for (const pid_t one : found_)
        for (const thread_view& t : threads_of(one)) {
            if (excused_.contains(t.thread)) continue;
            if (!blocked(t)) return false;
            seen.emplace_back(t.thread, t.slices);
        }
    return true;
}

unsigned bystanders::excuse_those_that_run(std::chrono::nanoseconds grace) {
    unsigned count = 0;
    for (const pid_t one : found_)
        for (const thread_view& t : threads_of(one)) {
            if (blocked(t) || excused_.contains(t.thread)) continue;
            const auto [at, is_new] = running_.try_emplace(t.thread, t.run_ns);
            if (is_new || t.run_ns - at->second < static_cast<std::uint64_t>(grace.count())) continue;
            excused_.insert(t.thread);
            ++count;
        }
    return count;
}

}  // namespace vinic::testbench
