// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace vinic::driver {

/// What the kernel agent answers. The numbers are those of VIP_RETURN (facts vipl.md 1.2); vipl/ asserts it.
enum class status {
    success = 0,
    not_done = 1,
    invalid_parameter = 2,
    error_resource = 3,
    timeout = 4,
    reject = 5,
    invalid_reliability_level = 6,
    invalid_mtu = 7,
    invalid_qos = 8,
    invalid_ptag = 9,
    invalid_rdmaread = 10,
    descriptor_error = 11,
    invalid_state = 12,
    error_nameservice = 13,
    no_match = 14,
    not_reachable = 15,
    not_supported = 16
};

/// Asynchronous errors; the numbers are those of VIP_ERROR_CODE (facts vipl.md 1.3).
enum class error_code {
    post_descriptor = 0,
    connection_lost = 1,
    receive_queue_empty = 2,
    vi_overrun = 3,
    rdma_write_protection = 4,
    rdma_write_data = 5,
    rdma_write_abort = 6,
    rdma_read_protection = 7,
    completion_protection = 8,
    rdma_transport = 9,
    catastrophic = 10
};

}  // namespace vinic::driver
