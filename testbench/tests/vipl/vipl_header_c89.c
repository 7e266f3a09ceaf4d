/* SPDX-License-Identifier: Apache-2.0 */

/* A C program of the time: VIPL095, generic names of its own (facts vipl.md 10.7), both spellings of the
   descriptor. Compiled as gnu89 with -pedantic -Werror. */
#include <stddef.h>
#include <stdio.h>

#define VIPL095
#include "vipl/vipl.h"

typedef enum { false = 0, true = 1 } bool;
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define TIMEOUT 5000

static const int status_masks[] = {VIP_STATUS_DONE, VIP_STATUS_OP_MASK, VIP_STATUS_ERROR_MASK,
                                   VIP_STATUS_IMMEDIATE};

static int handler_calls = 0;

static void on_error(void* context, VIP_ERROR_DESCRIPTOR* error) {
    *(int*)context += (int)error->ErrorCode;
    handler_calls++;
}

/* A member the way C89 code sees it: where it lies, and that both names reach it. */
int c89_descriptor_offset(const char* member_name) {
    VIP_DESCRIPTOR d;
    d.CS.Status = 7;
    if (d.Control.Status != 7) return -1;
    d.DS[0].Local.Length = 9;
    if (d.Data[0].Length != 9) return -1;
    switch (member_name[0]) {
        case 'S':
            return (int)offsetof(VIP_DESCRIPTOR, CS.Status);
        case 'D':
            return (int)offsetof(VIP_DESCRIPTOR, Data);
        default:
            return (int)sizeof(VIP_DESCRIPTOR);
    }
}

int c89_sum_of_status_masks(void) {
    int sum = 0;
    size_t i;
    for (i = 0; i < sizeof status_masks / sizeof status_masks[0]; i++) sum += status_masks[i];
    return MIN(sum, TIMEOUT * 1000);
}

/* The address of a plain function is accepted as the handler without a cast. */
int c89_call_handler(VIP_ERROR_CODE code) {
    VIP_RETURN (*install)(VIP_NIC_HANDLE, VIP_PVOID, void (*)(VIP_PVOID, VIP_ERROR_DESCRIPTOR*)) = NULL;
    VIP_ERROR_HANDLER handler = on_error;
    VIP_ERROR_DESCRIPTOR error;
    int context = 0;
    bool installed = install != NULL ? true : false;
    error.ErrorCode = code;
    handler(&context, &error);
    return installed == false && handler_calls > 0 ? context : -1;
}

#ifndef VIP_ERROR_NOT_SUPPORTED
#error "programs test VIP_ERROR_NOT_SUPPORTED with #ifndef"
#endif
#ifndef VIP_NOT_REACHABLE
#error "the same for VIP_NOT_REACHABLE"
#endif
int c89_not_supported(void) { return VIP_ERROR_NOT_SUPPORTED; }
