-- SPDX-License-Identifier: Apache-2.0
description "Every node sends to every other, round after round"

local sizes = argument { name = "sizes", default = message_sizes(65536), min = 0, max = 65536, unit = "bytes",
    help = "Message sizes" }
local rounds = argument { name = "rounds", default = 5, min = 1, help = "Measured rounds of each size" }
local warmup = argument { name = "warmup", default = 2, min = 0, help = "Rounds before those" }
local reliability = reliability_argument()

needs_nodes(2)
local largest = largest_of(sizes)
expect_rows(#sizes)
local phase = barrier(nodes)
local started, finished = {}, {}

-- One VI to each peer; all receives complete in one queue. Two receive descriptors for each peer are enough: a node
-- starts round k when it has all of round k - 1, so every peer has all of round k - 2.
local function connect(me)
    local nic = ok(VipOpenNic("VINIC"))
    local tag = ok(VipCreatePtag(nic))
    local queue = ok(VipCreateCQ(nic, 4 * nodes))
    local peers, by_vi = {}, {}
    local function open(peer)
        local e = open_endpoint { nic = nic, tag = tag, receive_queue = queue, bytes = largest, sends = 1, receives = 2,
            reliability = reliability }
        peers[peer], by_vi[e.vi] = e, e
        return e
    end
    for peer = 0, me - 1 do open(peer):listen(peer .. ">" .. me) end
    for peer = me + 1, nodes - 1 do open(peer):call(peer, me .. ">" .. peer) end
    return queue, peers, by_vi
end

local function exchange(me)
    local queue, peers, by_vi = connect(me)

    local function receive()
        local status, vi
        repeat status, vi = VipCQDone(queue) until status ~= VIP_NOT_DONE
        ok(status)
        local e = by_vi[vi]
        e:again(e:receive())
    end

    local function run(n)
        for _ = 1, n do
            for step = 1, nodes - 1 do peers[(me + step) % nodes]:send(1) end
            for _ = 1, nodes - 1 do receive() end
            for step = 1, nodes - 1 do peers[(me + step) % nodes]:sent() end
        end
    end

    phase()
    for _, size in ipairs(sizes) do
        for _, e in pairs(peers) do e:prepare(1, size) end
        run(warmup)
        phase()
        started[me] = measure()
        run(rounds)
        finished[me] = measured()
        phase()
        if me == 0 then
            local first, last = started[0], finished[0]
            for node = 1, nodes - 1 do
                first, last = math.min(first, started[node]), math.max(last, finished[node])
            end
            local messages = nodes * (nodes - 1) * rounds
            row("nodes", nodes, "size_bytes", size, "round_us", (last - first) / rounds / 1e6, "bandwidth_mbytes_per_s",
                messages * size * 1e6 / (last - first))
        end
    end
end

for node = 0, nodes - 1 do process(node, exchange, "node" .. node) end
