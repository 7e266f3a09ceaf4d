// SPDX-License-Identifier: Apache-2.0
#include "vipl/attach/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "vipl/attach/time_stamps.h"
#include "vipl/attach/window.h"

namespace vinic::vipl::attach {

namespace {

constexpr long look_after_simulator_ns = 200'000'000;

struct state {
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    bool tried = false;
    region* shared = nullptr;
    doorbell* bell = nullptr;
    int looks = 0;
    pthread_key_t at_exit_of_thread = 0;
    bool has_callback_thread = false;
    bool has_forked = false;
};
state here;

std::atomic<int> threads_counted{1};
/// The simulator's count never lags behind: a thread that has been counted is, there too.
pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
thread_local std::uint64_t measured_from_ns = 0;

std::uint64_t processor_time_ns() {
    timespec t{};
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

/// Why there is no simulator; empty once it has been said.
char complaint[400];

[[gnu::format(printf, 1, 2)]] void complain(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(complaint, sizeof complaint, format, arguments);
    va_end(arguments);
}

/// One line; no buffer of the program's is touched.
[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) {
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line - 1, format, arguments);
    va_end(arguments);
    if (length > static_cast<int>(sizeof line) - 2) length = sizeof line - 2;
    line[length] = '\n';
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, static_cast<size_t>(length) + 1);
}

// --- Handshake.

int connect_to(const char* path) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (strlen(path) >= sizeof address.sun_path) return -1;
    strcpy(address.sun_path, path);
    const int to = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (to < 0) return -1;
    if (connect(to, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return to;
    close(to);
    return -1;
}

/// The answer and the descriptors that come with it.
bool receive(int from, welcome& answer, int (&descriptors)[3]) {
    iovec text{.iov_base = &answer, .iov_len = sizeof answer};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors)];
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t got = 0;
    while ((got = recvmsg(from, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    if (got != sizeof answer) return false;
    const cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    if (rights != nullptr && rights->cmsg_len == CMSG_LEN(sizeof descriptors))
        memcpy(descriptors, CMSG_DATA(rights), sizeof descriptors);
    return true;
}

template <typename T>
T* map(int descriptor) {
    void* const at = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    return at == MAP_FAILED ? nullptr : static_cast<T*>(at);
}

/// The number in the first of these variables that is set; -1: none is.
template <std::size_t N>
int number_in(const char* const (&variables)[N]) {
    for (const char* const name : variables)
        if (const char* const value = getenv(name)) return atoi(value);
    return -1;
}

hello own_hello() {
    int process = number_in({process_variable});
    if (process < 0) process = number_in(rank_variables);
    return {
        .magic = magic, .version = protocol_version, .process = process, .node = number_in({node_variable})};
}

void publish_threads() {
    pthread_mutex_lock(&counting);
    here.shared->threads = static_cast<std::uint32_t>(threads_counted.load());
    pthread_mutex_unlock(&counting);
}

void attach() {
    const char* const path = getenv(socket_variable);
    if (path == nullptr)
        return complain(
            "libvipl: no simulator: start the program with `vinic exec -- PROGRAM`, or `vinic serve` and set "
            "%s",
            socket_variable);
    const int to = connect_to(path);
    if (to < 0) return complain("libvipl: no simulator listens at %s: %s", path, strerror(errno));
    const hello mine_is = own_hello();
    welcome answer{};
    int descriptors[3] = {-1, -1, -1};
    const bool answered = send(to, &mine_is, sizeof mine_is, MSG_NOSIGNAL) == sizeof mine_is &&
                          receive(to, answer, descriptors);
    close(to);
    if (!answered) return complain("libvipl: the simulator at %s went away", path);
    answer.text[sizeof answer.text - 1] = 0;
    if (!answer.accepted) return complain("libvipl: %s", answer.text);
    here.shared = map<region>(descriptors[0]);
    here.bell = map<doorbell>(descriptors[1]);
    if (here.shared == nullptr || here.bell == nullptr) {
        here.shared = nullptr;
        return complain("libvipl: cannot map the simulator's memory: %s", strerror(errno));
    }
    open_window(descriptors[2]);
    if (getenv("VINIC_TRAP_RDTSC") != nullptr) trap_time_stamps();
    prctl(PR_SET_PTRACER,
          here.shared->simulator);  // which need not be our parent, and proves that loops spin
    cpu_set_t processors;
    const bool several =
        sched_getaffinity(0, sizeof processors, &processors) != 0 || CPU_COUNT(&processors) > 1;
    here.looks = several ? looks_before_sleep : 0;
    publish_threads();
    here.shared->counted = threads_are_counted ? 1 : 0;
    if (here.has_forked) here.shared->forked = 1;
}

region* shared_region() {
    pthread_mutex_lock(&here.lock);
    if (!here.tried) {
        here.tried = true;
        attach();
    }
    pthread_mutex_unlock(&here.lock);
    return here.shared;
}

// --- Slots.

void ring() {
    if (here.bell == nullptr || here.bell->asleep == 0) return;
    ++here.bell->rings;
    futex_wake(&here.bell->rings);
}

}  // namespace

/// Of a thread: a slot for what it does by itself, and one for each handler of a signal that interrupts a use
/// of the one before.
struct thread_slots {
    static constexpr std::size_t depth_max = 8;
    struct use {
        slot* of = nullptr;
        const held_slot* frame = nullptr;  ///< where the use stands on the stack
        std::uint64_t mark = 0;
    };

    use uses[depth_max];
    std::size_t depth = 0;  ///< uses that have begun and not ended
    std::uint64_t marks = 0;

    bool left(const use& one, const held_slot* now) const;
    void abandon(use& one);
    slot* begin(held_slot* frame);
    void end(const held_slot* frame);
    void rest(std::size_t from);
    void leave();
};

namespace {

thread_local thread_slots own;

bool within(const void* address, const stack_t& alternate) {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(alternate.ss_sp);
    return (alternate.ss_flags & SS_DISABLE) == 0 && offset < alternate.ss_size;
}

slot* take_free_slot(std::size_t depth) {
    region* const shared = shared_region();
    if (shared == nullptr) return nullptr;
    for (std::uint32_t i = 0; i < threads_max; ++i) {
        slot& s = shared->slots[i];
        phase none = phase::free;
        if (!s.turn.compare_exchange_strong(none, phase::running)) continue;
        for (std::uint32_t used = shared->slots_used; used <= i;)
            shared->slots_used.compare_exchange_weak(used, i + 1);
        s.thread = static_cast<std::int32_t>(syscall(SYS_gettid));
        s.depth = static_cast<std::uint32_t>(depth);
        s.abandoned = 0;
        s.asleep = 0;
        if (shared->measures != 0) measured_from_ns = processor_time_ns();
        return &s;
    }
    say("libvipl: more than %zu threads call VIPL", threads_max);
    return nullptr;
}

void leave_slots(void* of) { static_cast<thread_slots*>(of)->leave(); }

}  // namespace

/// The stack grows down, so the frame of a handler is below that which it interrupts, unless it has a stack
/// of its own; and a frame that is still there has its mark.
bool thread_slots::left(const use& one, const held_slot* now) const {
    stack_t alternate{};
    sigaltstack(nullptr, &alternate);
    const bool was_there = within(one.frame, alternate), is_there = within(now, alternate);
    if (was_there != is_there) return was_there;
    return now >= one.frame || one.frame->mark_ != one.mark;
}

void thread_slots::abandon(use& one) {
    if (one.of->turn != phase::asking && one.of->turn != phase::answered) return;
    one.of->thread = 0;
    one.of->abandoned = 1;
    free_if_abandoned(*one.of);
    one.of = nullptr;
}

slot* thread_slots::begin(held_slot* frame) {
    while (depth > 0 && left(uses[depth - 1], frame)) abandon(uses[--depth]);
    if (depth == depth_max) return nullptr;
    use& next = uses[depth];
    if (next.of == nullptr) next.of = take_free_slot(depth);
    if (next.of == nullptr) return nullptr;
    if (depth == 0) pthread_setspecific(here.at_exit_of_thread, this);
    next.of->turn = phase::running;
    next.frame = frame;
    frame->mark_ = next.mark = ++marks;
    rest(++depth);
    return next.of;
}

void thread_slots::end(const held_slot* frame) {
    while (depth > 0 && uses[depth - 1].frame != frame) abandon(uses[--depth]);
    if (depth == 0) return;
    rest(depth--);
}

/// No handler runs that would use these: to the simulator the thread is again where they interrupted it.
void thread_slots::rest(std::size_t from) {
    for (std::size_t i = from; i < depth_max && uses[i].of != nullptr; ++i) {
        phase was = phase::running;
        uses[i].of->turn.compare_exchange_strong(was, phase::resting);
    }
}

void thread_slots::leave() {
    for (use& one : uses)
        if (one.of != nullptr) one.of->turn = phase::free;
    *this = {};
    ring();
}

namespace {

/// A child of fork shares nothing with the simulator until it calls: its memory is not the parent's any more.
void in_child() {
    release_time_stamps();
    here.lock = PTHREAD_MUTEX_INITIALIZER;
    counting = PTHREAD_MUTEX_INITIALIZER;
    here.tried = false;
    here.shared = nullptr;
    here.bell = nullptr;
    leave_window();
    here.has_callback_thread = false;
    here.has_forked = false;
    threads_counted = 1;
    own = {};
}

[[gnu::constructor]] void prepare() {
    pthread_key_create(&here.at_exit_of_thread, leave_slots);
    pthread_atfork(expect_process, nullptr, in_child);
    release_time_stamps();  // which a program may have left trapped that has become this one
    if (wanted() && getenv("VINIC_TRAP_RDTSC") != nullptr) trap_time_stamps();
}

bool simulator_lives() {
    if (here.shared->closed != 0) return false;
    if (kill(here.shared->simulator, 0) != 0 && errno == ESRCH) return false;
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/stat", here.shared->simulator);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return true;
    char text[200] = "";
    [[maybe_unused]] const ssize_t got = read(file, text, sizeof text - 1);
    close(file);
    const char* const end_of_name = strrchr(text, ')');
    return end_of_name == nullptr || end_of_name[2] != 'Z';
}

void tell_gone() {
    static std::atomic<bool> told{false};
    if (!told.exchange(true)) say("libvipl: the simulator has ended: every call fails from here on");
}

/// The slot has come back; false when it never will.
bool wait_for_answer(slot& s) {
    for (int i = 0; i < here.looks; ++i) {
        if (s.turn.load(std::memory_order_acquire) == phase::answered) return true;
        relax();
    }
    s.asleep = 1;
    bool lives = true;
    while (s.turn != phase::answered && lives) {
        own.rest(s.depth + 1);  // a handler may have interrupted us, and has ended
        futex_wait(&s.turn, static_cast<std::uint32_t>(phase::asking), look_after_simulator_ns);
        if (s.turn != phase::answered) lives = simulator_lives();
    }
    s.asleep = 0;
    return s.turn == phase::answered;
}

}  // namespace

bool threads_are_counted = false;

bool wanted() {
    static const bool told =
        getenv(socket_variable) != nullptr && number_in({process_variable, node_variable}) >= 0;
    return told || here.shared != nullptr;
}

void say_why_not() {
    pthread_mutex_lock(&here.lock);
    if (complaint[0] != 0) say("%s", complaint);
    complaint[0] = 0;
    pthread_mutex_unlock(&here.lock);
}

held_slot::held_slot(bool wanted) {
    if (wanted) slot_ = own.begin(this);
}

held_slot::~held_slot() {
    if (slot_ != nullptr) own.end(this);
}

bool ask(slot& s, std::uint32_t function) {
    if (here.shared->closed != 0) {
        tell_gone();
        return false;
    }
    s.function = function;
    const bool measures = here.shared->measures != 0;
    if (measures) s.ran_ns = processor_time_ns() - measured_from_ns;
    s.turn = phase::asking;
    ring();
    const bool answered = wait_for_answer(s);
    s.turn = phase::running;
    if (measures) measured_from_ns = processor_time_ns();
    if (!answered) tell_gone();
    return answered;
}

void expect_process() {
    pthread_mutex_lock(&counting);
    here.has_forked = true;
    if (here.shared != nullptr) here.shared->forked = 1;
    pthread_mutex_unlock(&counting);
}

bool alone() { return threads_are_counted && threads_counted == 1; }

void count_thread(int difference) {
    pthread_mutex_lock(&counting);
    threads_counted += difference;
    if (region* const shared = here.shared)
        shared->threads = static_cast<std::uint32_t>(threads_counted.load());
    pthread_mutex_unlock(&counting);
}

// --- Handlers.

namespace {

void run_handler(const std::uint64_t* w) {
    using error_handler = void (*)(void*, void*);
    using work_handler = void (*)(void*, void*, void*, void*);
    using entry_handler = void (*)(void*, void*, void*, int);
    const auto pointer = [&](int i) { return reinterpret_cast<void*>(w[i]); };
    switch (static_cast<callback_kind>(w[0])) {
        case callback_kind::none:
            return;
        case callback_kind::error:
            return reinterpret_cast<error_handler>(w[1])(pointer(2), pointer(3));
        case callback_kind::work_queue:
            return reinterpret_cast<work_handler>(w[1])(pointer(2), pointer(3), pointer(4), pointer(5));
        case callback_kind::completion_queue:
            return reinterpret_cast<entry_handler>(w[1])(pointer(2), pointer(3), pointer(4),
                                                         static_cast<int>(w[5]));
    }
}

void* serve_callbacks(void*) {
    const held_slot s;
    if (s == nullptr) return nullptr;
    alignas(8) std::byte error[256];
    while (ask(*s, static_cast<std::uint32_t>(request::next_callback))) {
        std::uint64_t words[words_of_call];
        memcpy(words, s->words, sizeof words);
        memcpy(error, s->payload, sizeof error);
        if (static_cast<callback_kind>(words[0]) == callback_kind::error)
            words[3] = reinterpret_cast<std::uintptr_t>(error);
        run_handler(words);
    }
    return nullptr;
}

}  // namespace

void start_callback_thread() {
    pthread_mutex_lock(&here.lock);
    if (!here.has_callback_thread) {
        sigset_t all;
        sigset_t before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pthread_t thread;
        here.has_callback_thread = pthread_create(&thread, nullptr, serve_callbacks, nullptr) == 0;
        if (here.has_callback_thread) pthread_detach(thread);
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
    }
    pthread_mutex_unlock(&here.lock);
}

}  // namespace vinic::vipl::attach
