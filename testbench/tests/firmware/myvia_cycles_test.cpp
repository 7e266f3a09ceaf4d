// SPDX-License-Identifier: Apache-2.0

// The MyVIA firmware's own cycles for a small message, counted on the LANai core. Bus, host and wire are
// fixed delays, which the sums leave out: what is left is from the event that the firmware waits for to its
// answer.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "firmware/abi/card_map.h"
#include "firmware/abi/lanai_registers.h"
#include "firmware/abi/myvia_card.h"
#include "firmware/abi/vi_descriptor.h"
#include "firmware/linker/image.h"
#include "hw/nic/lanai/core.h"

namespace vinic::lanai::testing {
namespace {

using namespace abi::lanai9;
using namespace abi::myvia;
using bytes = std::vector<std::uint8_t>;

constexpr cycle wire_cycles = 1000, send_cycles = 60;
constexpr std::array<cycle, 4> dma_cycles = {170, 170, 80, 60};

std::uint32_t big(const std::uint8_t* at) { return at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3]; }
void set_big(std::uint8_t* at, std::uint32_t value) {
    for (int i = 0; i != 4; ++i) at[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

// Two VIs of one card, connected by a cable from the card to itself.
class card final : public device_port {
public:
    card(const std::string& name, abi::vi_reliability reliability)
        : sram_(2u << 20), host_(8u << 20), core_({}, sram_, *this) {
        const linker::image image(VINIC_BINARY_DIR "/share/vinic/firmware/" + name + ".elf");
        if (const auto doorbells = image.address_of(doorbell_interface_symbol))
            fifo_ = image.word_at(*doorbells + 4).value();
        for (const linker::image_segment& s : image.segments())
            std::copy(s.bytes.begin(), s.bytes.end(), sram_.begin() + s.address);
        interface_ = image.address_of("card_interface").value();
        set(offsetof(card_interface_block, host_event_ring_low), 0x100000);
        set(offsetof(card_interface_block, host_event_entries), 16);
        set(offsetof(card_interface_block, host_page_table_low), 0x200000);
        set(offsetof(card_interface_block, host_page_table_entries), 4096);
        set(offsetof(card_interface_block, retransmit_ticks), 2000);
        set(offsetof(card_interface_block, retransmit_limit), 5);
        core_.reset(0);
        for (int i = 0; i != 100 && get(offsetof(card_interface_block, ready)) == 0; ++i) run(100'000);
        for (unsigned i = 0; i != 4; ++i)
            channels_[i].block = get(offsetof(card_interface_block, dma_chains) + 4 * i);
        set(offsetof(card_interface_block, go), 1);
        set_big(&host_[0x200004], 0x600000);
        command(command_open_process, {0, 0, 0x300000});
        for (const std::uint32_t v : {1u, 2u})
            command(command_create_vi, {v, 0, 7, reliability, 65536, 0, 0, 0x400000 + v * 0x10000, 0,
                                        0x500000 + v * 0x10000, 64, no_queue, no_queue});
        command(command_set_region, {0, 0x10001, 0, 0x10000, 4096, 0, 7, 0});
        command(command_connect_vi, {1, 2, 5, 1, 0x81000000, 0, 65536});
        command(command_connect_vi, {2, 1, 5, 1, 0x81000000, 0, 65536});
    }

    void post(std::uint32_t vi, bool receives, std::uint32_t length, bool immediate) {
        std::uint32_t& posted = posted_[vi][receives];
        std::uint8_t* slot = &host_[ring(vi, receives) + posted % 64 * slot_bytes];
        std::fill_n(slot, slot_bytes, std::uint8_t{0});
        set_big(slot + offsetof(abi::myvia::slot, control_and_count),
                immediate && !receives ? std::uint32_t{abi::vi_control_immediate} << 16 | 1 : 1);
        set_big(slot + offsetof(abi::myvia::slot, immediate), 0x1234);
        set_big(slot + offsetof(abi::myvia::slot, length), length);
        set_big(slot + 36, receives ? 0x10800 : 0x10000);
        set_big(slot + 40, 0x10001);
        set_big(slot + 44, length);
        ++posted;
        ring(vi, receives ? doorbell_receive : doorbell_send, posted);
        happened("doorbell");
    }

    // Status of the slot that was posted last.
    std::uint32_t status(std::uint32_t vi, bool receives) const {
        return big(&host_[ring(vi, receives) + (posted_[vi][receives] - 1) % 64 * slot_bytes + 28]);
    }
    std::uint8_t* memory(std::uint32_t offset) { return &host_[0x600000 + offset]; }

    void run(cycle cycles) {
        const cycle until = now_ + cycles;
        while (now_ < until) {
            const cycle limit = events_.empty() ? until : std::min(until, events_.begin()->first);
            const run_result r = core_.run_ahead(limit);
            core_.sync(now_ = std::min(r.at, limit));
            ASSERT_FALSE(core_.pending_trap().has_value());
            if (r.reason == stop_reason::device_access && now_ < limit) {
                core_.execute_device_access(now_);
                continue;
            }
            while (!events_.empty() && events_.begin()->first <= now_)
                events_.extract(events_.begin()).mapped()();
        }
    }

    // Cycles from the last event of one name to the first that followed it of another.
    void watch() { log_.clear(); }
    cycle between(const std::string& from, const std::string& to) const {
        const auto named = [](const std::string& name) {
            return [name](const auto& entry) { return entry.second == name; };
        };
        const auto start = std::find_if(log_.begin(), log_.end(), named(from));
        const auto end = std::find_if(start, log_.end(), named(to));
        if (end == log_.end()) return 1'000'000;
        return end->first - start->first;
    }
    cycle from_arrival(int nth_write) const {
        const auto start =
            std::find_if(log_.begin(), log_.end(), [](auto& e) { return e.second == "arrival"; });
        for (auto i = start; i != log_.end(); ++i)
            if (i->second == "pulse 2" && nth_write-- == 0) return i->first - start->first;
        return 1'000'000;
    }

private:
    struct channel {
        std::uint32_t block = 0;
        unsigned pulses = 0;
    };

    static std::uint32_t ring(std::uint32_t vi, bool receives) {
        return (receives ? 0x500000 : 0x400000) + vi * 0x10000;
    }
    void ring(std::uint32_t vi, doorbell_op op, std::uint32_t posted) {
        const std::uint32_t entry = rung_++;
        if (fifo_ == 0) {
            const std::uint32_t bell =
                get(offsetof(card_interface_block, doorbell_pages)) + 8 * (entry % 512);
            write(bell + 4, posted);
            write(bell, doorbell_valid | op << 16 | vi);
            return;
        }
        const std::uint32_t at = fifo_ + 8 * (entry % 8192);
        write(at + 4, posted);
        write(at, vi * abi::card_map::doorbell_page_bytes + 4 * op);
        isr_ |= ISR_WAKE0;
    }
    void happened(std::string what) { log_.emplace_back(now_, std::move(what)); }
    std::uint32_t get(std::size_t offset) const { return big(&sram_[interface_ + offset]); }
    void set(std::size_t offset, std::uint32_t value) { set_big(&sram_[interface_ + offset], value); }
    void write(std::uint32_t address, std::uint32_t value) {
        std::array<std::uint8_t, 4> word;
        set_big(word.data(), value);
        core_.write_sram(address, word);
    }
    void command(command_op op, const std::vector<std::uint32_t>& arguments) {
        const std::uint32_t request = interface_ + offsetof(card_interface_block, request);
        write(request, op);
        for (std::uint32_t i = 0; i != arguments.size(); ++i) write(request + 4 + 4 * i, arguments[i]);
        write(interface_ + offsetof(card_interface_block, command_number), ++commands_);
        for (int i = 0; i != 100 && get(offsetof(card_interface_block, command_done)) != commands_; ++i)
            run(1000);
        EXPECT_EQ(get(offsetof(card_interface_block, command_done)), commands_) << op;
        EXPECT_EQ(get(offsetof(card_interface_block, command_status)), 0u) << op;
    }

    void start_block(unsigned n) {
        events_.emplace(now_ + dma_cycles[n], [this, n] { end_block(n); });
    }
    void end_block(unsigned n) {
        const std::uint32_t block = channels_[n].block, flags = big(&sram_[block]);
        const std::uint32_t length = big(&sram_[block + 8]), local = big(&sram_[block + 12]);
        std::uint8_t* host = &host_[big(&sram_[block + 20])];
        if ((flags & abi::dma_flag_host_to_lanai) != 0)
            core_.write_sram(local, {host, length});
        else
            std::copy_n(&sram_[local], length, host);
        write(block + 4, 0xFFFF);
        channels_[n].block = flags & ~abi::dma_flags_mask;
        constexpr std::array<std::uint32_t, 4> wakes = {ISR_WAKE0, ISR_WAKE1, ISR_WAKE2, 0};
        if ((flags & abi::dma_flag_wake) != 0) isr_ |= wakes[n];
        happened(fmt::format("done {}", n));
        if (--channels_[n].pulses != 0) start_block(n);
    }
    void send() {
        happened("send");
        bytes packet(&sram_[send_start_ + send_skip_], &sram_[send_end_] + 4);
        while ((packet.front() & 0x80) != 0) packet.erase(packet.begin());
        packet.resize(packet.size() + 5);  // CRC-32 and CRC-8: intact
        events_.emplace(now_ + send_cycles, [this] { isr_ |= ISR_SEND; });
        events_.emplace(now_ + wire_cycles, [this, packet] {
            core_.write_sram(receive_, packet);
            receive_ += static_cast<std::uint32_t>((packet.size() + 3) / 4 * 4);
            isr_ |= ISR_RECV;
            happened("arrival");
        });
    }

    bool mapped(std::uint32_t address, unsigned) const override { return address >= register_base; }
    std::uint32_t load(std::uint32_t address, unsigned, cycle) override {
        return address - register_base == ISR ? isr_ : address - register_base == RMP ? receive_ : 0;
    }
    void store(std::uint32_t address, unsigned, std::uint32_t value, cycle) override {
        const std::uint32_t at = address - register_base;
        if (at == ISR) isr_ &= ~value;
        if (at == RMC) receive_ = value;
        if (at == SMP) send_start_ = value;
        if (at == SA) send_skip_ = value;
        if (at == SMLT) send_end_ = value, send();
        for (unsigned n = 0; at == PULSE && n != 4; ++n) {
            if ((value >> n & 1) == 0) continue;
            happened(fmt::format("pulse {}", n));
            if (channels_[n].pulses++ == 0) start_block(n);
        }
    }
    std::optional<register_value> peek(std::uint32_t address, unsigned, cycle) const override {
        if (address - register_base != ISR) return std::nullopt;
        return register_value{isr_, never};
    }

    bytes sram_, host_;
    core core_;
    std::uint32_t interface_ = 0, commands_ = 0, rung_ = 0;
    std::uint32_t fifo_ = 0;  // of an image whose doorbells come through the hardware's FIFO
    std::array<std::array<std::uint32_t, 2>, 3> posted_{};
    std::array<channel, 4> channels_{};
    std::uint32_t isr_ = 0, receive_ = 0, send_start_ = 0, send_skip_ = 0, send_end_ = 0;
    std::multimap<cycle, std::function<void()>> events_;
    std::vector<std::pair<cycle, std::string>> log_;
    cycle now_ = 0;
};

struct kind {
    const char* image;
    abi::vi_reliability reliability;
    bool immediate;
};

class myvia_cycles : public ::testing::TestWithParam<kind> {};

// The budget is ours: what the firmware reached, with some room. Printed is the mean over many phases of the
// main loop at which the doorbell may ring.
TEST_P(myvia_cycles, of_a_small_message_stay_in_budget) {
    constexpr cycle budget = 670;
    constexpr unsigned messages = 24;
    const kind k = GetParam();
    card one(k.image, k.reliability);
    std::array<cycle, 5> sums{};
    for (unsigned i = 0; i != messages + 4; ++i) {
        const std::uint32_t from = 1 + i % 2, to = 3 - from;
        one.post(to, true, 8, k.immediate);
        one.run(20'000 + i);  // another phase of the main loop each time
        std::fill_n(one.memory(0), 8, static_cast<std::uint8_t>(i + 1));
        one.watch();
        one.post(from, false, 8, k.immediate);
        one.run(20'000);
        if (k.reliability == abi::vi_unreliable) {  // else when the next message brings the acknowledgement
            ASSERT_EQ(one.status(from, false), abi::vi_status_done | abi::vi_status_op_send);
        }
        ASSERT_EQ(one.status(to, true), abi::vi_status_done | abi::vi_status_op_receive |
                                            (k.immediate ? std::uint32_t{abi::vi_status_immediate} : 0u));
        ASSERT_EQ(*one.memory(0x800), i + 1);
        if (i < 4) continue;  // caches of translations and headers fill
        sums[0] += one.between("doorbell", "pulse 0");
        sums[1] += one.between("done 0", "pulse 1");
        sums[2] += one.between("done 1", "send");
        sums[3] += one.from_arrival(0);
        sums[4] += one.from_arrival(1) - one.from_arrival(0);
    }
    cycle total = 0;
    for (cycle& sum : sums) total += sum /= messages;
    fmt::print(
        "doorbell to fetch {}, descriptor to payload read {}, payload to send {}, arrival to payload "
        "write {}, to completion {}: {} cycles\n",
        sums[0], sums[1], sums[2], sums[3], sums[4], total);
    EXPECT_LE(total, budget);
}

// Nothing is read and nothing placed: little more of firmware than with a payload, without its transfers.
TEST_P(myvia_cycles, of_an_empty_message_stay_in_budget) {
    constexpr cycle budget = 750;
    constexpr unsigned messages = 24;
    const kind k = GetParam();
    card one(k.image, k.reliability);
    std::array<cycle, 3> sums{};
    for (unsigned i = 0; i != messages + 4; ++i) {
        const std::uint32_t from = 1 + i % 2, to = 3 - from;
        one.post(to, true, 8, k.immediate);
        one.run(20'000 + i);
        one.watch();
        one.post(from, false, 0, k.immediate);
        one.run(20'000);
        ASSERT_EQ(one.status(to, true), abi::vi_status_done | abi::vi_status_op_receive |
                                            (k.immediate ? std::uint32_t{abi::vi_status_immediate} : 0u));
        if (i < 4) continue;
        sums[0] += one.between("doorbell", "pulse 0");
        sums[1] += one.between("done 0", "send");
        sums[2] += one.from_arrival(0);
    }
    cycle total = 0;
    for (cycle& sum : sums) total += sum /= messages;
    fmt::print("doorbell to fetch {}, descriptor to send {}, arrival to completion {}: {} cycles\n", sums[0],
               sums[1], sums[2], total);
    EXPECT_LE(total, budget);
}

INSTANTIATE_TEST_SUITE_P(all, myvia_cycles,
                         ::testing::Values(kind{"myvia", abi::vi_unreliable, false},
                                           kind{"myvia", abi::vi_unreliable, true},
                                           kind{"myvia", abi::vi_reliable_delivery, false},
                                           kind{"myvia", abi::vi_reliable_delivery, true},
                                           kind{"myvia2", abi::vi_unreliable, false},
                                           kind{"myvia2", abi::vi_reliable_delivery, true}),
                         [](const auto& of) {
                             return fmt::format("{}_{}_{}", of.param.image,
                                                of.param.reliability == 1 ? "unreliable" : "reliable",
                                                of.param.immediate ? "immediate" : "plain");
                         });

}  // namespace
}  // namespace vinic::lanai::testing
