// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/linker/image.h"
#include "hw/nic/lanai/core.h"
#include "testbench/platform/run_phase.h"
#include "testbench/report/json.h"

namespace vinic::testbench {

/// Where firmware's cycles went, by function, by source line and by call stack: those of the phase that
/// counts, and beside them in one sum those of all others, so that together they are the cycles of the run. A
/// cycle executes, is stalled (load-use wait, slot of the SRAM, special register), or is idle: it belongs to
/// a turn between two loads of one register, at one place and of one value, in which nothing was stored.
/// Stacks follow from calls: an instruction at the entry of another function calls it, one elsewhere returns
/// to it.
class profile {
public:
    /// `cores`: their names. What lies at `sram_bytes` or above is a register.
    profile(const linker::image& image, std::vector<std::string> cores, std::uint64_t sram_bytes);

    /// In the order in which the core committed them.
    void add(std::size_t core, const lanai::instruction_record& r);
    /// What is added from now on belongs to that phase.
    void enter(run_phase phase) { phase_ = phase; }
    /// After the last one.
    void finish(run_phase measured);

    json functions() const;
    json lines() const;
    json to_json() const;
    std::string to_text(bool colours) const;
    /// Collapsed stacks of what was measured, as flame graphs are made of: "core;function;function cycles".
    std::string folded() const;

private:
    struct costs {
        std::uint64_t instructions = 0, executing = 0, load_use = 0, slot = 0, registers = 0, idle = 0;

        std::uint64_t cycles() const { return executing + load_use + slot + registers + idle; }
        void add(const costs& other);
    };
    static constexpr std::size_t nobody = ~std::size_t{0};
    struct frame {  // of a call stack
        std::size_t parent;
        std::uint32_t function;  ///< index in names_
        std::vector<std::size_t> children;
        by_phase<std::uint64_t> working, idle;  ///< cycles
    };
    struct step {
        std::uint32_t pc;
        std::size_t in;  ///< its frame
        run_phase when;
        costs spent;
    };
    struct track {  // of a core
        std::size_t in;
        std::vector<step> turn;      ///< since the last load of a register
        std::vector<step> skipped;   ///< idle iterations that were not executed
        bool skipped_looks = false;  ///< ... and load a register
        std::uint32_t look_pc = ~0u, look_value = 0;
        bool stored = false;
    };

    std::size_t frame_of(track& t, std::uint32_t pc);
    std::size_t child(std::size_t parent, std::uint32_t function);
    void settle(track& t, bool idle);
    void settle_skipped(track& t);
    void spend(const step& s, bool idle);
    costs all() const;  ///< measured
    std::uint64_t cycles_of_run() const;
    template <typename Name>
    json rows_by(const char* what, Name name) const;

    const linker::image& image_;
    std::uint64_t sram_bytes_;
    std::vector<std::string> names_;       ///< of functions and, first, of the cores
    std::vector<std::uint32_t> function_;  ///< by pc / 4: index in names_
    std::vector<bool> entry_;              ///< by pc / 4
    std::vector<by_phase<costs>> spent_;   ///< by pc / 4
    std::vector<frame> frames_;
    std::vector<track> tracks_;
    run_phase phase_ = run_phase::set_up, measured_ = run_phase::set_up;
};

}  // namespace vinic::testbench
