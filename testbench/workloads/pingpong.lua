-- SPDX-License-Identifier: Apache-2.0
description "Round trips between two nodes, one message at a time"

local transport = transport_argument()
local sizes = argument { name = "sizes", default = message_sizes(65536, transport), min = 0, max = longest_message(transport),
    unit = "bytes", help = "Message sizes" }
local count = argument { name = "count", default = 100, min = 1, help = "Measured round trips of each size" }
local warmup = argument { name = "warmup", default = 10, min = 0, help = "Round trips before those" }
local reliability = reliability_argument()
local verify = argument { name = "verify", default = false, help = "Compare the payload of every message" }

needs_nodes(2)
local largest = largest_of(sizes)
expect_rows(#sizes)

-- To leave is to disconnect, which flushes what the peer has sent and is not acknowledged yet.
local leave = barrier(2)

local function open()
    return open_endpoint { bytes = largest, sends = 1, receives = 2, reliability = reliability,
        transport = transport }
end

-- Sends; the descriptor of what was received goes back to the receive queue when the send is done: another one stands
-- there for the answer, so neither the library nor the card works on it while the message is on its way.
local function send(e, received)
    e:send(1)
    e:sent()
    if received then e:again(received) end
end

process(0, function()
    local e = open()
    e:call(1, "pingpong")
    local received
    for _, size in ipairs(sizes) do
        e:prepare(1, size)
        local trips = {}
        for i = 1 - warmup, count do
            local start = i == 1 and measure() or now()
            if verify then e.memory:fill(e.sends[1].at, size, i + warmup) end
            send(e, received)
            received = e:receive()
            if verify then check(e:holds(received, size, i + warmup), "wrong payload in the reply of size " .. size) end
            if i >= 1 then trips[i] = now() - start end
        end
        measured()
        latency_row("size_bytes", size, trips)
    end
    leave()
end, "client")

process(1, function()
    local e = open()
    e:listen("pingpong")
    for _, size in ipairs(sizes) do
        e:prepare(1, size)
        for i = 1 - warmup, count do
            local received = e:receive()
            if verify then
                check(e:holds(received, size, i + warmup), "wrong payload in the request of size " .. size)
                e.memory:fill(e.sends[1].at, size, i + warmup)
            end
            send(e, received)
        end
    end
    leave()
end, "server")
