// SPDX-License-Identifier: Apache-2.0

// The card around the MyVIA firmware, for its native tests: registers, four host DMA channels, a link that
// leads back to the card, host memory with scattered page frames, and the driver's and the program's part of
// the interface. Nothing has a time: each step lets the firmware turn once and then lets each part of the
// hardware, in random order, do something or not. The send engine may also end at any look at the ISR.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "firmware/myvia/variant.h"

// After the variant.
#include "firmware/abi/vi_descriptor.h"
#include "firmware/myvia/doorbell_fifo.h"
#include "firmware/myvia/doorbell_pages.h"
#include "firmware/myvia/main_loop.h"

namespace vinic::testbench {

using bytes = std::vector<uint8_t>;

// How doorbells reach the firmware: CMakeLists.txt builds the tests for each way.
using doorbells = myvia::VINIC_DOORBELLS;
inline constexpr bool doorbells_in_fifo = doorbells::wake_bit != 0;

struct fake_settings {
    unsigned seed = 1;
    unsigned laziness = 2;  // each part of the hardware moves in one of that many steps
    unsigned loss_percent = 0;
    unsigned duplicate_percent = 0;
    unsigned corrupt_percent = 0;
};

struct event {
    uint16_t kind, vi;
    uint32_t argument, argument2;
    bytes payload;
};

// A piece of registered memory.
struct memory_region {
    uint64_t address = 0;  // virtual
    uint32_t length = 0;
    uint32_t handle = 0;
    uint32_t index = 0;
    std::vector<uint64_t> frames;
};

// One work queue as the library sees it.
struct library_queue {
    uint64_t ring = 0;
    uint32_t posted = 0;
    uint32_t seen = 0;
};

struct library_vi {
    uint32_t index = 0;
    uint32_t slots = 0;
    library_queue send, receive;
};

struct data_segment {
    uint64_t address;
    uint32_t handle, length;
};

// A completed slot.
struct completion {
    uint32_t status = 0, length = 0, immediate = 0;
    bool operator==(const completion&) const = default;
};

class fake_card {
public:
    explicit fake_card(const fake_settings& settings = {});

    // --- Running
    void step();
    void run(unsigned steps);
    bool run_until(const std::function<bool()>& reached, unsigned limit = 200000);
    void settle() { run(400); }

    // --- Driver
    uint32_t command(abi::myvia::command_op op, const std::vector<uint32_t>& arguments);
    void open_process(uint32_t process);
    memory_region register_memory(uint64_t address, uint32_t length, uint32_t tag, uint32_t rdma = 0);
    library_vi create_vi(uint32_t index, abi::vi_reliability reliability, uint32_t slots = 64,
                         uint32_t tag = 7, uint32_t send_queue = abi::myvia::no_queue,
                         uint32_t receive_queue = abi::myvia::no_queue, uint32_t process = 0,
                         uint32_t rdma = 0, uint32_t max_transfer = 65536);
    // Connects both ways, over the link (a route of `route` bytes) or inside the card (0).
    void connect(uint32_t one, uint32_t other, uint32_t route = 1, uint32_t key = 0x1234);
    void create_queue(uint32_t index, uint32_t entries, uint32_t process = 0);
    uint32_t disconnect(uint32_t index, uint32_t state) {
        return command(abi::myvia::command_disconnect_vi, {index, state});
    }

    // --- Program
    void write(const memory_region& to, uint64_t address, const bytes& data);
    bytes read(const memory_region& from, uint64_t address, size_t length);
    // Writes the slot and rings.
    void post_send(library_vi& to, const bytes& slot);
    void post_receive(library_vi& to, const bytes& slot);
    // Any number of segments: those beyond the slot's go to `descriptor` in the program's memory, behind its
    // 64th byte.
    bytes slot_of(const std::vector<data_segment>& segments, const memory_region& memory, uint64_t descriptor,
                  uint16_t control = 0, uint32_t immediate = 0);
    void put_slot(library_vi& to, library_queue& queue, const bytes& slot);
    void ring(abi::myvia::doorbell_op op, uint32_t index, uint32_t data, uint32_t process = 0);
    // The oldest slot not yet seen, when it is done.
    bool completed(const library_vi& of, const library_queue& queue) const;
    completion take(const library_vi& of, library_queue& queue);
    completion wait(const library_vi& of, library_queue& queue);
    bytes slot_bytes(const library_vi& of, const library_queue& queue, uint32_t slot) const;
    uint32_t doorbells_taken(uint32_t process = 0) const;

    std::vector<uint32_t> queue_entries(uint32_t queue);  // new entries of a completion queue, in order
    std::vector<event> take_events();

    // --- Hardware
    uint32_t load_register(uint32_t offset);
    void store_register(uint32_t offset, uint32_t value);

    std::deque<bytes> on_link;          // behind the route
    std::vector<bytes> sent;            // with the route
    std::function<void(bytes&)> watch;  // sees each packet when it leaves, behind the route
    bool hold_link = false;             // nothing is delivered
    bool hold_send = false;             // the send engine does not end
    bool hold_dma[4] = {};
    unsigned interrupts = 0;
    unsigned dma_reads[4] = {};
    std::mt19937 random;
    std::vector<std::string> violations;  // DMA where the card has no business

private:
    struct channel {
        uint32_t block = 0;
        unsigned pulses = 0;
    };
    struct queue_ring {
        uint64_t ring = 0;
        uint32_t entries = 0, index = 0, pass = 1;
    };

    uint64_t allocate(uint64_t length, bool contiguous_pages = true);
    void allow(uint64_t from, uint64_t length) { allowed_[from] = length; }
    bool is_allowed(uint64_t from, uint64_t length) const;
    uint64_t physical(const memory_region& of, uint64_t address) const;
    uint32_t load_big(uint64_t at) const;
    void store_big(uint64_t at, uint32_t value);
    void ring_in_region(abi::myvia::doorbell_op op, uint32_t index, uint32_t data, uint32_t process);
    void require_idle_send_engine() const;
    void run_dma(unsigned number);
    void leave();
    void arrive();
    void deliver(const bytes& packet, bool corrupt);
    bool chance(unsigned percent) { return random() % 100 < percent; }

    fake_settings settings_;
    bytes memory_;
    uint64_t next_free_ = 0x10000;
    std::vector<uint64_t> free_frames_;
    std::map<uint64_t, uint64_t> allowed_;  // physical start to length
    uint64_t page_table_ = 0, event_ring_ = 0;
    uint64_t host_pages_ = 0;
    uint32_t next_page_ = 3;  // an odd start: regions share lines of the table
    uint32_t next_region_ = 0;
    uint32_t event_index_ = 0, event_pass_ = 1, events_taken_ = 0;
    std::map<uint32_t, queue_ring> queues_;
    std::map<uint32_t, uint32_t> doorbell_heads_;
    uint32_t fifo_head_ = 0;
    std::map<uint32_t, uint32_t> page_owners_;  // of the doorbell region: which process has the page mapped
    channel channels_[4];
    unsigned steps_ = 0;
    uint32_t isr_ = 0, timers_[2] = {};
    uint32_t send_start_ = 0, send_skip_ = 0, receive_pointer_ = 0, receive_limit_ = 0;
    uint32_t crc32_start_ = 0;
    bool crc32_enabled_ = false;
    bool sending_ = false, armed_ = false;
};

// --- Descriptors

// The slot as library and program fill it: control segment and up to two segments.
struct slot_contents {
    uint16_t control = 0;
    uint16_t segment_count = 0;
    uint32_t length = 0;
    uint32_t immediate = 0;
    uint32_t reserved = 0;
    uint64_t next = 0;
    uint32_t next_handle = 0;
    data_segment segments[2] = {};
};
bytes encode(const slot_contents& contents);
bytes encode(const std::vector<data_segment>& segments);

inline constexpr uint32_t done_send = abi::vi_status_done | abi::vi_status_op_send;
inline constexpr uint32_t done_write = abi::vi_status_done | abi::vi_status_op_rdma_write;
inline constexpr uint32_t done_receive = abi::vi_status_done | abi::vi_status_op_receive;
inline constexpr uint32_t done_remote_write = abi::vi_status_done | abi::vi_status_op_remote_rdma_write;

bytes random_bytes(std::mt19937& random, size_t length);

// `length` bytes from `address` on, cut at random into `count` segments, some of them empty.
std::vector<data_segment> cut(std::mt19937& random, const memory_region& in, uint64_t address,
                              uint32_t length, size_t count);

// A message of these segments; the length is their sum.
slot_contents message(const std::vector<data_segment>& segments, uint16_t control = 0,
                      uint32_t immediate = 0);

}  // namespace vinic::testbench
