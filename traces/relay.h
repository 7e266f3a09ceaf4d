// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "hw/sim/probe.h"
#include "hw/sim/time.h"

namespace vinic::traces {

/// Takes the place of everybody who watches the current simulation and tells them all, on a thread of its
/// own and in the same order, what probes report: the simulation only writes reports down and goes on. What
/// is written down and not yet told stays below a bound; past it the simulation waits.
class relay : public sim::listener {
public:
    relay();
    /// Tells the rest. Nobody watches any more.
    ~relay() override;
    relay(const relay&) = delete;
    relay& operator=(const relay&) = delete;

    /// Does `what` on the other thread, behind all that was reported so far. Throws what a listener threw
    /// since the last time; after that nobody is told anything.
    void then(std::function<void()> what);
    /// Returns when all is told and done: what the listeners hold may be looked at. Throws like then().
    void wait();
    /// Whether then() or wait() has thrown: nobody is told any more.
    bool broken() const { return broken_; }

    void on_value(const sim::value_probe&, sim::picoseconds at, std::uint64_t bits,
                  std::uint64_t floating) override;
    void on_span(const sim::span_probe&, sim::picoseconds begin, sim::picoseconds end, std::string_view what,
                 std::span<const sim::field> fields) override;
    void on_packet(const sim::packet_probe&, sim::picoseconds at, std::span<const std::uint8_t> bytes,
                   std::string_view note, std::span<const sim::field> fields) override;

private:
    enum class kind : std::uint8_t { value, span, packet, action };
    /// Before each report in a stretch: how long what follows is.
    struct heading {
        kind what;
        std::uint8_t fields;
        std::uint32_t probe;  ///< its number; of an action its place in the stretch
        std::uint32_t text;   ///< bytes
        std::uint32_t bytes;  ///< of a packet
        sim::picoseconds at;
        sim::picoseconds end;  ///< of a span; of a value its bits
        std::uint64_t floating;
    };
    /// Reports, one behind the other.
    struct stretch {
        std::vector<std::byte> reports;
        std::size_t used = 0;
        std::vector<std::function<void()>> actions;
    };
    struct watched {
        const sim::probe* what = nullptr;
        std::vector<sim::listener*> by;
    };

    void write(heading, std::string_view text, std::span<const sim::field> fields,
               std::span<const std::uint8_t> bytes);
    std::byte* room(std::size_t bytes);
    void hand_over();
    void check();
    void work();
    void tell(const stretch&) const;
    /// A span or a packet.
    const std::byte* tell(const heading&, const std::byte* rest) const;

    std::vector<watched> watched_;  // by the number of the probe
    stretch current_;
    std::chrono::steady_clock::time_point handed_over_ = std::chrono::steady_clock::now();

    std::mutex mutex_;  // of what follows
    std::condition_variable changed_;
    std::deque<stretch> full_;
    std::vector<stretch> free_;
    bool busy_ = false;  // with a stretch that is in neither
    bool over_ = false;
    std::exception_ptr error_;

    bool broken_ = false;  // of the simulation's thread
    std::thread thread_;
};

}  // namespace vinic::traces
