
// The VI descriptor in host memory, in the program's byte order (facts vipl.md 1.4, 2, 3). vipl.h restates it
// for C programs; static assertions in vipl/ pin the two together.
#pragma once

#include <stdint.h>

namespace vinic::abi {

struct vi_control_segment {
    uint64_t next;
    uint32_t next_handle;
    uint16_t segment_count;
    uint16_t control;
    uint32_t reserved;
    uint32_t immediate_data;
    uint32_t length;
    uint32_t status;
};
static_assert(sizeof(vi_control_segment) == 32);

struct vi_data_segment {
    uint64_t data;
    uint32_t handle;
    uint32_t length;
};
struct vi_address_segment {
    uint64_t data;
    uint32_t handle;
    uint32_t reserved;
};
static_assert(sizeof(vi_data_segment) == 16 && sizeof(vi_address_segment) == 16);

enum vi_control_bit : uint16_t {
    vi_op_send_receive = 0x0,
    vi_op_rdma_write = 0x1,
    vi_op_rdma_read = 0x2,
    vi_op_mask = 0x3,
    vi_control_immediate = 0x4,
    vi_control_queue_fence = 0x8,
    vi_control_reserved = 0xFFF0
};

enum vi_status_bit : uint32_t {
    vi_status_done = 0x00000001,
    vi_status_format_error = 0x00000002,
    vi_status_protection_error = 0x00000004,
    vi_status_length_error = 0x00000008,
    vi_status_partial_error = 0x00000010,
    vi_status_flushed_error = 0x00000020,
    vi_status_transport_error = 0x00000040,
    vi_status_rdma_protection_error = 0x00000080,
    vi_status_remote_descriptor_error = 0x00000100,
    vi_status_error_mask = 0x000001FE,
    vi_status_op_send = 0x00000000,
    vi_status_op_receive = 0x00010000,
    vi_status_op_rdma_write = 0x00020000,
    vi_status_op_remote_rdma_write = 0x00030000,
    vi_status_op_rdma_read = 0x00040000,
    vi_status_op_mask = 0x00070000,
    vi_status_immediate = 0x00080000
};

enum vi_reliability : uint16_t { vi_unreliable = 1, vi_reliable_delivery = 2, vi_reliable_reception = 4 };

}  // namespace vinic::abi
