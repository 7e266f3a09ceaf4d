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

-- A send over an unreliable connection is done when it has left, and is waited for. Over a reliable one it is done when
-- the peer has acknowledged it, which the answer does: it is taken when the next message has been posted.
local unacknowledged = reliability == "unreliable" and 0 or 1

local function open()
    local e = open_endpoint { bytes = largest, sends = 1 + unacknowledged, receives = 2, reliability = reliability,
        transport = transport }
    for _, s in ipairs(e.sends) do s.at = e.sends[1].at end -- descriptors take turns, all with the same buffer
    return e
end

-- One size, from both sides: `trip` is called with the number of each round trip.
local function trips_of(e, size, trip)
    for k = 1, #e.sends do e:prepare(k, size) end
    for n = 1, warmup + count do trip(n) end
    for _ = 1, unacknowledged do e:sent() end
end

-- The descriptor of what was received goes back to the receive queue when the send is done: another one stands there for
-- the answer, so neither the library nor the card works on it while the message is on its way.
local function send(e, n, received)
    e:send(n % #e.sends + 1)
    if n > unacknowledged then e:sent() end
    if received then e:again(received) end
end

process(0, function()
    local e = open()
    e:call(1, "pingpong")
    local received
    for _, size in ipairs(sizes) do
        local trips = {}
        trips_of(e, size, function(n)
            local start = n == warmup + 1 and measure() or now()
            if verify then e.memory:fill(e.sends[1].at, size, n) end
            send(e, n, received)
            received = e:receive()
            if verify then check(e:holds(received, size, n), "wrong payload in the reply of size " .. size) end
            if n > warmup then trips[n - warmup] = now() - start end
        end)
        measured()
        latency_row("size_bytes", size, trips)
    end
    leave()
end, "client")

process(1, function()
    local e = open()
    e:listen("pingpong")
    for _, size in ipairs(sizes) do
        trips_of(e, size, function(n)
            local received = e:receive()
            if verify then
                check(e:holds(received, size, n), "wrong payload in the request of size " .. size)
                e.memory:fill(e.sends[1].at, size, n)
            end
            send(e, n, received)
        end)
    end
    leave()
end, "server")
