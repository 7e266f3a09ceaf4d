// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "traces/message_listener.h"

namespace vinic::traces {

/// Collects where each message was seen: the slices that the timeline's arrows join.
class message_flows : public message_listener {
public:
    struct point {
        const sim::probe* where;
        sim::picoseconds at;  ///< begin of the slice
    };
    struct flow {
        std::string name;
        std::vector<point> points;  ///< in order of time
        sim::picoseconds taken = 0;
        std::string receiver;
    };

    void on_step(const message_path&, checkpoint, const sim::probe& where, sim::picoseconds begin,
                 sim::picoseconds end) override;
    /// What is about to be reported is part of the message too.
    void also(const std::string& sender, std::uint64_t number, const sim::probe& where, sim::picoseconds at);
    /// The slice that shows a packet's arrival, which began earlier.
    void receiving(const std::string& card, const sim::probe& where, sim::picoseconds began) {
        receptions_[card] = {&where, began};
    }

    /// What the account said of the report that everybody gets now: which step of which message it is.
    std::optional<std::string> label(const sim::probe& where, sim::picoseconds begin,
                                     sim::picoseconds end) const;

    /// Calls `each` for the messages that were taken before `now`, in order of time, then of the receiver.
    void finish_before(sim::picoseconds now, const std::function<void(const flow&)>& each);
    /// Those that are still under way, in order of sender and number.
    void finish_rest(const std::function<void(const flow&)>& each);

private:
    using message_name = std::pair<std::string, std::uint64_t>;
    struct step {
        const sim::probe* where = nullptr;
        sim::picoseconds begin = 0, end = 0;
        std::string label;
    };

    std::map<message_name, flow> under_way_;
    std::deque<flow> taken_;                   // in order of time, then of the receiver
    std::map<std::string, point> receptions_;  // by card
    step latest_;
};

}  // namespace vinic::traces
