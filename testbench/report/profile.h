// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/linker/image.h"
#include "hw/nic/lanai/core.h"
#include "testbench/report/json.h"

namespace vinic::testbench {

/// Where firmware's cycles went, by function, by source line and by call stack. A cycle executes, is stalled
/// (load-use wait, slot of the SRAM, special register), or is idle: it belongs to a turn between two loads of
/// one register, at one place and of one value, in which nothing was stored. Stacks follow from calls: an
/// instruction at the entry of another function calls it, one elsewhere returns to it.
class profile {
public:
    /// `cores`: their names. What lies at `sram_bytes` or above is a register.
    profile(const linker::image& image, std::vector<std::string> cores, std::uint64_t sram_bytes);

    /// In the order in which the core committed them.
    void add(std::size_t core, const lanai::instruction_record& r);
    /// After the last one.
    void finish();

    json functions() const;
    json lines() const;
    json to_json() const { return {{"functions", functions()}, {"lines", lines()}}; }
    std::string to_text(bool colours) const;
    /// Collapsed stacks, as flame graphs are made of: "core;function;function cycles".
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
        std::uint64_t working = 0, idle = 0;  ///< cycles
    };
    struct step {
        std::uint32_t pc;
        std::size_t in;  ///< its frame
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
    template <typename Name>
    json rows_by(const char* what, Name name) const;

    const linker::image& image_;
    std::uint64_t sram_bytes_;
    std::vector<std::string> names_;       ///< of functions and, first, of the cores
    std::vector<std::uint32_t> function_;  ///< by pc / 4: index in names_
    std::vector<bool> entry_;              ///< by pc / 4
    std::vector<costs> spent_;             ///< by pc / 4
    std::vector<frame> frames_;
    std::vector<track> tracks_;
};

}  // namespace vinic::testbench
