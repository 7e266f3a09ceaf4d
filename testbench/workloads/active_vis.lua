-- SPDX-License-Identifier: Apache-2.0
description "Round trips while other VIs and programs are there: what a card pays for those"

local vis = argument { name = "vis", default = { 1, 2, 4, 8, 16, 32 }, min = 1, max = 1024,
    help = "Numbers of VIs on each side, ascending" }
local size = argument { name = "size", default = 8, min = 0, max = 65536, unit = "bytes", help = "Message size" }
local count = argument { name = "count", default = 100, min = 1, help = "Measured round trips for each number" }
local warmup = argument { name = "warmup", default = 10, min = 0, help = "Round trips before those" }
local turns = argument { name = "turns", default = false,
    help = "Each round trip over the next VI; else all over the first, and the others wait" }
local programs = argument { name = "programs", default = 0, min = 0, max = 15,
    help = "Other programs on each node, each with a connected VI" }
local reliability = reliability_argument()

needs_nodes(2)
expect_rows(#vis)
for i = 2, #vis do
    if vis[i] <= vis[i - 1] then error("vis: expected ascending numbers") end
end

local pause = 20000 -- clocks at most, before a round trip: a card that looks at one VI after the other is met anywhere
local opened = barrier(2)
local all_there = barrier(2 + 2 * programs)
local leave = barrier(2 + 2 * programs)

-- Endpoints of one process share its card and protection tag.
local function open_up_to(ends, n, connect)
    while #ends < n do
        local first = ends[1] or {}
        local e = open_endpoint { bytes = size, sends = 1, receives = 2, reliability = reliability,
            nic = first.nic, tag = first.tag }
        e:prepare(1, size)
        connect(e, "active_vis" .. #ends)
        ends[#ends + 1] = e
    end
    opened()
end

local function send(e, received)
    e:send(1)
    e:sent()
    if received then e:again(received) end
end

local function other(connect)
    return function()
        connect(open_endpoint { bytes = size, sends = 1, receives = 2, reliability = reliability })
        all_there()
        leave()
    end
end

for i = 1, programs do
    process(0, other(function(e) e:call(1, "other" .. i) end), "other" .. i)
    process(1, other(function(e) e:listen("other" .. i) end), "other" .. i)
end

process(0, function()
    local ends, received = {}, {}
    all_there()
    for _, n in ipairs(vis) do
        open_up_to(ends, n, function(e, port) e:call(1, port) end)
        local trips = {}
        for i = 1 - warmup, count do
            local at = turns and i % n + 1 or 1
            compute(math.random(0, pause))
            local start = i == 1 and measure() or now()
            send(ends[at], received[at])
            received[at] = ends[at]:receive()
            if i >= 1 then trips[i] = now() - start end
        end
        measured()
        latency_row("vis", n, trips)
    end
    leave()
end, "client")

process(1, function()
    local ends = {}
    all_there()
    for _, n in ipairs(vis) do
        open_up_to(ends, n, function(e, port) e:listen(port) end)
        for i = 1 - warmup, count do
            local e = ends[turns and i % n + 1 or 1]
            send(e, e:receive())
        end
    end
    leave()
end, "server")
