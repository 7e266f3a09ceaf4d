// SPDX-License-Identifier: Apache-2.0
#include "testbench/report/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>

#include "hw/nic/lanai/isa.h"
#include "testbench/report/table.h"

namespace vinic::testbench {

namespace {

/// A turn of more instructions than that is no idle one.
constexpr std::size_t longest_turn = 4096;

}  // namespace

void profile::costs::add(const costs& other) {
    instructions += other.instructions;
    executing += other.executing;
    load_use += other.load_use;
    slot += other.slot;
    registers += other.registers;
    idle += other.idle;
}

profile::profile(const linker::image& image, std::vector<std::string> cores, std::uint64_t sram_bytes)
    : image_(image),
      sram_bytes_(sram_bytes),
      names_(std::move(cores)),
      function_(image.end() / 4 + 1),
      entry_(function_.size()),
      spent_(function_.size()) {
    for (std::size_t core = 0; core < names_.size(); ++core) {
        frames_.push_back({nobody, static_cast<std::uint32_t>(core), {}, {}, {}});
        tracks_.push_back({.in = core, .turn = {}, .skipped = {}});
    }
    const auto unknown = static_cast<std::uint32_t>(names_.size());
    names_.push_back("?");
    std::ranges::fill(function_, unknown);
    const linker::image_symbol* last = nullptr;
    for (std::uint32_t pc = 0; pc < image.end(); pc += 4) {
        const linker::image_symbol* f = image.function_at(pc);
        if (!f) continue;
        if (f != last) names_.push_back(linker::demangle(f->name));
        last = f;
        function_[pc / 4] = static_cast<std::uint32_t>(names_.size()) - 1;
        entry_[pc / 4] = pc == f->address;
    }
}

std::size_t profile::child(std::size_t parent, std::uint32_t function) {
    for (const std::size_t c : frames_[parent].children)
        if (frames_[c].function == function) return c;
    frames_[parent].children.push_back(frames_.size());
    frames_.push_back({parent, function, {}, {}, {}});
    return frames_.size() - 1;
}

std::size_t profile::frame_of(track& t, std::uint32_t pc) {
    const std::uint32_t function = function_[pc / 4];
    if (frames_[t.in].function == function) return t.in;
    if (entry_[pc / 4]) return t.in = child(t.in, function);
    std::size_t up = t.in, root = t.in;
    while (up != nobody && frames_[up].function != function) {
        root = up;
        up = frames_[up].parent;
    }
    return t.in = up != nobody ? up : child(root, function);
}

void profile::add(std::size_t core, const lanai::instruction_record& r) {
    if (r.pc / 4 >= function_.size()) return;
    track& t = tracks_[core];
    const step now{r.pc,
                   frame_of(t, r.pc),
                   phase_,
                   {.instructions = r.times,
                    .executing = r.times,
                    .load_use = r.times * r.load_use,
                    .slot = r.times * r.slot_wait,
                    .registers = r.times * r.register_wait}};
    const lanai::instruction i = lanai::decode(r.word);
    const bool looks = i.is_load() && r.address >= sram_bytes_;
    if (r.skipped) {
        t.skipped.push_back(now);
        t.skipped_looks |= looks;
        return;
    }
    settle_skipped(t);
    if (looks) {
        settle(t, !t.stored && t.look_pc == r.pc && t.look_value == r.result);
        t.look_pc = r.pc;
        t.look_value = r.result;
    } else if (t.turn.size() == longest_turn) {
        settle(t, false);
        t.look_pc = ~0u;
    }
    t.stored |= i.is_memory() && i.store;
    t.turn.push_back(now);
}

/// What was done since the last look is known to be work, or not.
void profile::settle(track& t, bool idle) {
    for (const step& s : t.turn) spend(s, idle);
    t.turn.clear();
    t.stored = false;
}

/// They are idle by the same rule, whether they were executed or not.
void profile::settle_skipped(track& t) {
    for (const step& s : t.skipped) spend(s, t.skipped_looks);
    t.skipped.clear();
    t.skipped_looks = false;
}

void profile::spend(const step& s, bool idle) {
    const std::uint64_t cycles = s.spent.cycles();
    costs& to = spent_[s.pc / 4][s.when];
    if (idle)
        to.add({.instructions = s.spent.instructions, .idle = cycles});
    else
        to.add(s.spent);
    frame& in = frames_[s.in];
    (idle ? in.idle : in.working)[s.when] += cycles;
}

void profile::finish(run_phase measured) {
    measured_ = measured;
    for (track& t : tracks_) {
        settle_skipped(t);
        settle(t, false);
    }
}

profile::costs profile::all() const {
    costs sum;
    for (const by_phase<costs>& at : spent_) sum.add(at[measured_]);
    return sum;
}

std::uint64_t profile::cycles_of_run() const {
    std::uint64_t sum = 0;
    for (const by_phase<costs>& at : spent_)
        for (const costs& c : at) sum += c.cycles();
    return sum;
}

template <typename Name>
json profile::rows_by(const char* what, Name name) const {
    struct row {
        costs measured;
        std::uint64_t cycles_of_run = 0;
    };
    std::map<std::string, row> sums;
    for (std::size_t i = 0; i < spent_.size(); ++i) {
        std::uint64_t cycles = 0;
        for (const costs& c : spent_[i]) cycles += c.cycles();
        if (cycles == 0) continue;
        row& to = sums[name(static_cast<std::uint32_t>(4 * i))];
        to.measured.add(spent_[i][measured_]);
        to.cycles_of_run += cycles;
    }
    std::vector<std::pair<std::string, row>> sorted(sums.begin(), sums.end());
    const auto order = [](const auto& of) {
        const costs& c = of.second.measured;
        return std::tuple(c.cycles() - c.idle, c.idle, of.second.cycles_of_run);
    };
    std::ranges::stable_sort(sorted, std::greater(), order);
    const auto all_cycles = static_cast<double>(std::max<std::uint64_t>(all().cycles(), 1));
    json rows = json::array();
    for (const auto& [place, of] : sorted) {
        const costs& c = of.measured;
        rows.push_back({{what, place},
                        {"cycles", c.cycles()},
                        {"share_percent", 100.0 * static_cast<double>(c.cycles()) / all_cycles},
                        {"instructions", c.instructions},
                        {"executing_cycles", c.executing},
                        {"load_use_cycles", c.load_use},
                        {"slot_cycles", c.slot},
                        {"register_cycles", c.registers},
                        {"idle_cycles", c.idle},
                        {"unmeasured_cycles", of.cycles_of_run - c.cycles()}});
    }
    return rows;
}

json profile::functions() const {
    return rows_by("function", [this](std::uint32_t pc) { return names_[function_[pc / 4]]; });
}

json profile::lines() const {
    return rows_by("line", [this](std::uint32_t pc) {
        const auto line = image_.line_at(pc);
        return line ? fmt::format("{}:{}", line->file, line->line) : std::string("?");
    });
}

json profile::to_json() const {
    return {{"measured_cycles", all().cycles()},
            {"unmeasured_cycles", cycles_of_run() - all().cycles()},
            {"functions", functions()},
            {"lines", lines()}};
}

std::string profile::to_text(bool colours) const {
    const std::uint64_t measured = all().cycles();
    return fmt::format(
        "firmware cycles, all cores: {} measured, {} not (boot, set-up, warm-up)\n"
        "stalls by cause: load-use wait, slot of the SRAM, special register\n\n{}\n{}",
        measured, cycles_of_run() - measured, table_of_rows(functions(), colours),
        table_of_rows(lines(), colours));
}

std::string profile::folded() const {
    std::vector<std::string> lines;
    for (std::size_t n = 0; n < frames_.size(); ++n) {
        std::string stack;
        for (std::size_t f = n; f != nobody; f = frames_[f].parent)
            stack = names_[frames_[f].function] + (stack.empty() ? "" : ";") + stack;
        const std::uint64_t working = frames_[n].working[measured_], idle = frames_[n].idle[measured_];
        if (working) lines.push_back(fmt::format("{} {}\n", stack, working));
        if (idle) lines.push_back(fmt::format("{};(polling) {}\n", stack, idle));
    }
    std::ranges::sort(lines);
    return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace vinic::testbench
