/* SPDX-License-Identifier: Apache-2.0 */

/* Programs in the style of the time: C89 against vipl.h, with what a program has from its system. */
#ifndef VINIC_CONFORMANCE_PROGRAMS_H
#define VINIC_CONFORMANCE_PROGRAMS_H

struct machine {
    void* (*allocate)(void* self, unsigned long bytes, unsigned long alignment);
    void (*release)(void* self, void* memory);
    void (*spend)(void* self, unsigned long microseconds); /* time passes while the program does something */
    void (*start_thread)(void* self, void (*body)(void* argument), void* argument);
    void (*join_threads)(void* self);
    void* self;
};

#ifdef __cplusplus
extern "C" {
#endif

/* Each returns 0, or the number of the line that went wrong. `rank`: 0 or 1, on node0 or node1. */
int credit_channel(const struct machine* on, int rank);
int remote_ring(const struct machine* on, int rank);
int two_threads(const struct machine* on, int rank);

#ifdef __cplusplus
}
#endif

#endif
