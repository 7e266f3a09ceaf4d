// SPDX-License-Identifier: Apache-2.0
// A LANai as its card sees it: the instruction-set model (core.h), or RTL (hw/rtl/lanai).
//
// Time is the number of an edge of the LANai clock; whoever wraps the processor turns edges into picoseconds.
//
// Timing of one instruction, with `issue` the cycle in which it issues:
//   1. issue = next issue cycle, plus 1 when it reads the register that the instruction right before it
//      loads (or sets by SLI): the load-use interlock (facts A7, A16).
//   2. It takes SRAM slots one after the other, each the first slot at or after the later of
//      issue * slots_per_cycle and the slot after the one before, that no other port has: first one to
//      fetch, when the aligned slot_bytes that hold it are not the ones fetched last; then those of its
//      data access, when that is to SRAM.
//   3. next issue cycle = max(issue + 1, cycle of the last slot taken + 1), plus the cost of a register
//      access.
// For memory contents the instruction is atomic at its issue cycle. What other ports do in cycle c comes
// before the instruction that issues in c. Slots are decided at issue, by the patterns in force then.
//
// Protocol of the wrapper, with `now` the current edge:
//   run_ahead(limit)       executes speculatively and says why and where it stopped.
//   sync(now)              before anybody else touches SRAM, slot patterns or a register that the core may
//                          peek: afterwards exactly the instructions that issued before `now` have
//                          happened, for good.
//   loaded(), stored()     may the core have loaded or fetched these bytes, or stored to them, since the
//                          last sync? Who writes bytes for which both are false, or reads bytes for which
//                          stored() is, needs no sync: what ran ahead is the same with and without it.
//   execute_device_access  at the cycle that run_ahead told, after sync(now): the one pending register
//                          access.
// In lock-step the same calls are made; each run_ahead executes one instruction at most, in the cycle of the
// last sync.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hw/nic/lanai/slots.h"

namespace vinic::lanai {

// What the wrapper declares as parameters; the defaults are LANai 9 (facts B2).
struct core_config {
    std::uint32_t entry_pc = 0;     // code runs from SRAM address 0 after reset (B1)
    unsigned slots_per_cycle = 1;   // LANai 4: 2, LANai 7: 2, LANai 9: 1
    unsigned slot_bytes = 8;        // LANai 4: 4, LANai 7: 8, LANai 9: 8; also the width of the fetch buffer
    unsigned load_slots = 1;        // data slots of a load
    unsigned word_store_slots = 1;  // data slots of a word store
    unsigned narrow_store_slots = 2;          // of a byte or half-word store: read, modify, write (A7)
    unsigned load_use_cycles = 1;             // wait of an instruction that uses what the one before it loads
    unsigned register_load_cycles = 0;        // extra cycles of a load from a special register
    unsigned register_store_cycles = 0;       // extra cycles of a store to a special register
    std::uint32_t stack_limit = 0;            // lowest address that sp may take; 0 = not checked
    bool lockstep = false;                    // one instruction at a time, no idle skipping
    std::size_t undo_entries = 1u << 12;      // run_ahead stops when a slice has this many stores
    unsigned idle_probe_instructions = 4096;  // longest loop that is recognised as idle
    bool shares_text = true;                  // translated firmware, with other cores that execute the same
};

struct register_value {
    std::uint32_t value;
    cycle next_change;  // the cycle at which the value changes by itself (tick, expiry), or `never`
};

// The special registers, seen from the core. Every address that is not SRAM is offered here.
class device_port {
public:
    virtual ~device_port() = default;
    // Is there a register at this address? If not, the access is a trap.
    virtual bool mapped(std::uint32_t address, unsigned bytes) const = 0;
    // Called in kernel time only; `at` is the current cycle.
    virtual std::uint32_t load(std::uint32_t address, unsigned bytes, cycle at) = 0;
    virtual void store(std::uint32_t address, unsigned bytes, std::uint32_t value, cycle at) = 0;
    // For a register without side effect of reading whose value at the (future) cycle `at` is known, unless
    // an event that syncs the core first changes it (interrupt status, clock, cycle counter). Nothing for all
    // others.
    virtual std::optional<register_value> peek(std::uint32_t address, unsigned bytes, cycle at) const = 0;
};

enum class trap_kind : std::uint8_t {
    illegal_instruction,
    misaligned_access,
    unmapped_access,
    misaligned_fetch,
    unmapped_fetch,
    stack_overflow,
    branch_in_delay_slot
};
const char* to_string(trap_kind kind);

struct retired_word {
    std::uint32_t pc;
    std::uint32_t word;
};

struct trap_report {
    trap_kind kind;
    cycle at;               // the cycle in which the instruction would issue
    std::uint32_t pc;       // of the instruction, which had no effect
    std::uint32_t word;     // the instruction, 0 when it could not be fetched
    std::uint32_t address;  // data address, value of sp, or fetch address
    std::array<std::uint32_t, 32> registers;
    std::vector<retired_word> history;  // up to 20 instructions before it, oldest first
};

enum class stop_reason : std::uint8_t {
    limit,  // `at` is the cycle of the next issue, >= limit (less when the undo log is full or in lock-step)
    device_access,  // `at` is the cycle in which a register access issues: sync(at), then
                    // execute_device_access(at)
    trap,  // `at` is the cycle in which the trapping instruction issues: sync(at), then pending_trap()
    idle   // a proven idle loop: nothing happens before `at` (or never) unless somebody syncs and changes
           // something
};

struct run_result {
    stop_reason reason;
    cycle at;
};

// Architectural state between two instructions.
struct core_state {
    std::array<std::uint32_t, 32> registers{};  // r2 is the pc
    bool negative = false, zero = false, overflow = false, carry = false;
    std::uint32_t pc = 0, next_pc = 4, second_next_pc = 8;  // the pipeline of addresses (A6)
    unsigned delay_slots = 0;                               // of the coming instructions that are delay slots
    unsigned loading = 0;             // register that the last instruction loads, 0 = none
    std::uint32_t fetched = never32;  // address of the aligned slot_bytes in the fetch buffer
    cycle next_issue = 0;             // before any load-use wait

    static constexpr std::uint32_t never32 = ~std::uint32_t{0};
    bool operator==(const core_state&) const = default;
};

struct core_counters {
    // Of the model: equal in every mode.
    std::uint64_t retired = 0;          // instructions, skipped idle ones included
    std::uint64_t load_use_cycles = 0;  // waits of the interlock
    std::uint64_t slot_cycles = 0;      // waits for SRAM slots
    std::uint64_t register_cycles = 0;  // extra cycles of register accesses
    // Of the simulator.
    std::uint64_t executed = 0;    // committed by execution (each instruction once)
    std::uint64_t skipped = 0;     // committed by skipping idle iterations; executed + skipped == retired
    std::uint64_t rewinds = 0;     // syncs that had to go back to the checkpoint
    std::uint64_t reexecuted = 0;  // instructions thrown away by rewinds
};

struct retire_record {
    cycle issue;
    std::uint32_t pc;
    std::uint32_t word;
};

// An instruction of another region of the code than the one before it.
struct region_record {
    cycle issue;
    std::uint16_t region;
};

// A committed instruction, what it worked on and what it waited for.
struct instruction_record {
    cycle issue;
    std::uint32_t pc;
    std::uint32_t word;
    std::uint64_t times;  // 1, or how many skipped idle iterations repeated it
    bool skipped;
    cycle load_use, slot_wait, register_wait;  // cycles that it waited, each time
    std::uint32_t a, b;                        // rs1 and rs2 before it
    std::uint32_t address;                     // of its access to memory or a register
    std::uint32_t result;                      // what it loaded, stored or worked out

    std::uint64_t cycles() const { return times * (1 + load_use + slot_wait + register_wait); }
};

// What the core and the rest of its card say to each other.
struct exchange_record {
    enum class kind : std::uint8_t {
        register_load,
        register_store,
        first_load  // of a word of the SRAM since another port wrote it
    };
    kind what;
    cycle issue;
    std::uint32_t pc;
    std::uint32_t address;
    std::uint32_t value;  // that was loaded or stored
};

class processor {
public:
    virtual ~processor() = default;

    virtual const core_config& config() const = 0;

    // Registers zero, pc at the entry, the first instruction issues at `at`. Counters go on.
    virtual void reset(cycle at) = 0;
    virtual void set_stack_limit(std::uint32_t address) = 0;

    run_result run_ahead(cycle limit) { return run_ahead(limit, limit); }
    // From `enough` on it stops where that is cheap, before `limit`.
    virtual run_result run_ahead(cycle enough, cycle limit) = 0;
    // Throws std::logic_error when it would have to pass a register access that was not executed.
    virtual void sync(cycle now) = 0;
    virtual void execute_device_access(cycle now) = 0;
    // After sync(now): the trap that stopped it at or before `now`, if any. It stays there until reset.
    virtual std::optional<trap_report> pending_trap() const = 0;

    // Errs on the safe side. In lock-step it is always so.
    virtual bool loaded(std::uint32_t address, std::size_t bytes) const = 0;
    virtual bool stored(std::uint32_t address, std::size_t bytes) const = 0;

    // Only right after sync(now), or for bytes neither loaded nor stored since then.
    // Somebody wrote these bytes of the SRAM.
    virtual void invalidate_code(std::uint32_t address, std::size_t bytes) = 0;
    // For on_exchange: it was another port.
    virtual void written_by_port(std::uint32_t address, std::size_t bytes) = 0;
    // Only right after sync(now). Slots before the next issue are decided by then, so an access due in one is
    // served in a later one.
    virtual void set_slot_pattern(sram_port port, const slot_pattern& pattern, cycle now) = 0;
    virtual const slot_schedule& slots() const = 0;

    // As of the last sync (or register access).
    virtual const core_state& state() const = 0;
    virtual const core_counters& counters() const = 0;

    // Observation, off by default.
    // `complete`: idle iterations are executed one by one; else skipped ones come as records with `times`.
    virtual void on_instruction(std::function<void(const instruction_record&)> callback, bool complete) = 0;
    // Each committed exchange, but for those of skipped idle iterations, which repeat what was said.
    virtual void on_exchange(std::function<void(const exchange_record&)> callback) = 0;
    // `regions`: which one each word of the SRAM belongs to, say a function; one out of reset is in region 0.
    virtual void on_region(std::vector<std::uint16_t> regions,
                           std::function<void(const region_record&)> callback) = 0;
};

}  // namespace vinic::lanai
