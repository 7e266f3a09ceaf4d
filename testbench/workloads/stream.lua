-- SPDX-License-Identifier: Apache-2.0
description "One-way stream with a window of messages under way"

local transport = transport_argument()
local sizes = argument { name = "sizes", default = message_sizes(65536, transport), min = 0, max = longest_message(transport),
    unit = "bytes", help = "Message sizes" }
local count = argument { name = "count", default = 100, min = 1, help = "Measured messages of each size" }
local warmup = argument { name = "warmup", default = 20, min = 0, help = "Messages before those" }
local window = argument { name = "window", default = 16, min = 1, max = 256, help = "Most messages under way" }
local reliability = reliability_argument()
local verify = argument { name = "verify", default = false, help = "Compare the payload of every message" }

needs_nodes(2)
local largest = largest_of(sizes)
expect_rows(#sizes)
local share = math.max(1, window // 2) -- messages that one credit stands for
local phase = barrier(2)
local started

-- The sender may have `window` messages under way that no credit has come for.
process(0, function()
    local e = open_endpoint { bytes = largest, sends = window, receives = 4, reliability = reliability,
        transport = transport }
    e:call(1, "stream")
    local credits, posted, next_slot = window, 0, 1

    local function send_some(n, size, seed)
        for i = 1, n do
            while credits == 0 do
                e:again(e:receive())
                credits = credits + share
            end
            if posted == window then
                e:sent()
                posted = posted - 1
            end
            if verify then e.memory:fill(e.sends[next_slot].at, size, seed + i) end
            e:send(next_slot)
            next_slot, posted, credits = next_slot % window + 1, posted + 1, credits - 1
            if e:try_sent() then posted = posted - 1 end
        end
    end

    for _, size in ipairs(sizes) do
        while posted > 0 do
            e:sent()
            posted = posted - 1
        end
        for i = 1, window do e:prepare(i, size) end
        send_some(warmup, size, 0)
        phase()
        started = measure()
        send_some(count, size, warmup)
        phase()
    end
end, "sender")

process(1, function()
    local e = open_endpoint { bytes = largest, sends = 1, receives = window, reliability = reliability,
        transport = transport }
    e:prepare(1, 0)
    e:listen("stream")
    local received, crediting = 0, false

    local function receive_some(n, size, seed)
        local last
        for i = 1, n do
            local d = e:receive()
            last = i == n and measured()
            if verify then check(e:holds(d, size, seed + i), "wrong payload in a message of size " .. size) end
            e:again(d)
            received = received + 1
            if received % share == 0 then
                if crediting then e:sent() end
                e:send(1)
                crediting = true
            end
        end
        return last
    end

    for _, size in ipairs(sizes) do
        receive_some(warmup, size, 0)
        phase()
        local finished = receive_some(count, size, warmup)
        row("size_bytes", size, "bandwidth_mbytes_per_s", count * size * 1e6 / (finished - started))
        phase()
    end
end, "receiver")
