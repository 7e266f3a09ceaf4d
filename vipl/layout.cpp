// SPDX-License-Identifier: Apache-2.0

// vipl.h restates the descriptor for C programs; here it is pinned to the contract with the card, and the
// structures to the offsets of facts/vipl.md 2 (LP64).
#include <cstddef>

#include "firmware/abi/vi_descriptor.h"
#include "host_driver/status.h"
#include "host_driver/types.h"
#include "vipl/vipl.h"

namespace vinic::vipl {
namespace {

static_assert(sizeof(VIP_PVOID64) == 8 && sizeof(VIP_MEM_HANDLE) == 4);

static_assert(sizeof(VIP_CONTROL_SEGMENT) == sizeof(abi::vi_control_segment));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Next) == offsetof(abi::vi_control_segment, next));
static_assert(offsetof(VIP_CONTROL_SEGMENT, NextHandle) == offsetof(abi::vi_control_segment, next_handle));
static_assert(offsetof(VIP_CONTROL_SEGMENT, SegCount) == offsetof(abi::vi_control_segment, segment_count));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Control) == offsetof(abi::vi_control_segment, control));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Reserved) == offsetof(abi::vi_control_segment, reserved));
static_assert(offsetof(VIP_CONTROL_SEGMENT, ImmediateData) ==
              offsetof(abi::vi_control_segment, immediate_data));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Length) == offsetof(abi::vi_control_segment, length));
static_assert(offsetof(VIP_CONTROL_SEGMENT, Status) == offsetof(abi::vi_control_segment, status));

static_assert(sizeof(VIP_DATA_SEGMENT) == sizeof(abi::vi_data_segment));
static_assert(offsetof(VIP_DATA_SEGMENT, Data) == offsetof(abi::vi_data_segment, data));
static_assert(offsetof(VIP_DATA_SEGMENT, Handle) == offsetof(abi::vi_data_segment, handle));
static_assert(offsetof(VIP_DATA_SEGMENT, Length) == offsetof(abi::vi_data_segment, length));

static_assert(sizeof(VIP_ADDRESS_SEGMENT) == sizeof(abi::vi_address_segment));
static_assert(offsetof(VIP_ADDRESS_SEGMENT, Data) == offsetof(abi::vi_address_segment, data));
static_assert(offsetof(VIP_ADDRESS_SEGMENT, Handle) == offsetof(abi::vi_address_segment, handle));
static_assert(offsetof(VIP_ADDRESS_SEGMENT, Reserved) == offsetof(abi::vi_address_segment, reserved));

static_assert(sizeof(VIP_DESCRIPTOR) == VIP_DESCRIPTOR_ALIGNMENT);
static_assert(offsetof(VIP_DESCRIPTOR, CS) == 0 && offsetof(VIP_DESCRIPTOR, Control) == 0);
static_assert(offsetof(VIP_DESCRIPTOR, DS) == 32 && offsetof(VIP_DESCRIPTOR, Data) == 32);

static_assert(VIP_CONTROL_OP_SENDRECV == abi::vi_op_send_receive);
static_assert(VIP_CONTROL_OP_RDMAWRITE == abi::vi_op_rdma_write);
static_assert(VIP_CONTROL_OP_RDMAREAD == abi::vi_op_rdma_read);
static_assert(VIP_CONTROL_OP_MASK == abi::vi_op_mask);
static_assert(VIP_CONTROL_IMMEDIATE == abi::vi_control_immediate);
static_assert(VIP_CONTROL_QFENCE == abi::vi_control_queue_fence);
static_assert(VIP_CONTROL_RESERVED == abi::vi_control_reserved);

static_assert(VIP_STATUS_DONE == abi::vi_status_done);
static_assert(VIP_STATUS_FORMAT_ERROR == abi::vi_status_format_error);
static_assert(VIP_STATUS_PROTECTION_ERROR == abi::vi_status_protection_error);
static_assert(VIP_STATUS_LENGTH_ERROR == abi::vi_status_length_error);
static_assert(VIP_STATUS_PARTIAL_ERROR == abi::vi_status_partial_error);
static_assert(VIP_STATUS_DESC_FLUSHED_ERROR == abi::vi_status_flushed_error);
static_assert(VIP_STATUS_TRANSPORT_ERROR == abi::vi_status_transport_error);
static_assert(VIP_STATUS_RDMA_PROT_ERROR == abi::vi_status_rdma_protection_error);
static_assert(VIP_STATUS_REMOTE_DESC_ERROR == abi::vi_status_remote_descriptor_error);
static_assert(VIP_STATUS_ERROR_MASK == abi::vi_status_error_mask);
static_assert(VIP_STATUS_OP_SEND == abi::vi_status_op_send);
static_assert(VIP_STATUS_OP_RECEIVE == abi::vi_status_op_receive);
static_assert(VIP_STATUS_OP_RDMA_WRITE == abi::vi_status_op_rdma_write);
static_assert(VIP_STATUS_OP_REMOTE_RDMA_WRITE == abi::vi_status_op_remote_rdma_write);
static_assert(VIP_STATUS_OP_RDMA_READ == abi::vi_status_op_rdma_read);
static_assert(VIP_STATUS_OP_MASK == abi::vi_status_op_mask);
static_assert(VIP_STATUS_IMMEDIATE == abi::vi_status_immediate);

static_assert(VIP_SERVICE_UNRELIABLE == abi::vi_unreliable);
static_assert(VIP_SERVICE_RELIABLE_DELIVERY == abi::vi_reliable_delivery);
static_assert(VIP_SERVICE_RELIABLE_RECEPTION == abi::vi_reliable_reception);

static_assert(sizeof(VIP_NET_ADDRESS) == 6);
static_assert(offsetof(VIP_NET_ADDRESS, DiscriminatorLen) == 2 &&
              offsetof(VIP_NET_ADDRESS, HostAddress) == 4);

static_assert(sizeof(VIP_NIC_ATTRIBUTES) == 200);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, HardwareVersion) == 64);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, ProviderVersion) == 72);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, NicAddressLen) == 80);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, LocalNicAddress) == 88);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, ThreadSafe) == 96);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, MaxDiscriminatorLen) == 100);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, MaxRegisterBytes) == 104);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, MaxRegisterRegions) == 112);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, MaxRegisterBlockBytes) == 120);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, MaxVI) == 128);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, MaxDescriptorsPerQueue) == 136);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, MaxSegmentsPerDesc) == 144);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, MaxCQ) == 152);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, MaxCQEntries) == 160);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, MaxTransferSize) == 168);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, NativeMTU) == 176);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, MaxPtags) == 184);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, ReliabilityLevelSupport) == 192);
static_assert(offsetof(VIP_NIC_ATTRIBUTES, RDMAReadSupport) == 194);

static_assert(sizeof(VIP_VI_ATTRIBUTES) == 40);
static_assert(offsetof(VIP_VI_ATTRIBUTES, MaxTransferSize) == 8 && offsetof(VIP_VI_ATTRIBUTES, QoS) == 16);
static_assert(offsetof(VIP_VI_ATTRIBUTES, Ptag) == 24 && offsetof(VIP_VI_ATTRIBUTES, EnableRdmaWrite) == 32);
static_assert(offsetof(VIP_VI_ATTRIBUTES, EnableRdmaRead) == 36);

static_assert(sizeof(VIP_MEM_ATTRIBUTES) == 16);
static_assert(offsetof(VIP_MEM_ATTRIBUTES, EnableRdmaWrite) == 8);
static_assert(offsetof(VIP_MEM_ATTRIBUTES, EnableRdmaRead) == 12);

static_assert(sizeof(VIP_ERROR_DESCRIPTOR) == 48);
static_assert(offsetof(VIP_ERROR_DESCRIPTOR, ViHandle) == 8 &&
              offsetof(VIP_ERROR_DESCRIPTOR, CQHandle) == 16);
static_assert(offsetof(VIP_ERROR_DESCRIPTOR, DescriptorPtr) == 24);
static_assert(offsetof(VIP_ERROR_DESCRIPTOR, OpCode) == 32);
static_assert(offsetof(VIP_ERROR_DESCRIPTOR, ResourceCode) == 40);
static_assert(offsetof(VIP_ERROR_DESCRIPTOR, ErrorCode) == 44);

static_assert(sizeof(VIP_AUTODISCOVERY_LIST) == 24);

// The kernel agent speaks in the same numbers.
constexpr bool same(driver::status ours, VIP_RETURN theirs) { return static_cast<int>(ours) == theirs; }
static_assert(same(driver::status::success, VIP_SUCCESS));
static_assert(same(driver::status::not_done, VIP_NOT_DONE));
static_assert(same(driver::status::invalid_parameter, VIP_INVALID_PARAMETER));
static_assert(same(driver::status::error_resource, VIP_ERROR_RESOURCE));
static_assert(same(driver::status::timeout, VIP_TIMEOUT));
static_assert(same(driver::status::reject, VIP_REJECT));
static_assert(same(driver::status::invalid_reliability_level, VIP_INVALID_RELIABILITY_LEVEL));
static_assert(same(driver::status::invalid_mtu, VIP_INVALID_MTU));
static_assert(same(driver::status::invalid_qos, VIP_INVALID_QOS));
static_assert(same(driver::status::invalid_ptag, VIP_INVALID_PTAG));
static_assert(same(driver::status::invalid_rdmaread, VIP_INVALID_RDMAREAD));
static_assert(same(driver::status::descriptor_error, VIP_DESCRIPTOR_ERROR));
static_assert(same(driver::status::invalid_state, VIP_INVALID_STATE));
static_assert(same(driver::status::error_nameservice, VIP_ERROR_NAMESERVICE));
static_assert(same(driver::status::no_match, VIP_NO_MATCH));
static_assert(same(driver::status::not_reachable, VIP_NOT_REACHABLE));
static_assert(same(driver::status::not_supported, VIP_ERROR_NOT_SUPPORTED));

constexpr bool same(driver::error_code ours, VIP_ERROR_CODE theirs) {
    return static_cast<unsigned>(ours) == theirs;
}
static_assert(same(driver::error_code::post_descriptor, VIP_ERROR_POST_DESC));
static_assert(same(driver::error_code::connection_lost, VIP_ERROR_CONN_LOST));
static_assert(same(driver::error_code::receive_queue_empty, VIP_ERROR_RECVQ_EMPTY));
static_assert(same(driver::error_code::vi_overrun, VIP_ERROR_VI_OVERRUN));
static_assert(same(driver::error_code::rdma_write_protection, VIP_ERROR_RDMAW_PROT));
static_assert(same(driver::error_code::rdma_write_data, VIP_ERROR_RDMAW_DATA));
static_assert(same(driver::error_code::rdma_write_abort, VIP_ERROR_RDMAW_ABORT));
static_assert(same(driver::error_code::rdma_read_protection, VIP_ERROR_RDMAR_PROT));
static_assert(same(driver::error_code::completion_protection, VIP_ERROR_COMP_PROT));
static_assert(same(driver::error_code::rdma_transport, VIP_ERROR_RDMA_TRANSPORT));
static_assert(same(driver::error_code::catastrophic, VIP_ERROR_CATASTROPHIC));

constexpr bool same(driver::vi_state ours, VIP_VI_STATE theirs) {
    return static_cast<unsigned>(ours) == theirs;
}
static_assert(same(driver::vi_state::idle, VIP_STATE_IDLE));
static_assert(same(driver::vi_state::connected, VIP_STATE_CONNECTED));
static_assert(same(driver::vi_state::connect_pending, VIP_STATE_CONNECT_PENDING));
static_assert(same(driver::vi_state::error, VIP_STATE_ERROR));

}  // namespace
}  // namespace vinic::vipl
