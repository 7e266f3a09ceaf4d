-- SPDX-License-Identifier: Apache-2.0
description "Two nodes stream to each other at the same time"

local transport = transport_argument()
local sizes = argument { name = "sizes", default = message_sizes(65536, transport), min = 0, max = longest_message(transport),
    unit = "bytes", help = "Message sizes" }
local count = argument { name = "count", default = 100, min = 1, help = "Measured messages of each size and direction" }
local warmup = argument { name = "warmup", default = 20, min = 0, help = "Messages before those" }
local window = argument { name = "window", default = 16, min = 1, max = 256, help = "Most messages ahead of those received" }
local reliability = reliability_argument()

needs_nodes(2)
local largest = largest_of(sizes)
expect_rows(#sizes)
local phase = barrier(2)
local started, finished = {}, {}

local function stream(node)
    local e = open_endpoint { bytes = largest, sends = window, receives = 2 * window, reliability = reliability,
        transport = transport }
    if node == 0 then e:call(1, "bidirectional") else e:listen("bidirectional") end

    -- A node sends its message k once it has received k - window. So its peer has taken k - 2 * window: that many
    -- receive descriptors are enough.
    local function exchange(n)
        local posted, sent, received, last = 0, 0, 0, nil
        while received < n or sent < n do
            if posted < n and posted - received < window and posted - sent < window then
                e:send(posted % window + 1)
                posted = posted + 1
            end
            local d = received < n and e:try_receive()
            if d then
                received = received + 1
                if received == n then last = measured() end
                e:again(d)
            end
            if sent < posted and e:try_sent() then sent = sent + 1 end
        end
        return last
    end

    for _, size in ipairs(sizes) do
        for i = 1, window do e:prepare(i, size) end
        exchange(warmup)
        phase()
        started[node] = measure()
        finished[node] = exchange(count)
        phase()
        if node == 0 then
            local time = math.max(finished[0], finished[1]) - math.min(started[0], started[1])
            row("size_bytes", size, "bandwidth_mbytes_per_s", 2 * count * size * 1e6 / time)
        end
    end
end

process(0, stream, "left")
process(1, stream, "right")
