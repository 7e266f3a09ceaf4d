// SPDX-License-Identifier: Apache-2.0
#include "vipl/attach/window.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <ucontext.h>
#include <unistd.h>

#include "vipl/attach/connection.h"
#include "vipl/attach/faults.h"

namespace vinic::vipl::attach {

namespace {

constexpr std::uintptr_t page = 4096;
constexpr std::size_t stack_bytes = 1 << 16;

struct {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    std::byte* view = nullptr;  ///< of pages that have not been handed out
    std::uint64_t used = 0;
    void* stack = nullptr;  ///< not among what a static program may register
    dev_t device = 0;
    ino_t file = 0;
} window;

// --- What the kernel says about the program's memory.

struct mapping {
    std::uintptr_t begin;
    std::uintptr_t end;
    char permissions[5];  ///< "rw-p"
    std::uint64_t offset;
    bool moved;  ///< a part of the window
};

/// Reads /proc/self/maps without taking memory, which would change it.
class mappings {
public:
    mappings() : file_(open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}
    ~mappings() { close(file_); }
    mappings(const mappings&) = delete;
    mappings& operator=(const mappings&) = delete;

    bool next(mapping& m) {
        char line[160];
        if (!read_line(line, sizeof line)) return false;
        unsigned major_number = 0;
        unsigned minor_number = 0;
        unsigned long inode = 0;
        unsigned long begin = 0;
        unsigned long end = 0;
        unsigned long offset = 0;
        if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &begin, &end, m.permissions, &offset, &major_number,
                   &minor_number, &inode) != 7)
            return false;
        m.begin = begin;
        m.end = end;
        m.offset = offset;
        m.moved = window.view != nullptr && inode == window.file &&
                  makedev(major_number, minor_number) == window.device && m.permissions[3] == 's';
        return true;
    }

private:
    bool read_line(char* line, std::size_t room) {
        std::size_t length = 0;
        for (;;) {
            if (at_ == filled_) {
                const ssize_t got = read(file_, buffer_, sizeof buffer_);
                if (got <= 0) return false;
                at_ = 0;
                filled_ = static_cast<std::size_t>(got);
            }
            const char c = buffer_[at_++];
            if (c == '\n') break;
            if (length + 1 < room) line[length++] = c;
        }
        line[length] = 0;
        return true;
    }

    int file_;
    char buffer_[2048];
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
};

// --- Moving, while other threads may write: they wait in a handler.

struct {
    volatile std::uintptr_t begin = 0;
    volatile std::uintptr_t end = 0;
} moving;

/// A store, as far as the processor says.
bool is_store(const void* context) {
#if defined(__x86_64__) || defined(__i386__)
    constexpr auto store_bit = 2;  // of the page fault's error code
    return (static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & store_bit) != 0;
#else
    static_cast<void>(context);
    return true;
#endif
}

/// The signal of a fault may come late, when the page has moved.
bool has_moved(std::uintptr_t at) {
    mappings all;
    mapping m{};
    while (all.next(m))
        if (at >= m.begin && at < m.end) return m.moved && m.permissions[1] == 'w';
    return false;
}

bool wait_for_move(siginfo_t* info, void* context) {
    const auto at = reinterpret_cast<std::uintptr_t>(info->si_addr);
    if (info->si_code != SEGV_ACCERR || !is_store(context)) return false;
    if (at < moving.begin || at >= moving.end) return has_moved(at);
    while (at >= moving.begin && at < moving.end) sched_yield();
    return true;
}

/// Puts the pages at `from` in the place of those at `to`. Past the C library: others (UCX) put an mremap
/// before its own that loses the new address.
bool put_in_place(void* from, std::uintptr_t to, std::uint64_t bytes) {
    return syscall(SYS_mremap, from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
           static_cast<long>(to);
}

struct task {
    std::uintptr_t begin;
    std::uintptr_t end;
    bool protect;
    bool done;
};

/// The pages keep their contents; nobody sees a moment at which they are not there.
void move(task& t) {
    const std::uint64_t bytes = t.end - t.begin;
    if (t.protect && mprotect(reinterpret_cast<void*>(t.begin), bytes, PROT_READ) != 0) return;
    std::byte* const place = window.view + window.used;
    memcpy(place, reinterpret_cast<const void*>(t.begin), bytes);
    t.done = put_in_place(place, t.begin, bytes);
    if (t.done) window.used += bytes;
    if (!t.done && t.protect) mprotect(reinterpret_cast<void*>(t.begin), bytes, PROT_READ | PROT_WRITE);
}

/// On a stack that is not among the pages that move, as the caller's may be.
void run_elsewhere(void (*what)()) {
    static ucontext_t caller;
    static ucontext_t elsewhere;
    getcontext(&elsewhere);
    elsewhere.uc_stack.ss_sp = window.stack;
    elsewhere.uc_stack.ss_size = stack_bytes;
    elsewhere.uc_link = &caller;
    makecontext(&elsewhere, what, 0);
    swapcontext(&caller, &elsewhere);
}

void move_from_elsewhere(task& t) {
    static task given;
    given = t;
    run_elsewhere([] { move(given); });
    t = given;
}

bool move_pages(std::uintptr_t begin, std::uintptr_t end) {
    if (window.used + (end - begin) > window_bytes) return false;
    task t{begin, end, !alone(), false};
    if (!t.protect) {
        move_from_elsewhere(t);
        return t.done;
    }
    moving.begin = begin;
    moving.end = end;
    take_faults(wait_for_move);
    // A thread whose own stack must become read-only could not even take the signal: such pages stay readable
    // and writable, and only this thread uses them.
    const auto own = reinterpret_cast<std::uintptr_t>(&t);
    const std::uintptr_t near_stack = 1 << 16;
    if (own + near_stack >= begin && own < end + near_stack) t.protect = false;
    move_from_elsewhere(t);
    moving.begin = 0;
    moving.end = 0;
    return t.done;
}

/// The first page of [begin, end) that may move or has moved, with those behind it that are alike.
bool find_run(std::uintptr_t begin, std::uintptr_t end, mapping& run) {
    mappings all;
    while (all.next(run)) {
        if (run.end <= begin || run.begin >= end) continue;
        const std::uintptr_t from = run.begin > begin ? run.begin : begin;
        if (run.moved) run.offset += from - run.begin;
        run.begin = from;
        if (run.end > end) run.end = end;
        const bool may_move =
            run.permissions[0] == 'r' && run.permissions[1] == 'w' && run.permissions[3] == 'p';
        if (run.moved || may_move) return true;
    }
    return false;
}

/// Private copies for all that has moved.
void take_pages_back() {
    for (;;) {
        mapping m{};
        {
            mappings all;
            while (all.next(m) && !m.moved) {
            }
        }
        if (!m.moved) return;
        const std::uint64_t bytes = m.end - m.begin;
        void* const own = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (own == MAP_FAILED) return;
        memcpy(own, reinterpret_cast<const void*>(m.begin), bytes);
        if (!put_in_place(own, m.begin, bytes)) return;
    }
}

void tell(slot& s, const mapping& run) {
    s.words[0] = run.begin;
    s.words[1] = run.end - run.begin;
    s.words[2] = run.offset;
    ask(s, static_cast<std::uint32_t>(request::share_pages));
}

}  // namespace

void open_window(int descriptor) {
    struct stat file {};
    fstat(descriptor, &file);
    void* const at =
        mmap(nullptr, window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    close(descriptor);
    window.stack = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || window.stack == MAP_FAILED) return;
    window.view = static_cast<std::byte*>(at);
    window.used = 0;
    window.device = file.st_dev;
    window.file = file.st_ino;
}

void leave_window() {
    if (window.view == nullptr) return;
    window.lock = PTHREAD_MUTEX_INITIALIZER;
    munmap(window.view + window.used, window_bytes - window.used);
    run_elsewhere(take_pages_back);
    window.view = nullptr;
}

void share_pages(slot& s, std::uintptr_t address, std::uint64_t bytes) {
    const std::uintptr_t end = (address + bytes + page - 1) & ~(page - 1);
    if (window.view == nullptr || end < address) return;
    pthread_mutex_lock(&window.lock);
    mapping run{};
    for (std::uintptr_t at = address & ~(page - 1); at < end && find_run(at, end, run); at = run.end) {
        const std::uint64_t place = window.used;
        if (run.moved)
            tell(s, run);
        else if (move_pages(run.begin, run.end)) {
            run.offset = place;
            tell(s, run);
        }
    }
    pthread_mutex_unlock(&window.lock);
}

}  // namespace vinic::vipl::attach
