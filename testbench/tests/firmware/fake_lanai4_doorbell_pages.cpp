// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/firmware/fake_lanai4.h"

namespace vinic::testbench {

// As the library does (myvia_card.h, doorbells_in_vi_pages). Pages of others are not mapped.
void fake_lanai4::ring(abi::myvia::doorbell_op op, uint32_t index, uint32_t data, uint32_t process) {
    using namespace abi::myvia;
    const uint32_t page_number = op == doorbell_arm_queue ? card_interface.max_vis + index : index;
    if (!is_owner(page_number, process)) return;
    const bool pushes = op >= doorbell_send_pushed, arms = !pushes && op >= doorbell_arm_send;
    const uint32_t word = pushes ? uint32_t{doorbell_send} : op;
    const uint32_t beside = arms ? arms_++ % 2048 : pushes ? op - doorbell_send_pushed + 1 : 0;
    bvia::doorbell_pages[page_number][word] = doorbell_valid | beside << 20 | word << 16 | (data & 0xFFFF);
}

}  // namespace vinic::testbench
