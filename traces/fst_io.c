/* SPDX-License-Identifier: Apache-2.0 */
#define VINIC_FST_IO_IMPLEMENTATION
#include "fst_io.h"

#include <stdatomic.h>
#include <stdbool.h>

static atomic_int first_error;
static pthread_t flushing;
static bool is_flushing;

void vinic_fst_begin(void) {
    vinic_fst_wait();
    first_error = 0;
}

void vinic_fst_wait(void) {
    if (is_flushing) pthread_join(flushing, NULL);
    is_flushing = false;
}

int vinic_fst_failure(void) { return first_error; }

int vinic_fst_flush(FILE* file) {
    const int result = fflush(file);
    int none = 0;
    if (result != 0 || ferror(file)) atomic_compare_exchange_strong(&first_error, &none, errno ? errno : EIO);
    return result;
}

FILE* vinic_fst_temporary(void) {
    const int descriptor = memfd_create("fst", MFD_CLOEXEC);
    return descriptor < 0 ? NULL : fdopen(descriptor, "w+b");
}

int vinic_fst_start(pthread_t* thread, const pthread_attr_t* attributes, void* (*what)(void*), void* with) {
    (void)attributes; /* detached */
    vinic_fst_wait();
    const int result = pthread_create(&flushing, NULL, what, with);
    is_flushing = result == 0;
    *thread = flushing;
    return result;
}
