/* SPDX-License-Identifier: Apache-2.0 */

/* What the programs of the suite share. gnu89, vipl.h and the C library; each program is a server when it is
   started without a host's name, and the client of that host's server with one. */
#ifndef VIBE_H
#define VIBE_H

#include <vipl.h>

/* Ends the program, and says where, when a call does not give VIP_SUCCESS. */
#define MUST(call) must((call), #call, __FILE__, __LINE__)
void must(VIP_RETURN code, const char* call, const char* file, int line);

/* --- Options: NAME=VALUE, the same for client and server --------------------------------------------------
 */

#define SIZES_MAX 64

struct options {
    const char* host;   /* the server's; NULL: this is the server */
    const char* device; /* of VipOpenNic */
    unsigned long sizes[SIZES_MAX];
    int size_count;
    long count;  /* measured operations of each kind */
    long warmup; /* round trips before those */
    int block;   /* wait=block: VipXxxWait instead of VipXxxDone in a loop */
    int queue;   /* receives complete on a completion queue */
    int rdma;    /* op=rdma: RDMA writes instead of sends */
    long reuse;  /* percent of messages that use the same buffers as ever */
    long vis;    /* connected VIs, which take turns */
    long segments;
    long depth; /* sends under way */
    unsigned long
        mtu; /* MaxTransferSize of the VIs; larger messages take several descriptors. 0: the card's */
    VIP_RELIABILITY_LEVEL level;
    unsigned long request; /* bytes of a transaction's request */
};
/* From `own`, a program's own choices among the defaults, which end with NULL, and what the user says. Ends
   the program when that is wrong. */
void read_options(struct options* o, const char* const* own, int count, char** arguments);
unsigned long largest(const struct options* o);
unsigned long smaller(unsigned long a, unsigned long b);

/* --- The card ------------------------------------------------------------------------------------------- */

struct nic {
    VIP_NIC_HANDLE handle;
    VIP_PROTECTION_HANDLE tag;
    VIP_NIC_ATTRIBUTES attributes;
};
/* Ends the program, with a remark on standard output, when the card cannot do what the options ask for. */
void open_nic(struct nic* n, struct options* o);

struct memory {
    char* at; /* begins a page */
    VIP_MEM_HANDLE handle;
};
struct memory new_memory(struct nic* n, unsigned long bytes);

/* --- A connection --------------------------------------------------------------------------------------- */

struct connection {
    VIP_VI_HANDLE vi;
    VIP_CQ_HANDLE queue; /* of its receives; NULL: none */
    int block;
};
void open_vi(struct connection* c, struct nic* n, const struct options* o, VIP_CQ_HANDLE queue);
/* The client calls the server, both with the same number. Receives must be posted before. */
void connect_vi(struct connection* c, struct nic* n, const struct options* o, unsigned number);
/* The next that is done. */
VIP_DESCRIPTOR* next_send(struct connection* c);
VIP_DESCRIPTOR* next_receive(struct connection* c);

/* --- Descriptors ---------------------------------------------------------------------------------------- */

/* Descriptor i in memory for descriptors with so many segments. */
unsigned long descriptor_bytes(int segments);
VIP_DESCRIPTOR* descriptor(struct memory* m, unsigned long i, int segments);
/* Makes it one of `bytes` at `at`, cut into segments. */
void describe(VIP_DESCRIPTOR* d, char* at, VIP_MEM_HANDLE handle, unsigned long bytes, int segments);
/* The same as an RDMA write to `to` in the memory of the other side; takes a segment more. */
void describe_write(VIP_DESCRIPTOR* d, char* at, VIP_MEM_HANDLE handle, unsigned long bytes, int segments,
                    const struct memory* to);

/* --- Time ----------------------------------------------------------------------------------------------- */

double now_us(void);
/* That this process has had a processor. */
double processor_us(void);
/* Of a span, of which the looks at both clocks are a little more. */
double percent(double used_us, double span_us);

struct spent {
    double us, processor_us;
};
/* What o->count exchanges of that size take, after o->warmup others; they are numbered from 0. */
struct spent measure(const struct options* o, void (*exchange)(long number, unsigned long size),
                     unsigned long size);

#endif
