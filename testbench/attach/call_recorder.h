// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hw/host/address_space.h"
#include "hw/sim/time.h"
#include "testbench/attach/call_forms.h"
#include "testbench/report/json.h"
#include "vipl/attach/channel.h"
#include "vipl/program.h"

namespace vinic::testbench {

/// A line of a trace: the n-th of a thread.
struct call_id {
    unsigned process = 0;
    unsigned thread = 0;
    std::uint64_t n = 0;
};

/// What the recorder knows of a thread that calls.
struct recorded_thread {
    unsigned process = 0;
    unsigned thread = 0;
    std::uint64_t lines = 0;
    bool waited = false;                 ///< it was elsewhere before its next call
    std::optional<call_id> released_by;  ///< the end of which let it go on then; none: something outside
    sim::picoseconds free_at = 0;        ///< end of its latest call
    std::uint64_t busy_ns = 0;           ///< processor time that it was charged since then
    std::uint64_t clock_ps = 0;          ///< what it was told last
    json line;                           ///< of the call that is being worked on

    struct poll {
        std::uint32_t function;
        std::uint64_t handle;
        std::uint64_t count;
    };
    std::vector<poll> in_vain;  ///< since its latest line
};

/// Writes the calls of attached programs down (`vinic exec --record`; testbench/attach/README.md has the
/// format), so that `vinic run FILE.trace` can make them again.
class call_recorder {
public:
    explicit call_recorder(std::string design) : design_(std::move(design)) {}

    /// The programs in their order.
    void add_process(unsigned node, const std::string& program);

    /// Around each call that is made for a thread of `of`.
    void begins(recorded_thread& by, const vipl::attach::slot& call, vipl::program& of);
    void ends(recorded_thread& by, const vipl::attach::slot& call, vipl::program& of);
    /// The thread goes on: whoever waits for it may, too.
    void answered(const recorded_thread& by);
    /// The thread was elsewhere and has come back, or is new.
    void released(recorded_thread& one) const;
    /// It went round a loop until the bytes before `end` were written.
    void spun(recorded_thread& by, sim::picoseconds since, host::virtual_address end);
    /// A handler of the program's begins.
    void handler_begins(recorded_thread& by, vipl::attach::callback_kind kind);
    void exits(recorded_thread& by);

    /// The whole trace.
    std::string text() const;

private:
    struct area {
        host::virtual_address begin;
        std::uint64_t bytes;
    };
    struct recorded_process {
        unsigned node;
        std::string program;
        object_numbers objects;
        std::vector<area> regions;
        std::map<std::uint64_t, std::uint64_t>
            pages;  ///< numbered in the order in which they were registered
        const vipl::program* library = nullptr;
        sim::picoseconds ended = 0;
    };
    struct written_line {
        sim::picoseconds at;
        unsigned process;
        unsigned thread;
        std::string text;
    };

    json start_line(const recorded_thread& by, sim::picoseconds at) const;
    void put(recorded_thread& by, sim::picoseconds at, const json& line);
    void put_vain_polls(recorded_thread& by);
    void add_round(recorded_thread& by, const vipl::attach::slot& call);
    bool noted_as_poll(recorded_thread& by, const vipl::attach::slot& call);
    void add_parameters(recorded_thread& by, const vipl::attach::slot& call, vipl::program& of);
    json descriptor_of(recorded_process& by, const vipl::attach::slot& call, vipl::program& of);
    json place_of(const recorded_process& in, std::uint64_t handle, host::virtual_address address) const;
    json remote_place_of(std::uint64_t vi, const VIP_ADDRESS_SEGMENT& remote, const vipl::program& of) const;
    json pages_of(recorded_process& in, const area& of);
    void add_made_object(recorded_process& in, const vipl::attach::slot& call, json& line);

    std::string design_;
    std::vector<recorded_process> processes_;
    std::vector<written_line> lines_;
    std::optional<call_id> answered_;
    sim::picoseconds answered_at_ = 0;
};

}  // namespace vinic::testbench
