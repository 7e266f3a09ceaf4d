-- SPDX-License-Identifier: Apache-2.0
description "How many messages a second one node sends to another"

local transport = transport_argument()
local sizes = argument { name = "sizes", default = message_sizes(65536, transport), min = 0, max = 65536, unit = "bytes",
    help = "Message sizes" }
local count = argument { name = "count", default = 200, min = 1, help = "Measured messages of each size" }
local warmup = argument { name = "warmup", default = 50, min = 0, help = "Messages before those" }
local window = argument { name = "window", default = 32, min = 2, max = 256, help = "Most messages under way" }
local reliability = argument { name = "reliability", default = "unreliable", choices = reliability_levels,
    help = "unreliable, delivery or reception" }

needs_nodes(2)
local largest = largest_of(sizes)
expect_rows(#sizes)
local share = window // 2
local phase = barrier(2)
local started

-- Both sides handle completions in batches, as programs that want messages a second do: half a window is posted, then
-- half a window is taken.
process(0, function()
    local e = open_endpoint { bytes = largest, sends = window, receives = 4, reliability = reliability,
        transport = transport }
    e:call(1, "rate")
    local half, unacknowledged = 0, 0

    local function send_batches(n)
        for _ = 1, n do
            if unacknowledged == 2 then
                e:again(e:receive())
                for _ = 1, share do e:sent() end
                unacknowledged = unacknowledged - 1
            end
            for i = 1, share do e:send(half * share + i) end
            half, unacknowledged = 1 - half, unacknowledged + 1
        end
    end

    for _, size in ipairs(sizes) do
        while unacknowledged > 0 do
            e:again(e:receive())
            for _ = 1, share do e:sent() end
            unacknowledged = unacknowledged - 1
        end
        for i = 1, 2 * share do e:prepare(i, size) end
        send_batches((warmup + share - 1) // share)
        phase()
        started = measure()
        send_batches((count + share - 1) // share)
        phase()
    end
end, "sender")

process(1, function()
    local e = open_endpoint { bytes = largest, sends = 1, receives = 2 * share, reliability = reliability,
        transport = transport }
    e:prepare(1, 0)
    e:listen("rate")
    local answering = false

    local function receive_batches(n)
        local finished
        for batch = 1, n do
            for i = 1, share do
                local d = e:receive()
                if batch == n and i == share then finished = measured() end
                e:again(d)
            end
            if answering then e:sent() end
            e:send(1)
            answering = true
        end
        return finished
    end

    for _, size in ipairs(sizes) do
        receive_batches((warmup + share - 1) // share)
        phase()
        local batches = (count + share - 1) // share
        local finished = receive_batches(batches)
        local messages = batches * share
        row("size_bytes", size, "rate_messages_per_s", messages * 1e12 / (finished - started), "gap_us",
            (finished - started) / messages / 1e6)
        phase()
    end
end, "receiver")
