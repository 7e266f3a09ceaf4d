// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hw/sim/clock_domain.h"
#include "traces/recorder.h"

namespace vinic::traces {

/// A clock that a waveform can show: edges follow from the time, nobody reports them.
struct wave_clock {
    std::string name;
    sim::clock_domain domain;
};

/// What a waveform shows.
struct wave_view {
    std::vector<sim::probe*> probes;
    std::vector<wave_clock> clocks;
    window when;
};

/// What every form of waveform has in common: value and span probes as signals in scopes, in picoseconds;
/// only changes; bits that nobody drives are z; nothing is known (x) before the first report. A window begins
/// with the value of every signal.
class wave_writer : public recorder {
public:
    ~wave_writer() override = default;

protected:
    enum class form { bits, text, event };
    struct signal {
        std::string name;  ///< hierarchical
        form what;
        unsigned width;
        std::span<const char* const> states;
    };

    explicit wave_writer(const wave_view& what);

    /// Writes the header; for the constructor of the form.
    void declare();
    /// By index, in the order of names.
    const std::vector<signal>& signals() const { return signals_; }

    virtual void enter_scope(const std::string& name) = 0;
    virtual void leave_scope() = 0;
    virtual void declare_signal(std::uint32_t index, const std::string& leaf) = 0;
    /// All are declared: every signal is unknown.
    virtual void declared() = 0;
    virtual void put_time(sim::picoseconds) = 0;
    virtual void put_bits(std::uint32_t signal, std::uint64_t bits, std::uint64_t floating) = 0;
    virtual void put_text(std::uint32_t signal, std::string_view) = 0;
    virtual void put_event(std::uint32_t signal) = 0;

    void emit(const record&) override;
    void emit_value(std::uint32_t probe, sim::picoseconds at, std::uint64_t bits,
                    std::uint64_t floating) override;
    void skipped(const record&) override;
    void window_opened(sim::picoseconds at) override;
    void window_closed(sim::picoseconds at) override;

private:
    /// What a signal shows.
    struct shown {
        form what;
        std::span<const char* const> states;
        bool known = false;
        std::uint64_t bits = 0, floating = 0;
        std::string text;
        unsigned open_spans = 0;
    };
    struct ticking {
        sim::clock_domain domain;
        std::uint32_t signal;
        std::uint64_t half_period;  ///< number of the next change: even ones are rising edges
        sim::picoseconds next;
    };

    bool update(shown& s, const record&);
    static bool update_value(shown& s, std::uint64_t bits, std::uint64_t floating);
    static bool update_text(shown& s, std::string_view text);
    void put(std::uint32_t signal);
    void put_value(std::uint32_t signal);
    void advance(sim::picoseconds to) {
        if (!clocks_.empty()) tick(to);
        mark(to);
    }
    void mark(sim::picoseconds at) {
        if (time_written_ && at <= time_) return;
        put_time(at);
        time_ = at;
        time_written_ = true;
    }
    void tick(sim::picoseconds to);
    static sim::picoseconds change_of(const ticking& clock);

    std::vector<signal> signals_;
    std::vector<std::uint32_t> signal_of_probe_;
    std::vector<shown> shown_;  // by signal
    std::vector<ticking> clocks_;
    sim::picoseconds time_ = 0;
    bool time_written_ = false;
    std::string text_;  // of the record at hand
};

}  // namespace vinic::traces
