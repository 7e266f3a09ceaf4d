/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of the configuration of GTKWave's writer: that, and what the writer does not do itself. It
 * looks at no result of its writes; but it flushes each file before it goes on with it, and then a stream
 * knows that one failed. Its temporary files, which it maps, are in memory: a full disk would be a bus error.
 */
#ifndef VINIC_FST_IO_H
#define VINIC_FST_IO_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "fst_config.h"

/* The errno of the first write that failed; 0: none did. */
extern int vinic_fst_error;

static inline int vinic_fst_flush(FILE* file) {
    const int result = fflush(file);
    if (vinic_fst_error == 0 && (result != 0 || ferror(file))) vinic_fst_error = errno ? errno : EIO;
    return result;
}

static inline FILE* vinic_fst_temporary(void) {
    const int descriptor = memfd_create("fst", MFD_CLOEXEC);
    return descriptor < 0 ? NULL : fdopen(descriptor, "w+b");
}

#define fflush vinic_fst_flush
#define tmpfile vinic_fst_temporary

#endif
