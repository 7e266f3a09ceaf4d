// SPDX-License-Identifier: Apache-2.0
#include "traces/window.h"

#include <gtest/gtest.h>

#include "testbench/tests/traces/watched_block.h"
#include "traces/log_writer.h"

namespace vinic::traces {
namespace {

/// The probes whose reports bound windows, under their names.
struct firmware_block : sim::module {
    static constexpr const char* functions[] = {"-", "main", "receive"};
    explicit firmware_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::value_probe function{*this, "function", 16, "function", functions};
    sim::value_probe pc{*this, "pc", 32, "pc"};
};
struct call_block : sim::module {
    explicit call_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::span_probe call{*this, "call", "calls"};
};
struct doorbell_block : sim::module {
    explicit doorbell_block(const sc_core::sc_module_name& name) : module(name) {}
    sim::span_probe doorbell{*this, "doorbell", "doorbells"};
};
struct card_block : sim::module {
    explicit card_block(const sc_core::sc_module_name& name) : module(name) {}
    firmware_block lanai{"lanai"};
    doorbell_block doorbells{"doorbells"};
    call_block vipl{"vipl"};
    watched_block other{"other"};
};

/// Records the times at which one signal is emitted while all kinds of bounds are told of.
class times : public recorder {
public:
    times(std::optional<boundary> from, std::optional<boundary> to)
        : recorder(probes_matching({"*.frame_n"}), {std::move(from), std::move(to)}) {}
    std::vector<sim::picoseconds> seen;

protected:
    void emit(const record& r) override { seen.push_back(r.at); }
};

std::vector<sim::picoseconds> seen_within(std::optional<boundary> from, std::optional<boundary> to) {
    sim::simulation s;
    card_block card("node0");
    times t(std::move(from), std::move(to));
    for (sim::picoseconds at = 100; at <= 1000; at += 100) card.other.frame.set(at, at / 100 % 2);
    card.doorbells.doorbell.report(150, 160, "doorbell");
    card.doorbells.doorbell.report(350, 360, "doorbell");
    card.vipl.call.report(150, 290, "VipPostSend");
    card.vipl.call.report(450, 590, "VipPostSend");
    card.vipl.call.report(650, 690, "VipRecvDone");
    card.vipl.call.report(750, 850, "VipRecvDone");
    card.lanai.function.set(250, 1);
    card.lanai.function.set(450, 2);
    card.lanai.function.set(650, 1);
    card.lanai.pc.set(710, 0x1234);
    card.lanai.pc.set(750, 0x1238);
    t.finish(1000);
    return t.seen;
}

using seen = std::vector<sim::picoseconds>;
boundary nth(happening::kind what, std::uint64_t n) { return happening{what, n, {}, 0}; }

TEST(window, instants_belong_to_it) {
    EXPECT_EQ(seen_within(sim::picoseconds{300}, sim::picoseconds{500}), (seen{300, 400, 500}));
    EXPECT_EQ(seen_within(sim::picoseconds{850}, {}), (seen{900, 1000}));
    EXPECT_EQ(seen_within({}, sim::picoseconds{250}), (seen{100, 200}));
}

TEST(window, begins_when_something_begins_and_ends_when_it_is_over) {
    using kind = happening::kind;
    EXPECT_EQ(seen_within(nth(kind::doorbell, 2), nth(kind::message, 1)), (seen{400, 500, 600}));
    EXPECT_EQ(seen_within(nth(kind::message, 2), nth(kind::message, 2)), (seen{500, 600, 700, 800}));
    EXPECT_EQ(seen_within(happening{kind::function, 1, "receive", 0}, {}).front(), 500u);
    EXPECT_EQ(seen_within(happening{kind::address, 1, {}, 0x1238}, {}), (seen{800, 900, 1000}));
    EXPECT_EQ(seen_within(nth(kind::doorbell, 3), {}), seen{});
}

}  // namespace
}  // namespace vinic::traces
