// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hw/host/address_space.h"
#include "hw/host/process.h"
#include "testbench/attach/call_forms.h"
#include "testbench/attach/call_trace.h"
#include "vipl/attach/service.h"
#include "vipl/program.h"

namespace vinic::testbench {

class replayed_process;

/// The writes to a word of memory, so that a replayed loop ends as the program's did.
class watched_word : host::memory_watcher {
public:
    watched_word(host::memory& ram, const host::physical_range& where) : ram_(ram) {
        ram_.watch(where, *this);
    }
    ~watched_word() override { ram_.unwatch(*this); }
    watched_word(const watched_word&) = delete;
    watched_word& operator=(const watched_word&) = delete;

    /// Whether processors have seen a write that nobody has taken yet; takes all that they have seen.
    bool take();

private:
    void changes_at(sim::picoseconds at, const host::physical_range&) override { writes_.push_back(at); }

    host::memory& ram_;
    std::vector<sim::picoseconds> writes_;
};

/// A thread of a recorded program.
class replayed_thread {
public:
    replayed_thread(replayed_process& of, const std::vector<call_trace::line>& lines);

    /// Makes the calls of its lines; of the thread for handlers, of the next handler only.
    void run(host::process& self);
    /// Whether its n-th line is behind it.
    bool has_done(std::uint64_t n) const { return done_ > n; }
    /// Another has finished a line: what this one waits for may be done. Starts it when it has not begun.
    void notice();
    bool runs_handlers() const { return runs_handlers_; }

private:
    void wait_for(const call_trace::line& one, host::process& self);
    bool may_begin(const call_trace::line& one) const;
    void make(const call_trace::line& one, host::process& self);
    void make_call(const call_trace::line& one, std::uint32_t function);
    void sleep(const call_trace::line& one, host::process& self);
    void spin(const call_trace::line& one, host::process& self);
    void poll(const call_trace::line& one, std::uint32_t function);
    void go_round(const call_trace::line& one);
    VIP_RETURN ask(const call_trace::line& one, std::uint32_t function);
    void request_connection(const call_trace::line& one, std::uint32_t function);
    std::optional<std::size_t> other_request(const call_trace::line& one, bool later) const;
    void expect(const call_trace::line& one, VIP_RETURN code) const;
    void take_made_object(const call_trace::line& one, std::uint32_t function);
    std::uint64_t word_of(const call_trace::line& one, const parameter& what,
                          vipl::attach::payload_writer& to);
    void write_descriptor(const json& what, host::virtual_address at);

    replayed_process& of_;
    const std::vector<call_trace::line>& lines_;
    std::size_t next_ = 0;
    std::uint64_t done_ = 0;
    bool begun_ = false;
    bool runs_handlers_;
    host::wait_queue waits_;
    std::uint64_t clock_ps_ = 0;
    std::unique_ptr<vipl::attach::slot> call_ = std::make_unique<vipl::attach::slot>();
    /// Completions that were found before the program asked for them: function and handle.
    std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> found_early_;
};

/// A recorded program, as a simulated process.
class replayed_process {
public:
    /// `all`: those of the trace.
    replayed_process(const call_trace& trace, unsigned number,
                     const std::vector<std::unique_ptr<replayed_process>>& all, host::cpu& processor);

    /// On the process's own thread.
    void run(host::process& self, host::address_space& memory);

    const call_trace& trace;
    const unsigned number;
    object_numbers objects;
    vipl::attach::callbacks handlers;

    /// Where a region of the trace begins here.
    host::virtual_address region_address(std::uint64_t region) const { return regions_.at(region); }
    bool has_region(std::uint64_t region) const { return region < regions_.size(); }
    void add_region(const call_trace::line& made);
    host::virtual_address address_of_pages(const call_trace::line& made) const;
    watched_word& word(std::uint64_t region, std::uint64_t offset) { return *words_.at({region, offset}); }
    replayed_process& other(std::size_t process) const { return *all_.at(process); }
    host::memory& ram() const { return memory_->ram(); }
    /// A line of a thread is done.
    void tell_all() const;
    /// Starts a thread that is not the first.
    void start(replayed_thread& one);
    bool has_done(const json& call) const;

private:
    void lay_out_pages();
    void run_handler();

    const std::vector<std::unique_ptr<replayed_process>>& all_;
    host::cpu& processor_;
    host::address_space* memory_ = nullptr;
    std::shared_ptr<vipl::program> program_;
    std::vector<std::unique_ptr<replayed_thread>> threads_;
    std::vector<host::virtual_address> regions_;
    std::map<std::uint64_t, host::virtual_address> pages_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::unique_ptr<watched_word>> words_;
};

}  // namespace vinic::testbench
