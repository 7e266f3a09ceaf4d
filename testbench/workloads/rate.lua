-- SPDX-License-Identifier: Apache-2.0
description "How many messages a second one node sends to another"

local transport = transport_argument()
local sizes = argument { name = "sizes", default = message_sizes(65536, transport), min = 0, max = longest_message(transport),
    unit = "bytes", help = "Message sizes" }
local count = argument { name = "count", default = 200, min = 1, help = "Measured messages of each size" }
local warmup = argument { name = "warmup", default = 50, min = 0, help = "Messages before those" }
local window = argument { name = "window", default = 32, min = 2, max = 256, help = "Most messages under way" }
local vis = argument { name = "vis", default = 1, min = 1, max = 128, help = "VIs that messages go over in turn" }
local reliability = reliability_argument()

needs_nodes(2)
local largest = largest_of(sizes)
expect_rows(#sizes)
local share = window // 2
if 2 * share % vis ~= 0 then
    refuse("argument vis=" .. vis .. ": expected a divisor of " .. 2 * share .. ", the messages under way")
end
local phase = barrier(2)
local started

-- Endpoints of one process, which share its card and protection tag and among them so many descriptors.
local function open_endpoints(o)
    local ends = {}
    for i = 1, vis do
        local first = ends[1] or {}
        ends[i] = open_endpoint { bytes = largest, sends = math.max(1, o.sends // vis),
            receives = math.max(i == 1 and 4 or 1, o.receives // vis), reliability = reliability, nic = first.nic,
            tag = first.tag, transport = transport }
    end
    return ends
end

-- Both sides handle completions in batches, as programs that want messages a second do: half a window is posted, then
-- half a window is taken.
process(0, function()
    local ends = open_endpoints { sends = window, receives = 4 }
    for i, e in ipairs(ends) do e:call(1, "rate" .. i) end
    local e = ends[1] -- credits come over the first
    local half, unacknowledged, done = 0, 0, 0

    local function take_batch()
        e:again(e:receive())
        for _ = 1, share do
            ends[done % vis + 1]:sent()
            done = done + 1
        end
        unacknowledged = unacknowledged - 1
    end

    local function send_batches(n)
        for _ = 1, n do
            if unacknowledged == 2 then take_batch() end
            for i = half * share, half * share + share - 1 do ends[i % vis + 1]:send(i // vis + 1) end
            half, unacknowledged = 1 - half, unacknowledged + 1
        end
    end

    for _, size in ipairs(sizes) do
        while unacknowledged > 0 do take_batch() end
        for i = 0, 2 * share - 1 do ends[i % vis + 1]:prepare(i // vis + 1, size) end
        send_batches((warmup + share - 1) // share)
        phase()
        started = measure()
        send_batches((count + share - 1) // share)
        phase()
    end
end, "sender")

process(1, function()
    local ends = open_endpoints { sends = 1, receives = 2 * share }
    for i, e in ipairs(ends) do e:listen("rate" .. i) end
    local e = ends[1]
    e:prepare(1, 0)
    local answering, taken = false, 0

    local function receive_batches(n)
        local finished
        for batch = 1, n do
            for i = 1, share do
                local from = ends[taken % vis + 1]
                taken = taken + 1
                local d = from:receive()
                if batch == n and i == share then finished = measured() end
                from:again(d)
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
