// SPDX-License-Identifier: Apache-2.0
#include "testbench/workloads/replayed_process.h"

#include <algorithm>
#include <cstring>

#include "hw/host/cpu.h"
#include "hw/sim/error.h"

namespace vinic::testbench {

namespace attach = vipl::attach;

bool watched_word::take() {
    return std::erase_if(writes_, [](sim::picoseconds at) { return at <= sim::now(); }) != 0;
}

replayed_process::replayed_process(const call_trace& of, unsigned index,
                                   const std::vector<std::unique_ptr<replayed_process>>& all,
                                   host::cpu& processor)
    : trace(of),
      number(index),
      handlers([this](const auto&, const VIP_ERROR_DESCRIPTOR*) { run_handler(); }),
      all_(all),
      processor_(processor) {
    for (const auto& lines : trace.processes[number].threads)
        threads_.push_back(std::make_unique<replayed_thread>(*this, lines));
}

void replayed_process::run(host::process& self, host::address_space& memory) {
    memory_ = &memory;
    program_ = vipl::program::current().of.shared_from_this();
    lay_out_pages();
    threads_.front()->run(self);
}

void replayed_process::start(replayed_thread& one) {
    const std::string& name = trace.processes[number].program;
    processor_.spawn(fmt::format("{} (process {}) thread", name, number), memory_,
                     [this, &one](host::process& self) {
                         const vipl::program::scope mine(*program_, self);
                         one.run(self);
                     });
}

/// On the library's thread for handlers.
void replayed_process::run_handler() {
    for (const auto& one : threads_)
        if (one->runs_handlers()) return one->run(vipl::program::current().self);
}

bool replayed_process::has_done(const json& call) const {
    return other(call[0].get<std::size_t>())
        .threads_[call[1].get<std::size_t>()]
        ->has_done(call[2].get<std::uint64_t>());
}

void replayed_process::tell_all() const {
    for (const auto& process : all_)
        for (const auto& thread : process->threads_) thread->notice();
}

// --- Memory.

/// Pages that were neighbours in a region of the program's are neighbours here.
void replayed_process::lay_out_pages() {
    std::map<std::uint64_t, std::uint64_t> next;
    std::map<std::uint64_t, bool> follows;
    for (const auto& thread : trace.processes[number].threads)
        for (const call_trace::line& one : thread) {
            std::optional<std::uint64_t> before;
            for (const json& run : one.text.value("pages", json::array()))
                for (std::uint64_t i = 0; i < run[1].get<std::uint64_t>(); ++i) {
                    const std::uint64_t page = run[0].get<std::uint64_t>() + i;
                    follows.try_emplace(page, false);
                    if (before) next[*before] = page;
                    if (before) follows[page] = true;
                    before = page;
                }
        }
    for (const auto& [first, is_inner] : follows) {
        if (is_inner) continue;
        std::vector<std::uint64_t> block{first};
        for (auto at = next.find(first); at != next.end(); at = next.find(at->second))
            block.push_back(at->second);
        const auto* const place = memory_->allocate(block.size() * host::page_bytes, host::page_bytes);
        if (!place) throw sim::input_error("{}: no room for the memory of process {}", trace.file, number);
        for (std::size_t i = 0; i < block.size(); ++i)
            pages_[block[i]] = reinterpret_cast<std::uintptr_t>(place) + i * host::page_bytes;
    }
}

host::virtual_address replayed_process::address_of_pages(const call_trace::line& made) const {
    return pages_.at(made.text["pages"][0][0].get<std::uint64_t>()) +
           made.text["offset"].get<std::uint64_t>();
}

void replayed_process::add_region(const call_trace::line& made) {
    const std::uint64_t region = regions_.size();
    regions_.push_back(address_of_pages(made));
    constexpr std::uint64_t word_bytes = 4;
    for (const auto& thread : trace.processes[number].threads)
        for (const call_trace::line& one : thread) {
            if (!one.text.contains("written") || one.text["written"][0] != region) continue;
            const auto offset = one.text["written"][1].get<std::uint64_t>();
            auto& word = words_[{region, offset}];
            if (!word)
                word = std::make_unique<watched_word>(
                    ram(), host::physical_range{memory_->translate(regions_.back() + offset), word_bytes});
        }
}

}  // namespace vinic::testbench
