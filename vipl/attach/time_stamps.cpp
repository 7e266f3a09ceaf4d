// SPDX-License-Identifier: Apache-2.0

// rdtsc and rdtscp in simulated time: the kernel lets them fault (prctl PR_SET_TSC), and the handler says
// what the simulated processor's counter would. What a thread sets holds for those that it makes later, and
// for what they become (execve), whose own clocks would fault: so only in programs that are linked with
// libvipl, and only where it is preloaded, so that it takes the trap back in all others.
#include "vipl/attach/time_stamps.h"

#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <ucontext.h>

#include "vipl/attach/faults.h"
#include "vipl/attach/simulated_time.h"

namespace vinic::vipl::attach {

#if defined(__x86_64__)

namespace {

std::uint64_t read_counter() {
    const held_slot s = simulated();
    if (s != nullptr && ask(*s, static_cast<std::uint32_t>(request::read_cycles))) return s->result;
    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    const std::uint64_t cycles = __builtin_ia32_rdtsc();
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
    return cycles;
}

/// Bytes of the instruction; 0: it is none of the two.
int length_at(const unsigned char* at) {
    if (at[0] != 0x0F) return 0;
    if (at[1] == 0x31) return 2;
    return at[1] == 0x01 && at[2] == 0xF9 ? 3 : 0;
}

/// Of the program itself, which comes first: whether it needs libvipl. A static program, which needs nothing,
/// has it.
int look_at_program(dl_phdr_info* of, std::size_t, void* result) {
    bool needs_others = false;
    bool needs_us = false;
    for (int i = 0; i < of->dlpi_phnum; ++i) {
        if (of->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
        const auto* const entries =
            reinterpret_cast<const ElfW(Dyn)*>(of->dlpi_addr + of->dlpi_phdr[i].p_vaddr);
        const char* names = nullptr;
        for (const auto* e = entries; e->d_tag != DT_NULL; ++e)
            if (e->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(e->d_un.d_ptr);
        for (const auto* e = entries; e->d_tag != DT_NULL && names != nullptr; ++e) {
            if (e->d_tag != DT_NEEDED) continue;
            needs_others = true;
            needs_us = needs_us || strstr(names + e->d_un.d_val, "libvipl") != nullptr;
        }
    }
    *static_cast<bool*>(result) = needs_us || !needs_others;
    return 1;
}

bool is_linked_with_us() {
    bool result = false;
    dl_iterate_phdr(look_at_program, &result);
    return result;
}

bool read_for_program(siginfo_t* info, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    // The kernel's own faults have no address; others may lie where nothing can be read.
    const int length = info->si_code == SI_KERNEL
                           ? length_at(reinterpret_cast<const unsigned char*>(registers[REG_RIP]))
                           : 0;
    if (length == 0) return false;
    const std::uint64_t cycles = read_counter();
    registers[REG_RAX] = static_cast<greg_t>(cycles & 0xFFFF'FFFF);
    registers[REG_RDX] = static_cast<greg_t>(cycles >> 32);
    if (length == 3) registers[REG_RCX] = 0;  // rdtscp: the processor's number
    registers[REG_RIP] += length;
    return true;
}

}  // namespace

void trap_time_stamps() {
    const char* const preloaded = getenv("LD_PRELOAD");
    if (preloaded == nullptr || strstr(preloaded, "libvipl") == nullptr || !is_linked_with_us()) return;
    take_faults(read_for_program);
    prctl(PR_SET_TSC, PR_TSC_SIGSEGV);
}

void release_time_stamps() { prctl(PR_SET_TSC, PR_TSC_ENABLE); }

#else

void trap_time_stamps() {}
void release_time_stamps() {}

#endif

}  // namespace vinic::vipl::attach
