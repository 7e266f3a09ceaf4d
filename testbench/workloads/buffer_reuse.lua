-- SPDX-License-Identifier: Apache-2.0
description "Round trips whose buffers are used again, or are others each time: what translations cost"

local reuse = argument { name = "reuse", default = { 100, 75, 50, 25, 0 }, min = 0, max = 100, unit = "%",
    help = "Shares of messages that use the same buffer as ever" }
local buffers = argument { name = "buffers", default = 1024, min = 1, max = 16384,
    help = "Buffers that the other messages use in turn, each in pages of its own" }
local size = argument { name = "size", default = 8, min = 1, max = 65536, unit = "bytes", help = "Message size" }
local count = argument { name = "count", default = 100, min = 1, help = "Measured round trips for each share" }
local warmup = argument { name = "warmup", default = 10, min = 0, help = "Round trips before those" }
local reliability = reliability_argument()

needs_nodes(2)
expect_rows(#reuse)

local leave = barrier(2)
local page = 4096
local room = (size + page - 1) // page * page

-- An endpoint with a pool of buffers; `others` says where the next ones are taken from it, for sends and receives.
local function open()
    local e = open_endpoint { bytes = size, sends = 1, receives = 2, reliability = reliability }
    e.pool = memory(buffers * room, page)
    e.pool_handle = ok(VipRegisterMem(e.nic, e.pool, { Ptag = e.tag }))
    e.others = 0
    return e
end

-- Message i with that share: true if it uses the same buffer as ever.
local function same(i, share) return i * share // 100 ~= (i - 1) * share // 100 end

local function place(e, d, i, share)
    if same(i, share) then
        d:data(0, e.memory.address + e.sends[1].at, e.handle, size)
    else
        d:data(0, e.pool.address + e.others * room, e.pool_handle, size)
        e.others = (e.others + 1) % buffers
    end
end

local function send(e, received, i, share)
    place(e, e.sends[1].descriptor, i, share)
    e:send(1)
    e:sent()
    if received then
        place(e, received, i, share)
        e:again(received)
    end
end

process(0, function()
    local e = open()
    e:prepare(1, size)
    e:call(1, "buffer_reuse")
    local received
    for _, share in ipairs(reuse) do
        local trips = {}
        for i = 1 - warmup, count do
            local start = i == 1 and measure() or now()
            send(e, received, i, share)
            received = e:receive()
            if i >= 1 then trips[i] = now() - start end
        end
        measured()
        latency_row("reuse_percent", share, trips)
    end
    leave()
end, "client")

process(1, function()
    local e = open()
    e:prepare(1, size)
    e:listen("buffer_reuse")
    for _, share in ipairs(reuse) do
        for i = 1 - warmup, count do send(e, e:receive(), i, share) end
    end
    leave()
end, "server")
