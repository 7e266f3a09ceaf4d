// SPDX-License-Identifier: Apache-2.0
// The parts of the core behind core.h. Internal to hw/nic/lanai.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "hw/nic/lanai/block_cache.h"
#include "hw/nic/lanai/core.h"
#include "hw/nic/lanai/machine.h"
#include "hw/nic/lanai/path_history.h"
#include "hw/nic/lanai/unread_words.h"

namespace vinic::lanai {

// Recognises an idle loop: the same state at the same place, with no store that changed anything in between.
struct idle_probe {
    bool armed = false;
    std::uint64_t edges_to_arm = 4;   // backward jumps to run before a snapshot is taken; armed: elsewhere
    std::uint64_t back_off = 4;       // edges_to_arm after the next failure
    std::uint64_t arrivals = 0;       // at the snapshot's pc since arming
    std::uint64_t next_snapshot = 1;  // arrivals at which the snapshot is renewed
    std::uint64_t armed_at = 0;       // instructions retired then
    std::uint32_t pc = ~0u;
    std::uint32_t head = ~0u;       // of the idle loop proven last: where to arm at once
    std::uint32_t busy = ~0u;       // of the loop that last turned out not to be idle
    std::uint64_t busy_passes = 0;  // edges_to_arm may run out there so often before it is tried again
    std::uint32_t dirty = 0;        // non-zero when a store since the snapshot changed memory
    cycle next_change = never;      // earliest change of a register that was read since the snapshot
    std::size_t first_record = 0;   // of the loop, in the slice's records
    std::size_t first_region = 0;   // of the loop, in the slice\'s changes of region
    machine snapshot;
};

// A proven idle loop, the core standing at its head.
struct idle_loop {
    cycle head = 0;    // next issue cycle at the head
    cycle period = 0;  // cycles of an iteration
    cycle wake = never;
    std::uint64_t instructions = 0, load_use = 0, slot_wait = 0, register_wait = 0;
    std::size_t first_record = 0, last_record = 0;
    std::size_t first_region = 0, last_region = 0;
};

// What a slice did instruction by instruction, kept only when somebody observes.
struct slice_record {
    retire_record what;
    std::uint64_t times;  // 1, or the skipped iterations that repeated it
    bool skipped;
    cycle load_use, slot_wait, register_wait;
    std::uint32_t a, b, address, result;
};

// Where in the SRAM something was, as lines of 256 bytes whose numbers count modulo 64.
class line_set {
public:
    void add(std::uint32_t address) { bits_ |= std::uint64_t{1} << (address / line_bytes % lines); }
    void add(const line_set& other) { bits_ |= other.bits_; }
    void clear() { bits_ = 0; }
    bool meets(std::uint32_t address, std::size_t bytes) const;

private:
    static constexpr std::uint32_t line_bytes = 256, lines = 64;

    std::uint64_t bits_ = 0;
};

enum class block_exit : std::uint8_t { step, limit, device, edge, log_full, quiet };
enum class step_exit : std::uint8_t { done, limit, device, trap };

struct core::implementation {
    implementation(const core_config& config, std::span<std::uint8_t> sram, device_port& devices);

    // Executes what issues below `enough`, and may complete the block at hand as far as it issues below
    // `limit`. speculate: may park in an idle loop, and stops when the undo log is full.
    run_result advance(cycle enough, cycle limit, bool speculate);
    step_exit step(cycle limit, bool kernel_time);
    block_exit run_fast(cycle enough, cycle limit);

    void checkpoint();
    void rewind();
    // In lock-step nothing is ever taken back.
    const machine& committed() const { return config.lockstep ? live : saved; }
    bool speculative() const { return !config.lockstep && live.retired != saved.retired; }
    void require_synced(const char* what) const;
    bool loaded(std::uint32_t address, std::size_t bytes) const;
    bool stored(std::uint32_t address, std::size_t bytes) const;
    void require_untouched(std::uint32_t address, std::size_t bytes) const;
    bool uses_blocks() const { return !config.lockstep && !recording; }
    bool skips_idle() const { return !config.lockstep && !complete; }
    cycle next_issue_cycle();

    void enter_region(std::uint16_t region, cycle issue);

    // step.cpp
    void raise(trap_kind kind, cycle at, std::uint32_t word, std::uint32_t address);
    bool fetch_trap(cycle at);
    bool instruction_trap(const instruction& i, std::uint32_t word, cycle at, std::uint32_t address,
                          std::uint32_t new_sp);
    cycle take_slots(cycle at, unsigned count);
    void note_exchange(exchange_record::kind what, cycle at, std::uint32_t pc, std::uint32_t address,
                       std::uint32_t value);
    void store_word_undo(std::uint32_t address, unsigned bytes, std::uint32_t value);

    // idle.cpp
    bool at_edge(cycle limit, bool may_park);
    bool same_state(const machine& a, const machine& b) const;
    bool same_slot_phase(const machine& a, const machine& b) const;
    cycle patterns_end() const;
    idle_loop proven_loop() const;
    void settle_slots();
    void arm_probe();
    void take_snapshot();
    void skip(const idle_loop& loop, cycle until);
    void reset_probe();

    core_config config;
    std::span<std::uint8_t> sram;
    device_port& devices;
    unsigned slot_shift = 0;  // log2 of slots_per_cycle
    slot_schedule schedule;
    std::vector<std::uint16_t> regions;  // by word; empty when nobody observes
    block_cache cache;

    machine live, saved;
    path_history history;  // of `live`
    std::uint64_t retired_at_checkpoint = 0;
    std::vector<undo_entry> undo;
    std::size_t undo_count = 0;
    line_set loads;  // of the slice, and its fetches outside of blocks
    idle_probe probe;
    std::optional<idle_loop> parked;
    std::optional<trap_report> trap;

    cycle synced_to = 0;
    std::uint64_t rewinds = 0, reexecuted = 0;
    core_state visible_state;
    core_counters visible_counters;
    bool recording = false;
    std::vector<slice_record> records;
    bool complete = false;  // somebody wants each idle iteration
    std::function<void(const instruction_record&)> instruction_callback;
    std::function<void(const retire_record&)> retire_callback;
    unread_words unread;
    std::vector<exchange_record> exchanges;  // of the slice
    std::function<void(const exchange_record&)> exchange_callback;
    std::vector<region_record> region_changes;
    std::function<void(const region_record&)> region_callback;
};

}  // namespace vinic::lanai
