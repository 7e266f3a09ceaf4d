/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of the configuration of GTKWave's writer: that, and what the writer does not do itself. It
 * looks at no result of its writes; but it flushes each file before it goes on with it, and then a stream
 * knows that one failed. Its temporary files, which it maps, are in memory: a full disk would be a bus error.
 * Each of its streams is of one thread at a time, so they need no locks. Of the thread that compresses a block
 * nobody could know the end, and the next block relies on it.
 */
#ifndef VINIC_FST_IO_H
#define VINIC_FST_IO_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

#include "fst_config.h"

#define HAVE_LIBPTHREAD 1
#define FST_WRITER_PARALLEL 1

/* Of one file at a time: it begins; the block that was handed over last is in the file; the errno of the
 * first write that failed, 0: none did. */
void vinic_fst_begin(void);
void vinic_fst_wait(void);
int vinic_fst_failure(void);

int vinic_fst_flush(FILE* file);
FILE* vinic_fst_temporary(void);
int vinic_fst_start(pthread_t* thread, const pthread_attr_t* attributes, void* (*what)(void*), void* with);

#ifndef VINIC_FST_IO_IMPLEMENTATION
#define fflush vinic_fst_flush
#define tmpfile vinic_fst_temporary
#define pthread_create vinic_fst_start
#define fwrite fwrite_unlocked
#define fputc fputc_unlocked
#endif

#endif
