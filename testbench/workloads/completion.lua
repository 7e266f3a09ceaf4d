-- SPDX-License-Identifier: Apache-2.0
description "Latency by the way in which a program learns of completions, and by the segments of a message"

local ways = { "poll", "wait", "queue_poll", "queue_wait" }
local way = argument { name = "way", default = "poll", choices = ways,
    help = "poll VipRecvDone, block in VipRecvWait, or the same on a completion queue" }
local sizes = argument { name = "sizes", default = { 8, 1024, 4096 }, min = 0, max = 65536, unit = "bytes",
    help = "Message sizes" }
local numbers = argument { name = "segments", default = { 1 }, min = 1, max = 32,
    help = "Segments that the payload is cut into, at the sender" }
local count = argument { name = "count", default = 50, min = 1, help = "Measured round trips of each kind" }
local warmup = argument { name = "warmup", default = 5, min = 0, help = "Round trips before those" }
local reliability = reliability_argument()

needs_nodes(2)
expect_rows(#sizes * #numbers)
local largest = largest_of(sizes)
local leave = barrier(2)

local most = 1
for _, n in ipairs(numbers) do most = math.max(most, n) end

local function node(me)
    local nic = ok(VipOpenNic("VINIC"))
    local queue = way:find("queue") and ok(VipCreateCQ(nic, 16)) or nil
    local e = open_endpoint { nic = nic, bytes = largest, sends = 1, receives = 2, reliability = reliability,
        receive_queue = queue }
    -- A send descriptor with room for all segments.
    local block = memory(4096, 4096)
    local handle = ok(VipRegisterMem(nic, block, { Ptag = e.tag }))
    local d = descriptor(block, 0, most)
    if me == 0 then e:call(1, "completion") else e:listen("completion") end

    local function prepare(size, segments)
        local from, left = e.memory.address + e.sends[1].at, size
        d.SegCount = size > 0 and segments or 0
        d.Length = size
        for i = 1, d.SegCount do
            local bytes = left // (d.SegCount - i + 1)
            d:data(i - 1, from, e.handle, bytes)
            from, left = from + bytes, left - bytes
        end
    end

    local function received(status, d)
        if status ~= VIP_SUCCESS then error("VIPL says " .. status_name(status)) end
        return d
    end
    local receive = {
        poll = function() return e:receive() end,
        wait = function() return received(VipRecvWait(e.vi, VIP_INFINITE)) end,
        queue_poll = function()
            local status
            repeat status = VipCQDone(queue) until status ~= VIP_NOT_DONE
            ok(status)
            return received(VipRecvDone(e.vi))
        end,
        queue_wait = function()
            ok(VipCQWait(queue, VIP_INFINITE))
            return received(VipRecvDone(e.vi))
        end,
    }
    local take = receive[way]

    local function send(done)
        ok(VipPostSend(e.vi, d, handle))
        e:sent()
        if done then e:again(done) end
    end

    for _, segments in ipairs(numbers) do
        for _, size in ipairs(sizes) do
            prepare(size, segments)
            local sum = 0
            for i = 1 - warmup, count do
                local start = i == 1 and me == 0 and measure() or now()
                if me == 0 then
                    send()
                    e:again(take())
                    if i >= 1 then sum = sum + now() - start end
                else
                    send(take())
                end
            end
            if me == 0 then
                measured()
                row("completion", way, "segments", segments, "size_bytes", size, "latency_us", sum / (2 * count) / 1e6)
            end
        end
    end
    leave()
end

process(0, node, "client")
process(1, node, "server")
