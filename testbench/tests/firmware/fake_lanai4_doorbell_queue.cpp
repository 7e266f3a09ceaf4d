// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "testbench/tests/firmware/fake_lanai4.h"

namespace vinic::testbench {

void fake_lanai4::ring(abi::myvia::doorbell_op op, uint32_t index, uint32_t data, uint32_t process) {
    using namespace abi::myvia;
    volatile doorbell& entry =
        bvia::doorbell_page_of[process].ring[doorbell_heads_[process]++ % doorbells_per_page];
    if (entry.what != 0) throw std::runtime_error("doorbell queue overrun by the test");
    entry.data = data;
    entry.what = doorbell_valid | static_cast<uint32_t>(op) << 16 | index;
}

}  // namespace vinic::testbench
