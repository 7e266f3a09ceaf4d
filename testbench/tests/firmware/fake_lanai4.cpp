// SPDX-License-Identifier: Apache-2.0
#include "testbench/tests/firmware/fake_lanai4.h"

#include <cstring>
#include <stdexcept>
#include <type_traits>

namespace vinic::testbench {

namespace {

fake_lanai4* card = nullptr;

template <typename type>
void clear(type& object) {
    std::memset(reinterpret_cast<void*>(const_cast<std::remove_volatile_t<type>*>(&object)), 0,
                sizeof(object));
}

// The firmware's variables as the loader leaves them. The VIs of an earlier card are known to nobody.
void reset_firmware() {
    using namespace bvia;
    clear(regions), clear(page_cache), clear(vis), clear(completion_queues), clear(events);
    clear(sent_packets), clear(received_packets), clear(second_is_next), clear(sending),
        clear(waits_for_wire);
    clear(armed), clear(arrived), clear(discarding), clear(dma_running), clear(completion_buffer);
    clear(first_scheduled), clear(last_scheduled), clear(push_areas), clear(last_command);
}

}  // namespace

fake_lanai4::fake_lanai4(const fake_settings& settings) : fake_host(settings) {
    card = this;
    reset_firmware();
    bvia::initialise();
    open_process(0);
}

const fake_host::chip& fake_lanai4::bits() const {
    using namespace abi::lanai4;
    static constexpr chip of_this{ISR_SEND, ISR_RECV, ISR_BUFF, 1};
    return of_this;
}

uint32_t fake_lanai4::load_register(uint32_t offset) {
    using namespace abi::lanai4;
    if (offset == ISR) {
        if (!lazy()) end_dma();
        if (!lazy()) leave();
        return isr_;
    }
    if (offset == RMP) return receive_pointer_;
    throw std::runtime_error("the firmware loads a register that it does not need");
}

void fake_lanai4::store_register(uint32_t offset, uint32_t value) {
    using namespace abi::lanai4;
    const bool of_dma = offset == EAR || offset == LAR || offset == DMA_DIR || offset == DMA_CTR;
    if (of_dma && moving_) throw std::runtime_error("the DMA engine is written to while it runs");
    if ((offset == SMP || offset == SA || offset == SMLT) && sending())
        throw std::runtime_error("the send engine is written to while it runs");
    if (offset == ISR) {
        isr_ &= ~(value & ~ISR_HOST_SIG);
        if (value & ISR_HOST_SIG) ++interrupts;
    } else if (offset == EAR) {
        host_ = value;
    } else if (offset == LAR) {
        local_ = value;
    } else if (offset == DMA_DIR) {
        to_card_ = value != 0;
    } else if (offset == DMA_CTR) {
        count_ = value;
        moving_ = true;
    } else if (offset == RMP) {
        receive_pointer_ = value;
    } else if (offset == RML) {
        arm_receive(value);
    } else if (offset == SMP) {
        send_start_ = value;
    } else if (offset == SA) {
        send_skip_ = value;
    } else if (offset == SMLT) {
        start_send(send_start_, send_skip_, value);
    }
}

void fake_lanai4::end_dma() {
    if (!moving_) return;
    moving_ = false;
    transfer(host_, local_, count_, to_card_, "the DMA engine");
    if (to_card_) ++dma_reads;
    isr_ |= abi::lanai4::ISR_DMA;
}

}  // namespace vinic::testbench

namespace vinic::bvia::hardware {

uint32_t load(register_offset offset) { return testbench::card->load_register(offset); }
void store(register_offset offset, uint32_t value) { testbench::card->store_register(offset, value); }
uint32_t sram_address(const volatile void* pointer) { return testbench::sram_address_of(pointer); }

}  // namespace vinic::bvia::hardware
