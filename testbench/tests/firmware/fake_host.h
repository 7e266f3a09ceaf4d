// SPDX-License-Identifier: Apache-2.0

// What is around any firmware that speaks myvia_card.h, for native tests: host memory with scattered page
// frames, the driver's and the program's part of the interface, a link that leads back to the card. The chip,
// its DMA and its doorbells are those of the class that derives from it. Nothing has a time: each step lets
// the firmware turn once and then lets each part of the hardware, in random order, do something or not.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "firmware/abi/myvia_card.h"
#include "firmware/abi/vi_descriptor.h"

namespace vinic::testbench {

using bytes = std::vector<uint8_t>;

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

/// Of the card, as the firmware sees it.
uint8_t* sram(uint32_t address);
uint32_t sram_address_of(const volatile void* pointer);

class fake_host {
public:
    explicit fake_host(const fake_settings& settings);
    virtual ~fake_host() = default;

    // --- Running
    void step();
    void run(unsigned steps);
    bool run_until(const std::function<bool()>& reached, unsigned limit = 200000);
    void settle() { run(400); }

    // --- Driver
    uint32_t command(abi::myvia::command_op op, const std::vector<uint32_t>& arguments);
    void open_process(uint32_t process);
    memory_region register_memory(uint64_t address, uint32_t length, uint32_t tag, uint32_t rdma = 0);
    // The next registration gets the entries of the table, and its number, of this one, which has ended.
    void reuse_pages(const memory_region& ended);
    // Contiguous, its addresses the physical ones.
    memory_region register_physical(uint32_t length, uint32_t tag);
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
    // Slot and payload into an entry of process 0, the slot into the ring; and rings.
    void push_send(library_vi& to, uint32_t entry, const bytes& slot, const bytes& payload);
    // Any number of segments: those beyond the slot's go to `descriptor` in the program's memory, behind its
    // 64th byte.
    bytes slot_of(const std::vector<data_segment>& segments, const memory_region& memory, uint64_t descriptor,
                  uint16_t control = 0, uint32_t immediate = 0);
    virtual void put_slot(library_vi& to, library_queue& queue, const bytes& slot);
    virtual void ring(abi::myvia::doorbell_op op, uint32_t index, uint32_t data, uint32_t process = 0) = 0;
    // The oldest slot not yet seen, when it is done.
    bool completed(const library_vi& of, const library_queue& queue) const;
    completion take(const library_vi& of, library_queue& queue);
    completion wait(const library_vi& of, library_queue& queue);
    bytes slot_bytes(const library_vi& of, const library_queue& queue, uint32_t slot) const;
    uint32_t doorbells_taken(uint32_t process = 0) const;

    std::vector<uint32_t> queue_entries(uint32_t queue);  // new entries of a completion queue, in order
    std::vector<event> take_events();

    std::deque<bytes> on_link;          // behind the route
    std::vector<bytes> sent;            // with the route
    std::function<void(bytes&)> watch;  // sees each packet when it leaves, behind the route
    bool hold_link = false;             // nothing is delivered
    bool hold_send = false;             // the send engine does not end
    unsigned interrupts = 0;
    std::mt19937 random;
    std::vector<std::string> violations;  // DMA where the card has no business

protected:
    // What the chip calls its bits of the ISR, and what stands behind a packet that has come.
    struct chip {
        uint32_t sent, received, full;
        size_t crc_bytes;
    };

    virtual const chip& bits() const = 0;
    virtual void turn() = 0;             // the firmware's main loop, once
    virtual unsigned parts() const = 0;  // of the hardware, beside the link
    virtual void move(unsigned part) = 0;
    virtual void tick() {}
    virtual uint32_t slots_max() const { return 0xFFFFFFFF; }

    // Between host memory and SRAM, if the card may touch that.
    void transfer(uint64_t host, uint32_t local, uint32_t count, bool to_card, const std::string& who);
    void start_send(uint32_t first_word, uint32_t skip, uint32_t last_word);
    bool sending() const { return sending_; }
    void arm_receive(uint32_t limit);
    void leave();
    bool lazy() { return random() % settings_.laziness != 0; }
    bool is_owner(uint32_t page, uint32_t process) const;
    static bytes in_card_order(const bytes& slot);

    uint32_t isr_ = 0;
    uint32_t receive_pointer_ = 0;

private:
    struct queue_ring {
        uint64_t ring = 0;
        uint32_t entries = 0, index = 0, pass = 1;
    };

    uint64_t allocate(uint64_t length);
    void allow(uint64_t from, uint64_t length) { allowed_[from] = length; }
    bool is_allowed(uint64_t from, uint64_t length) const;
    uint64_t physical(const memory_region& of, uint64_t address) const;
    uint32_t load_big(uint64_t at) const;
    void store_big(uint64_t at, uint32_t value);
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
    std::map<uint32_t, uint32_t> page_owners_;  // of doorbell pages: which process has the page mapped
    unsigned steps_ = 0;
    uint32_t receive_limit_ = 0;
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
