/* SPDX-License-Identifier: Apache-2.0 */

/* limits ENTRY: one entry point with a time-out, on its own: it must end after 10 simulated seconds when
   nothing happens, and after 2 when another thread does what it waits for. Prints what is wrong. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

#include "common.h"

#define LIMIT_S 10
#define READY_S 2

static int ends[2];
static sem_t semaphore;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t held_too = PTHREAD_RWLOCK_INITIALIZER;
static sem_t is_held, let_go;
static int happened;
static volatile sig_atomic_t signals;
static pthread_t main_thread;

static struct timespec after(clockid_t clock, long s) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += s;
    return t;
}

/* Has both locks until it is told to let go. */
static void* hold(void* unused) {
    pthread_mutex_lock(&held);
    pthread_rwlock_wrlock(&held_too);
    sem_post(&is_held);
    sem_wait(&let_go);
    pthread_rwlock_unlock(&held_too);
    pthread_mutex_unlock(&held);
    return unused;
}

/* What each waits for, READY_S after it was asked to. */
static void* do_it(void* unused) {
    sleep(READY_S);
    sem_post(&let_go);
    pthread_kill(main_thread, SIGUSR1);
    if (write(ends[1], "x", 1) != 1) printf("write\n");
    sem_post(&semaphore);
    pthread_mutex_lock(&mutex);
    happened = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return unused;
}

/* 1: it happened; 0: the time is over. */
static int by_poll(void) {
    struct pollfd p;
    p.fd = ends[0];
    p.events = POLLIN;
    return poll(&p, 1, LIMIT_S * 1000);
}

static int by_ppoll(void) {
    struct timespec t = {LIMIT_S, 0};
    struct pollfd p;
    sigset_t all;
    p.fd = ends[0];
    p.events = POLLIN;
    sigfillset(&all);
    return ppoll(&p, 1, &t, &all);
}

static int by_select(void) {
    struct timeval t = {LIMIT_S, 0};
    fd_set set;
    int found;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    found = select(ends[0] + 1, &set, NULL, NULL, &t);
    if (!!FD_ISSET(ends[0], &set) != found) printf("select: the set is wrong\n");
    return found;
}

static int by_pselect(void) {
    struct timespec t = {LIMIT_S, 0};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    return pselect(ends[0] + 1, &set, NULL, NULL, &t, NULL);
}

static int by_epoll(int with_mask) {
    struct epoll_event e;
    sigset_t all;
    int file = epoll_create(1), found;
    sigfillset(&all);
    memset(&e, 0, sizeof e);
    e.events = EPOLLIN;
    epoll_ctl(file, EPOLL_CTL_ADD, ends[0], &e);
    found =
        with_mask ? epoll_pwait(file, &e, 1, LIMIT_S * 1000, &all) : epoll_wait(file, &e, 1, LIMIT_S * 1000);
    close(file);
    return found;
}
static int by_epoll_wait(void) { return by_epoll(0); }
static int by_epoll_pwait(void) { return by_epoll(1); }

static int taken(int result) {
    if (result != 0 && errno != ETIMEDOUT) printf("errno %d\n", errno);
    return result == 0;
}
static int by_sem_timedwait(void) {
    struct timespec t = after(CLOCK_REALTIME, LIMIT_S);
    return taken(sem_timedwait(&semaphore, &t));
}
static int by_sem_clockwait(void) {
    struct timespec t = after(CLOCK_MONOTONIC, LIMIT_S);
    return taken(sem_clockwait(&semaphore, CLOCK_MONOTONIC, &t));
}

static int by_condition(clockid_t clock, int clockwait) {
    struct timespec t = after(clock, LIMIT_S);
    int result = 0;
    pthread_mutex_lock(&mutex);
    while (!happened && result == 0)
        result = clockwait ? pthread_cond_clockwait(&condition, &mutex, clock, &t)
                           : pthread_cond_timedwait(&condition, &mutex, &t);
    if (result != 0 && result != ETIMEDOUT) printf("result %d\n", result);
    pthread_mutex_unlock(&mutex);
    return result == 0;
}
static int by_cond_timedwait(void) { return by_condition(CLOCK_REALTIME, 0); }
static int by_cond_clockwait(void) { return by_condition(CLOCK_MONOTONIC, 1); }
static int by_cond_monotonic(void) {
    pthread_condattr_t a;
    pthread_condattr_init(&a);
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &a);
    return by_condition(CLOCK_MONOTONIC, 0);
}

/* From a thread of its own. */
static int by_lock(int (*lock)(struct timespec*)) {
    struct timespec t = after(CLOCK_REALTIME, LIMIT_S);
    const int result = lock(&t);
    if (result != 0 && result != ETIMEDOUT) printf("result %d\n", result);
    return result == 0;
}
static int timedlock(struct timespec* t) { return pthread_mutex_timedlock(&held, t); }
static int timedrdlock(struct timespec* t) { return pthread_rwlock_timedrdlock(&held_too, t); }
static int timedwrlock(struct timespec* t) { return pthread_rwlock_timedwrlock(&held_too, t); }
static int by_mutex_timedlock(void) { return by_lock(timedlock); }
static int by_rwlock_timedrdlock(void) { return by_lock(timedrdlock); }
static int by_rwlock_timedwrlock(void) { return by_lock(timedwrlock); }
static int by_mutex_clocklock(void) {
    struct timespec t = after(CLOCK_MONOTONIC, LIMIT_S);
    return pthread_mutex_clocklock(&held, CLOCK_MONOTONIC, &t) == 0;
}

static int by_sigtimedwait(void) {
    struct timespec t = {LIMIT_S, 0};
    sigset_t set;
    int signal_number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    signal_number = sigtimedwait(&set, NULL, &t);
    if (signal_number < 0 && errno != EAGAIN) printf("errno %d\n", errno);
    return signal_number == SIGUSR1;
}

static void on_signal(int unused) {
    (void)unused;
    ++signals;
}

static double seconds(void) { return now_us() * 1e-6; }

static void expect(const char* what, double is, double wanted) {
    if (is < wanted || is > wanted + 0.001) printf("%s: %.6f s instead of %.0f s\n", what, is, wanted);
}

static void check_wait(int (*wait)(void)) {
    pthread_t holder, other;
    sigset_t ours;
    double start;
    int result;
    sigemptyset(&ours);
    sigaddset(&ours, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &ours, NULL);
    main_thread = pthread_self();
    pthread_create(&holder, NULL, hold, NULL);
    sem_wait(&is_held);
    start = seconds();
    result = wait();
    if (result != 0) printf("nothing happened, and it returns %d\n", result);
    expect("the time-out", seconds() - start, LIMIT_S);
    pthread_create(&other, NULL, do_it, NULL);
    start = seconds();
    result = wait();
    if (result != 1) printf("it happened, and it returns %d\n", result);
    expect("what happened", seconds() - start, READY_S);
    pthread_join(other, NULL);
}

static void check_timer(const char* name) {
    struct itimerval t, left;
    double start = seconds();
    const int which = strcmp(name, "setitimer_virtual") == 0 ? ITIMER_VIRTUAL : ITIMER_REAL;
    signal(which == ITIMER_REAL ? SIGALRM : SIGVTALRM, on_signal);
    if (strcmp(name, "alarm") == 0) {
        alarm(LIMIT_S);
        sleep(READY_S);
        if (alarm(LIMIT_S - READY_S) != LIMIT_S - READY_S) printf("what was left of the alarm is wrong\n");
    } else if (strcmp(name, "ualarm") == 0) {
        ualarm(LIMIT_S * 1000000u, 0);
    } else {
        memset(&t, 0, sizeof t);
        t.it_value.tv_sec = LIMIT_S - READY_S;
        t.it_interval.tv_sec = READY_S;
        setitimer(which, &t, NULL);
        pause();
        expect("the timer", seconds() - start, LIMIT_S - READY_S);
        getitimer(which, &left);
        expect("what getitimer says is left",
               (double)left.it_value.tv_sec + (double)left.it_value.tv_usec * 1e-6, READY_S - 0.001);
    }
    pause();
    expect(name, seconds() - start, LIMIT_S);
    if (signals != (name[0] == 's' ? 2 : 1)) printf("%d signals\n", (int)signals);
}

/* Expires after 8 s and then each 2, as in check_timer. */
static struct itimerspec eight_then_two(void) {
    struct itimerspec t;
    memset(&t, 0, sizeof t);
    t.it_value.tv_sec = LIMIT_S - READY_S;
    t.it_interval.tv_sec = READY_S;
    return t;
}

static volatile sig_atomic_t value;
static void on_timer(int number, siginfo_t* info, void* unused) {
    (void)number;
    (void)unused;
    ++signals;
    if (info->si_code != SI_TIMER) printf("si_code %d\n", info->si_code);
    value = info->si_value.sival_int;
}

static void check_timer_create(int absolute) {
    const int number = SIGRTMIN + 3;
    struct itimerspec t = eight_then_two(), left;
    struct sigaction action;
    struct sigevent event;
    double start = seconds();
    timer_t timer;
    sigset_t set;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = on_timer;
    action.sa_flags = SA_SIGINFO;
    sigaction(number, &action, NULL);
    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = number;
    event.sigev_value.sival_int = 77;
    if (timer_create(CLOCK_REALTIME, &event, &timer) != 0) printf("timer_create: %d\n", errno);
    if (absolute) t.it_value = after(CLOCK_REALTIME, LIMIT_S - READY_S);
    if (timer_settime(timer, absolute ? TIMER_ABSTIME : 0, &t, NULL) != 0)
        printf("timer_settime: %d\n", errno);
    pause();
    expect("the timer", seconds() - start, LIMIT_S - READY_S);
    timer_gettime(timer, &left);
    expect("what is left", (double)left.it_value.tv_sec + (double)left.it_value.tv_nsec * 1e-9,
           READY_S - 0.001);
    pause();
    expect("the timer again", seconds() - start, LIMIT_S);
    if (signals != 2 || value != 77) printf("%d signals, value %d\n", (int)signals, (int)value);
    /* It expires three times while its signal is blocked: one signal, and two overruns. */
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, NULL);
    sleep(3 * READY_S);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    if (signals != 3 || timer_getoverrun(timer) != 2)
        printf("%d signals, %d overruns\n", (int)signals, timer_getoverrun(timer));
    timer_delete(timer);
    sleep(LIMIT_S);
    if (signals != 3) printf("a timer that is deleted expires\n");
    if (timer_settime(timer, 0, &t, NULL) == 0) printf("a timer that is deleted can be set\n");
}

static void check_timerfd(void) {
    struct itimerspec t = eight_then_two(), left;
    unsigned long long expired;
    struct pollfd p;
    double start = seconds();
    p.fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    p.events = POLLIN;
    if (p.fd < 0 || timerfd_settime(p.fd, 0, &t, NULL) != 0) printf("timerfd: %d\n", errno);
    if (read(p.fd, &expired, sizeof expired) != -1 || errno != EAGAIN) printf("it has expired at once\n");
    if (poll(&p, 1, -1) != 1) printf("poll\n");
    expect("the timer", seconds() - start, LIMIT_S - READY_S);
    timerfd_gettime(p.fd, &left);
    expect("what is left", (double)left.it_value.tv_sec + (double)left.it_value.tv_nsec * 1e-9,
           READY_S - 0.001);
    sleep(READY_S);
    if (read(p.fd, &expired, sizeof expired) != sizeof expired || expired != 2)
        printf("%llu times\n", expired);
    t.it_interval.tv_sec = 0;
    t.it_value = after(CLOCK_MONOTONIC, READY_S);
    start = seconds();
    timerfd_settime(p.fd, TFD_TIMER_ABSTIME, &t, NULL);
    fcntl(p.fd, F_SETFL, 0);
    if (read(p.fd, &expired, sizeof expired) != sizeof expired || expired != 1)
        printf("%llu times\n", expired);
    expect("a read that waits", seconds() - start, READY_S);
    close(p.fd);
}

int main(int count, char** arguments) {
    static const struct {
        const char* name;
        int (*wait)(void);
    } waits[] = {{"poll", by_poll},
                 {"ppoll", by_ppoll},
                 {"select", by_select},
                 {"pselect", by_pselect},
                 {"epoll_wait", by_epoll_wait},
                 {"epoll_pwait", by_epoll_pwait},
                 {"sem_timedwait", by_sem_timedwait},
                 {"sem_clockwait", by_sem_clockwait},
                 {"pthread_cond_timedwait", by_cond_timedwait},
                 {"pthread_cond_clockwait", by_cond_clockwait},
                 {"pthread_cond_monotonic", by_cond_monotonic},
                 {"pthread_mutex_timedlock", by_mutex_timedlock},
                 {"pthread_mutex_clocklock", by_mutex_clocklock},
                 {"pthread_rwlock_timedrdlock", by_rwlock_timedrdlock},
                 {"pthread_rwlock_timedwrlock", by_rwlock_timedwrlock},
                 {"sigtimedwait", by_sigtimedwait}};
    const char* name = count > 1 ? arguments[1] : "";
    unsigned i;
    if (pipe(ends) != 0 || sem_init(&semaphore, 0, 0) != 0) return 1;
    if (sem_init(&is_held, 0, 0) != 0 || sem_init(&let_go, 0, 0) != 0) return 1;
    for (i = 0; i < sizeof waits / sizeof waits[0]; ++i)
        if (strcmp(waits[i].name, name) == 0) {
            check_wait(waits[i].wait);
            return 0;
        }
    if (strcmp(name, "timer_create") == 0)
        check_timer_create(0);
    else if (strcmp(name, "timer_absolute") == 0)
        check_timer_create(1);
    else if (strcmp(name, "timerfd") == 0)
        check_timerfd();
    else
        check_timer(name);
    return 0;
}
