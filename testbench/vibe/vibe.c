/* SPDX-License-Identifier: Apache-2.0 */
#include "vibe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096ul

void must(VIP_RETURN code, const char* call, const char* file, int line) {
    if (code == VIP_SUCCESS) return;
    fprintf(stderr, "%s:%d: %s gives %d\n", file, line, call, (int)code);
    exit(1);
}

/* --- Options -------------------------------------------------------------------------------------------- */

static void wrong(const char* what) {
    fprintf(stderr,
            "%s: expected [HOST] [device=NAME] [sizes=BYTES,...] [count=N] [warmup=N] [wait=poll|block]\n"
            "[queue=no|yes] [op=send|rdma] [reuse=PERCENT] [vis=N] [segments=N] [depth=N] [mtu=BYTES]\n"
            "[level=unreliable|delivery|reception] [request=BYTES]\n",
            what);
    exit(2);
}

static long number(const char* argument, const char* text, long least, long most) {
    char* end;
    const long value = strtol(text, &end, 10);
    if (end == text || (*end != 0 && *end != ',') || value < least || value > most) wrong(argument);
    return value;
}

static void read_sizes(struct options* o, const char* argument, const char* text) {
    o->size_count = 0;
    do {
        if (o->size_count == SIZES_MAX) wrong(argument);
        o->sizes[o->size_count++] = (unsigned long)number(argument, text, 0, 1L << 30);
        text += strcspn(text, ",");
    } while (*text++ == ',');
}

/* Which of the words, which end with NULL. */
static int word(const char* argument, const char* text, const char* const* words) {
    int i;
    for (i = 0; words[i] != NULL; ++i)
        if (strcmp(words[i], text) == 0) return i;
    wrong(argument);
    return 0;
}

static void read_option(struct options* o, const char* argument) {
    static const char* const waits[] = {"poll", "block", NULL};
    static const char* const answers[] = {"no", "yes", NULL};
    static const char* const ops[] = {"send", "rdma", NULL};
    static const char* const levels[] = {"unreliable", "delivery", "reception", NULL};
    const unsigned long length = strcspn(argument, "=");
    const char* text = argument + length + 1;
#define IS(name) (length == sizeof(name) - 1 && strncmp(argument, name, length) == 0)
    if (IS("device"))
        o->device = text;
    else if (IS("sizes"))
        read_sizes(o, argument, text);
    else if (IS("count"))
        o->count = number(argument, text, 1, 1L << 30);
    else if (IS("warmup"))
        o->warmup = number(argument, text, 0, 1L << 30);
    else if (IS("wait"))
        o->block = word(argument, text, waits);
    else if (IS("queue"))
        o->queue = word(argument, text, answers);
    else if (IS("op"))
        o->rdma = word(argument, text, ops);
    else if (IS("reuse"))
        o->reuse = number(argument, text, 0, 100);
    else if (IS("vis"))
        o->vis = number(argument, text, 1, 65536);
    else if (IS("segments"))
        o->segments = number(argument, text, 1, 65534);
    else if (IS("depth"))
        o->depth = number(argument, text, 1, 65536);
    else if (IS("mtu"))
        o->mtu = (unsigned long)number(argument, text, 1, 1L << 30);
    else if (IS("level"))
        o->level = (VIP_RELIABILITY_LEVEL)(1 << word(argument, text, levels));
    else if (IS("request"))
        o->request = (unsigned long)number(argument, text, 0, 1L << 30);
    else
        wrong(argument);
#undef IS
}

static const char* const defaults[] = {"device=VINIC", "count=100", "warmup=10",        "reuse=100",  "vis=1",
                                       "segments=1",   "depth=16",  "level=unreliable", "request=16", NULL};

void read_options(struct options* o, const char* const* own, int count, char** arguments) {
    const char* const* one;
    int i;
    memset(o, 0, sizeof *o);
    for (one = defaults; *one != NULL; ++one) read_option(o, *one);
    for (one = own; *one != NULL; ++one) read_option(o, *one);
    for (i = 1; i < count; ++i)
        if (strchr(arguments[i], '=') != NULL)
            read_option(o, arguments[i]);
        else if (o->host == NULL)
            o->host = arguments[i];
        else
            wrong(arguments[i]);
}

unsigned long largest(const struct options* o) {
    unsigned long most = 0;
    int i;
    for (i = 0; i < o->size_count; ++i)
        if (o->sizes[i] > most) most = o->sizes[i];
    return most;
}

unsigned long smaller(unsigned long a, unsigned long b) { return a < b ? a : b; }

/* --- The card ------------------------------------------------------------------------------------------- */

static void needs(struct options* o, int can, const char* what, unsigned long most) {
    if (can) return;
    if (o->host != NULL) printf("# this card has no %s %lu\n", what, most);
    exit(0);
}

void open_nic(struct nic* n, struct options* o) {
    const VIP_NIC_ATTRIBUTES* a = &n->attributes;
    MUST(VipOpenNic(o->device, &n->handle));
    MUST(VipNSInit(n->handle, NULL));
    MUST(VipQueryNic(n->handle, &n->attributes));
    MUST(VipCreatePtag(n->handle, &n->tag));
    needs(o, (a->ReliabilityLevelSupport & o->level) != 0, "such reliability level; its mask is",
          a->ReliabilityLevelSupport);
    needs(o, (unsigned long)o->vis <= a->MaxVI, "more VIs than", a->MaxVI);
    needs(o, (unsigned long)o->segments + (o->rdma ? 1 : 0) <= a->MaxSegmentsPerDesc,
          "so many segments; it has", a->MaxSegmentsPerDesc);
    needs(o, o->mtu <= a->MaxTransferSize, "transfers of that size; the largest are of", a->MaxTransferSize);
    if (o->mtu == 0) o->mtu = a->MaxTransferSize;
}

struct memory new_memory(struct nic* n, unsigned long bytes) {
    struct memory m;
    VIP_MEM_ATTRIBUTES attributes;
    void* at;
    if (posix_memalign(&at, PAGE, bytes) != 0) {
        fprintf(stderr, "no memory\n");
        exit(1);
    }
    memset(at, 0, bytes);
    attributes.Ptag = n->tag;
    attributes.EnableRdmaWrite = VIP_TRUE;
    attributes.EnableRdmaRead = VIP_FALSE;
    m.at = at;
    MUST(VipRegisterMem(n->handle, at, bytes, &attributes, &m.handle));
    return m;
}

/* --- A connection --------------------------------------------------------------------------------------- */

void open_vi(struct connection* c, struct nic* n, const struct options* o, VIP_CQ_HANDLE queue) {
    VIP_VI_ATTRIBUTES a;
    memset(&a, 0, sizeof a);
    a.ReliabilityLevel = o->level;
    a.MaxTransferSize = o->mtu;
    a.Ptag = n->tag;
    a.EnableRdmaWrite = VIP_TRUE;
    c->queue = queue;
    c->block = o->block;
    MUST(VipCreateVi(n->handle, &a, NULL, queue, &c->vi));
}

union address {
    VIP_NET_ADDRESS net;
    char room[64];
};

static void set_discriminator(union address* a, unsigned number) {
    a->net.DiscriminatorLen = sizeof number;
    memcpy(a->net.HostAddress + a->net.HostAddressLen, &number, sizeof number);
}

void connect_vi(struct connection* c, struct nic* n, const struct options* o, unsigned number) {
    union address local, remote;
    VIP_VI_ATTRIBUTES theirs;
    VIP_CONN_HANDLE request;
    VIP_RETURN code;
    local.net.HostAddressLen = n->attributes.NicAddressLen;
    memcpy(local.net.HostAddress, n->attributes.LocalNicAddress, n->attributes.NicAddressLen);
    set_discriminator(&local, number);
    if (o->host == NULL) {
        MUST(VipConnectWait(n->handle, &local.net, VIP_INFINITE, &remote.net, &theirs, &request));
        MUST(VipConnectAccept(request, c->vi));
        return;
    }
    memset(&remote, 0, sizeof remote);
    MUST(VipNSGetHostByName(n->handle, (VIP_CHAR*)o->host, &remote.net, 0));
    set_discriminator(&remote, number);
    /* The server may not be there yet. */
    while ((code = VipConnectRequest(c->vi, &local.net, &remote.net, VIP_INFINITE, &theirs)) == VIP_NO_MATCH)
        usleep(20);
    MUST(code);
}

VIP_DESCRIPTOR* next_send(struct connection* c) {
    VIP_DESCRIPTOR* d;
    VIP_RETURN code;
    if (c->block)
        code = VipSendWait(c->vi, VIP_INFINITE, &d);
    else
        while ((code = VipSendDone(c->vi, &d)) == VIP_NOT_DONE) {
        }
    MUST(code);
    return d;
}

static void await_entry(struct connection* c) {
    VIP_VI_HANDLE vi;
    VIP_BOOLEAN receive;
    VIP_RETURN code;
    if (c->block)
        code = VipCQWait(c->queue, VIP_INFINITE, &vi, &receive);
    else
        while ((code = VipCQDone(c->queue, &vi, &receive)) == VIP_NOT_DONE) {
        }
    MUST(code);
    if (vi != c->vi || !receive) {
        fprintf(stderr, "an entry of another queue\n");
        exit(1);
    }
}

VIP_DESCRIPTOR* next_receive(struct connection* c) {
    VIP_DESCRIPTOR* d;
    VIP_RETURN code;
    if (c->queue != NULL) await_entry(c);
    if (c->block && c->queue == NULL)
        code = VipRecvWait(c->vi, VIP_INFINITE, &d);
    else
        while ((code = VipRecvDone(c->vi, &d)) == VIP_NOT_DONE) {
        }
    MUST(code);
    return d;
}

/* --- Descriptors ---------------------------------------------------------------------------------------- */

/* One for the address of an RDMA write. */
unsigned long descriptor_bytes(int segments) {
    const unsigned long bytes =
        sizeof(VIP_CONTROL_SEGMENT) + (unsigned long)(segments + 1) * sizeof(VIP_DESCRIPTOR_SEGMENT);
    return (bytes + VIP_DESCRIPTOR_ALIGNMENT - 1) / VIP_DESCRIPTOR_ALIGNMENT * VIP_DESCRIPTOR_ALIGNMENT;
}

VIP_DESCRIPTOR* descriptor(struct memory* m, unsigned long i, int segments) {
    return (VIP_DESCRIPTOR*)(m->at + i * descriptor_bytes(segments));
}

static void describe_from(VIP_DESCRIPTOR* d, int first, char* at, VIP_MEM_HANDLE handle, unsigned long bytes,
                          int segments) {
    VIP_DESCRIPTOR_SEGMENT* s = d->DS + first;
    unsigned long left = bytes;
    d->CS.SegCount = (VIP_UINT16)(first + (bytes == 0 ? 0 : segments));
    d->CS.Length = (VIP_UINT32)bytes;
    if (bytes == 0) return;
    for (; segments > 0; --segments, ++s) {
        s->Local.Data.Address = at;
        s->Local.Handle = handle;
        s->Local.Length = (VIP_UINT32)(left / (unsigned long)segments);
        at += s->Local.Length;
        left -= s->Local.Length;
    }
}

void describe(VIP_DESCRIPTOR* d, char* at, VIP_MEM_HANDLE handle, unsigned long bytes, int segments) {
    memset(&d->CS, 0, sizeof d->CS);
    describe_from(d, 0, at, handle, bytes, segments);
}

void describe_write(VIP_DESCRIPTOR* d, char* at, VIP_MEM_HANDLE handle, unsigned long bytes, int segments,
                    const struct memory* to) {
    memset(&d->CS, 0, sizeof d->CS);
    d->CS.Control = VIP_CONTROL_OP_RDMAWRITE;
    memset(&d->DS[0], 0, sizeof d->DS[0]);
    d->DS[0].Remote.Data.Address = to->at;
    d->DS[0].Remote.Handle = to->handle;
    describe_from(d, 1, at, handle, bytes, segments);
}

/* --- Time ----------------------------------------------------------------------------------------------- */

double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

double processor_us(void) {
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e6 +
           (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec);
}

double percent(double used_us, double span_us) { return used_us < span_us ? 100 * used_us / span_us : 100; }

struct spent measure(const struct options* o, void (*exchange)(long number, unsigned long size),
                     unsigned long size) {
    struct spent all = {0, 0};
    double start = 0, used = 0;
    long i;
    for (i = 0; i < o->warmup + o->count; ++i) {
        if (i == o->warmup) {
            used = processor_us();
            start = now_us();
        }
        exchange(i, size);
    }
    all.us = now_us() - start;
    all.processor_us = processor_us() - used;
    return all;
}
