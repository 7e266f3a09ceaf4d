// SPDX-License-Identifier: Apache-2.0
// A workload for tests of reliability: both ends send messages of random sizes to each other, each a pattern
// of its own, and look that each comes once, in order and right. The sender looks at the receiver's count, so
// that no message finds no descriptor; what a stream of sockets cannot take yet is waited for.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace vinic::testbench {

struct random_messages {
    std::uint64_t packet_bytes = 0;  ///< sizes about its multiples are frequent
    std::uint64_t over_bytes = 0;    ///< by how much they may be longer
    std::uint64_t largest_bytes = 0;
    std::uint64_t rest_ps = 0;  ///< how long nothing more may come afterwards
};

/// The script; its arguments are `level` (of reliability), `transport` and `count`.
inline std::string both_ways_with(const random_messages& what) {
    return fmt::format("local packet_bytes, over_bytes, largest_bytes, rest_ps = {}, {}, {}, {}\n",
                       what.packet_bytes, what.over_bytes, what.largest_bytes, what.rest_ps) +
           R"(local transport = transport_argument()
local level = argument { name = "level", default = "delivery", choices = reliability_levels, help = "-" }
local count = argument { name = "count", default = 30, help = "-" }
local sends, receives = 3, 5

local function size_of_a_message()
    local kind = math.random(4)
    if kind == 1 then return math.random(0, 16) end
    if kind == 2 then return math.random(1, 5) * packet_bytes + math.random(-4, over_bytes) end
    return math.random(0, kind == 3 and 4096 or largest_bytes)
end
local finished = barrier(2)
local sizes, taken = { [0] = {}, {} }, { [0] = 0, 0 }
for node = 0, 1 do
    for i = 1, count do sizes[node][i] = size_of_a_message() end
end

for me = 0, 1 do
    process(me, function()
        local peer = 1 - me
        local e = open_endpoint { bytes = largest_bytes, sends = sends, receives = receives, reliability = level,
            transport = transport }
        if me == 0 then e:call(1, "both") else e:listen("both") end
        local sent, done = 0, 0
        while done < count or taken[me] < count do
            if sent < count and sent - done < sends and sent - taken[peer] < receives then
                local slot = sent % sends + 1
                sent = sent + 1
                e:prepare(slot, sizes[me][sent])
                e.memory:fill(e.sends[slot].at, sizes[me][sent], 2 * sent + me)
                e:send(slot)
            end
            if sent > done and e:try_sent() then done = done + 1 end
            local d = e:try_receive()
            if d then
                local n = taken[me] + 1
                check(n <= count, "a message too many")
                check(e:holds(d, sizes[peer][n], 2 * n + peer), "message " .. n .. " is not what was sent")
                e:again(d)
                taken[me] = n
            end
        end
        sleep(rest_ps)
        check(not e:try_receive(), "a message twice")
        finished() -- to leave is to disconnect, which flushes what the peer has posted
    end)
end
)";
}

}  // namespace vinic::testbench
