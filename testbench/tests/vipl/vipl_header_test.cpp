// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "vipl/vipl.h"

// vipl_header_c89.c: the same header in a gnu89 translation unit.
extern "C" {
int c89_descriptor_offset(const char* member);
int c89_sum_of_status_masks(void);
int c89_call_handler(VIP_ERROR_CODE code);
int c89_not_supported(void);
}

namespace {

// facts vipl.md 2: Status @28, segments @32, 64 bytes in all.
TEST(vipl_header, descriptor_has_the_same_layout_in_c89) {
    EXPECT_EQ(c89_descriptor_offset("Status"), 28);
    EXPECT_EQ(c89_descriptor_offset("Data"), 32);
    EXPECT_EQ(c89_descriptor_offset(""), 64);
}

// 1.4: DONE 1 + OP_MASK 0x70000 + ERROR_MASK 0x1FE + IMMEDIATE 0x80000 = 0xF01FF = 983551.
TEST(vipl_header, status_bits_fill_static_tables_of_int) { EXPECT_EQ(c89_sum_of_status_masks(), 983551); }

// 1.3: RDMA_TRANSPORT is 9.
TEST(vipl_header, plain_function_is_an_error_handler) {
    EXPECT_EQ(c89_call_handler(VIP_ERROR_RDMA_TRANSPORT), 9);
}

// 1.2: codes 0 to 16 in this order.
TEST(vipl_header, return_codes_have_their_numbers) {
    EXPECT_EQ(VIP_SUCCESS, 0);
    EXPECT_EQ(VIP_NOT_DONE, 1);
    EXPECT_EQ(VIP_INVALID_PARAMETER, 2);
    EXPECT_EQ(VIP_ERROR_RESOURCE, 3);
    EXPECT_EQ(VIP_TIMEOUT, 4);
    EXPECT_EQ(VIP_REJECT, 5);
    EXPECT_EQ(VIP_INVALID_RELIABILITY_LEVEL, 6);
    EXPECT_EQ(VIP_INVALID_MTU, 7);
    EXPECT_EQ(VIP_INVALID_QOS, 8);
    EXPECT_EQ(VIP_INVALID_PTAG, 9);
    EXPECT_EQ(VIP_INVALID_RDMAREAD, 10);
    EXPECT_EQ(VIP_ERROR, 11);
    EXPECT_EQ(VIP_INVALID_STATE, 12);
    EXPECT_EQ(VIP_ERROR_NAMESERVICE, 13);
    EXPECT_EQ(VIP_NO_MATCH, 14);
    EXPECT_EQ(VIP_NOT_REACHABLE, 15);
    EXPECT_EQ(c89_not_supported(), 16);
}

}  // namespace
