// SPDX-License-Identifier: Apache-2.0
#include "testbench/attach/spin_proof.h"

#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

namespace vinic::testbench {

#if defined(__x86_64__)

namespace {

using instruction = std::array<std::uint8_t, 16>;

/// The beginning of an instruction, taken apart as far as it has to be.
struct opcode {
    unsigned code;       ///< 0x0F00 + the second byte where there are two
    bool to_register;    ///< its operand is no memory
    unsigned extension;  ///< the field that stands for more of the code
    unsigned rex;
};

opcode opcode_of(const instruction& bytes) {
    std::size_t i = 0;
    while (i < 4 && (bytes[i] == 0x66 || bytes[i] == 0xF2 || bytes[i] == 0xF3)) ++i;
    opcode o{};
    if ((bytes[i] & 0xF0) == 0x40) o.rex = bytes[i++];
    o.code = bytes[i++];
    if (o.code == 0x0F) o.code = 0x0F00 + bytes[i++];
    o.to_register = bytes[i] >> 6 == 3;
    o.extension = bytes[i] >> 3 & 7;
    return o;
}

bool within(unsigned code, unsigned first, unsigned last) { return code >= first && code <= last; }

/// Writes registers and flags only, and depends on nothing but them and memory.
bool only_registers(const opcode& o) {
    const unsigned c = o.code;
    const bool arithmetic = c < 0x40 && (c & 7) < 6;
    if (arithmetic && (c & 7) >= 2) return true;   // register or accumulator first
    if (arithmetic && (c >> 3) == 7) return true;  // cmp
    if (arithmetic || c == 0x88 || c == 0x89) return o.to_register;
    if (within(c, 0x80, 0x83)) return o.to_register || o.extension == 7;                   // 7: cmp
    if (c == 0xF6 || c == 0xF7) return o.to_register ? o.extension < 4 : o.extension < 2;  // test, not, neg
    if (c == 0xC0 || c == 0xC1 || within(c, 0xD0, 0xD3) || c == 0xC6 || c == 0xC7) return o.to_register;
    if (c == 0xFF) return o.extension == 4;  // jmp
    const bool loads = c == 0x8A || c == 0x8B || c == 0x8D || c == 0x63 || c == 0x84 || c == 0x85;
    const bool jumps = within(c, 0x70, 0x7F) || c == 0xEB || c == 0xE9 || c == 0xC3;
    const bool others = c == 0x90 || c == 0x98 || c == 0x99 || c == 0xA8 || c == 0xA9 || c == 0xC9 ||
                        within(c, 0xB0, 0xBF) || within(c, 0x58, 0x5F);
    if (loads || jumps || others) return true;
    if (within(c, 0x0F40, 0x0F4F) || within(c, 0x0F80, 0x0F8F) || c == 0x0F1F || c == 0x0FAF || c == 0x0FA3)
        return true;
    if (c == 0x0FB6 || c == 0x0FB7 || c == 0x0FBE || c == 0x0FBF) return true;
    return (within(c, 0x0F90, 0x0F9F) || c == 0x0FAE) && o.to_register;  // setcc; fences
}

std::uint64_t word_at(pid_t thread, std::uint64_t address) {
    return static_cast<std::uint64_t>(ptrace(PTRACE_PEEKDATA, thread, address, nullptr));
}

/// What push and call are about to put on the stack; they change nothing where that is there already, as it
/// is in the second round of a loop.
bool stores_what_is_there(pid_t thread, const user_regs_struct& r, const opcode& o) {
    const std::uint64_t registers[] = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
                                       r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
    const bool high = (o.rex & 1) != 0;
    if (within(o.code, 0x50, 0x57))
        return word_at(thread, r.rsp - 8) == registers[(o.code & 7) + (high ? 8 : 0)];
    return o.code == 0xE8 && o.rex == 0 && word_at(thread, r.rsp - 8) == r.rip + 5;
}

opcode next_opcode(pid_t thread, const user_regs_struct& r) {
    const std::uint64_t words[] = {word_at(thread, r.rip), word_at(thread, r.rip + 8)};
    instruction bytes;
    std::memcpy(bytes.data(), words, bytes.size());
    return opcode_of(bytes);
}

/// `signal`: with the kernel's event above its lowest byte: a stop by SIGSTOP or SIGCONT is no step.
bool stopped_by(pid_t thread, int& signal) {
    int status = 0;
    while (waitpid(thread, &status, __WALL) != thread)
        if (errno != EINTR) return false;
    signal = WIFSTOPPED(status) ? status >> 8 : 0;
    return WIFSTOPPED(status);
}

bool step(pid_t thread) {
    int signal = 0;
    if (ptrace(PTRACE_SINGLESTEP, thread, nullptr, nullptr) != 0 || !stopped_by(thread, signal)) return false;
    if (signal == SIGTRAP) return true;
    ptrace(PTRACE_DETACH, thread, nullptr, signal <= 0xFF ? signal : 0);
    return false;
}

/// Of a loop, with room for its first rounds.
constexpr int steps_max = 4096;

}  // namespace

// The state to come back to is taken anew at 1, 2, 4 ... steps, so that a loop of any length below a third of
// the steps is found, wherever it begins. A step is two changes of the machine's context, so one that leaves
// a loop known already is the last. No step goes through a system call, which may wait for us.
bool spin_proof::goes_round() {
    constexpr unsigned system_call = 0x0F05;
    user_regs_struct anchor{};
    std::vector<std::uint64_t> since_anchor;
    int next_anchor = 1;
    for (int i = 0; i < steps_max; ++i) {
        user_regs_struct now{};
        if (ptrace(PTRACE_GETREGS, thread_, nullptr, &now) != 0) return false;
        // Inside a system call, which the next step would make once more, whatever instruction is behind it.
        if (now.orig_rax != ~0ull) return false;
        if (i > 0 && std::memcmp(&now, &anchor, sizeof now) == 0) {
            if (loop_.empty()) loop_ = since_anchor;
            return true;
        }
        if (!loop_.empty() && std::ranges::find(loop_, now.rip) == loop_.end()) return false;
        const opcode o = next_opcode(thread_, now);
        if (o.code == system_call) return false;
        const bool harmless = only_registers(o) || stores_what_is_there(thread_, now, o);
        if (i == next_anchor || i == 0 || !harmless) {
            anchor = now;
            since_anchor.clear();
        }
        since_anchor.push_back(now.rip);
        if (i == next_anchor) next_anchor *= 2;
        if (!harmless) anchor.rip = 0;  // comes back never: the next anchor may
        if (!step(thread_)) {
            thread_ = 0;
            return false;
        }
    }
    return false;
}

bool spin_proof::prove(pid_t thread) {
    int signal = 0;
    if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) return false;
    thread_ = thread;
    loop_.clear();
    if (ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0 || !stopped_by(thread, signal)) {
        thread_ = 0;
        return false;
    }
    return still();
}

bool spin_proof::still() {
    if (thread_ != 0 && goes_round()) return true;
    release();
    return false;
}

void spin_proof::release() {
    if (thread_ != 0) ptrace(PTRACE_DETACH, thread_, nullptr, nullptr);
    thread_ = 0;
}

#else

// No proof on other machines: the thread counts as running.
bool spin_proof::prove(pid_t) { return false; }
bool spin_proof::still() { return false; }
void spin_proof::release() {}
bool spin_proof::goes_round() { return false; }

#endif

}  // namespace vinic::testbench
