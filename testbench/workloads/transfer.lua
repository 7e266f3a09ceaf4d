-- SPDX-License-Identifier: Apache-2.0
description "Latency, bandwidth and the sender's processor time by size: what a way of transfer (driver.transfer_mode) costs"

local sizes = argument { name = "sizes", default = { 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384, 65536 },
    min = 1, max = 65536, unit = "bytes", help = "Message sizes" }
local count = argument { name = "count", default = 40, min = 1, help = "Measured round trips, and messages of the stream" }
local warmup = argument { name = "warmup", default = 10, min = 0, help = "Of each before those" }
local window = argument { name = "window", default = 8, min = 1, max = 64, help = "Most messages of the stream under way" }
local buffers = argument { name = "buffers", default = 8, min = 1, max = 4096,
    help = "Buffers that the sender uses in turn; many: none is ever known to the card" }
local reliability = reliability_argument()

needs_nodes(2)
expect_rows(#sizes)
local largest = largest_of(sizes)
local receives = warmup + count + window
local page = 4096
local room = (largest + page - 1) // page * page
local phase = barrier(2)
local arrived

process(0, function()
    local e = open_endpoint { bytes = largest, sends = window, receives = 2, reliability = reliability }
    local pool = memory(buffers * room, page)
    local handle = ok(VipRegisterMem(e.nic, pool, { Ptag = e.tag }))
    e:call(1, "transfer")
    local next_buffer, slot = 0, 1

    local function send(size)
        local d = e.sends[slot].descriptor
        d.SegCount = 1
        d.Length = size
        d:data(0, pool.address + next_buffer * room, handle, size)
        next_buffer = (next_buffer + 1) % buffers
        local before = now()
        e:send(slot)
        slot = slot % window + 1
        return now() - before
    end

    local function ping(n, size)
        local posting, start = 0, now()
        for _ = 1, n do
            posting = posting + send(size)
            e:sent()
            e:again(e:receive())
        end
        return (now() - start) / (2 * n), posting / n
    end

    local function stream(n, size)
        local posted = 0
        for _ = 1, n do
            if posted == window then
                e:sent()
                posted = posted - 1
            end
            send(size)
            posted = posted + 1
        end
        for _ = 1, posted do e:sent() end
    end

    ping(receives, sizes[1]) -- the receiver's card has met each buffer then
    for _, size in ipairs(sizes) do
        ping(warmup, size)
        measure()
        local latency, posting = ping(count, size)
        measured()
        phase()
        stream(warmup, size)
        phase()
        local start = now()
        stream(count, size)
        phase()
        row("size_bytes", size, "latency_us", latency / 1e6, "post_us", posting / 1e6, "bandwidth_mbytes_per_s",
            count * size * 1e6 / (arrived - start))
    end
end, "sender")

process(1, function()
    local e = open_endpoint { bytes = largest, sends = 1, receives = receives, reliability = reliability }
    e:listen("transfer")
    local function take(n)
        for _ = 1, n do e:again(e:receive()) end
        return now()
    end
    -- The answer is as long as the question, so that both ways are the same.
    local function answer(n, size)
        e:prepare(1, size)
        for _ = 1, n do
            local d = e:receive()
            e:send(1)
            e:sent()
            e:again(d)
        end
    end
    answer(receives, sizes[1])
    for _, size in ipairs(sizes) do
        answer(warmup + count, size)
        phase()
        take(warmup)
        phase()
        arrived = take(count)
        phase()
    end
end, "receiver")
