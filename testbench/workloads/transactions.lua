-- SPDX-License-Identifier: Apache-2.0
description "Clients ask a server: a small request, a reply of a given size"

local replies = argument { name = "replies", default = { 8, 1024, 4096, 65536 }, min = 0, max = 65536, unit = "bytes",
    help = "Sizes of the reply" }
local request = argument { name = "request", default = 16, min = 0, max = 65536, unit = "bytes", help = "Size of the request" }
local count = argument { name = "count", default = 50, min = 1, help = "Measured transactions of each size and client" }
local warmup = argument { name = "warmup", default = 5, min = 0, help = "Transactions before those" }
local reliability = reliability_argument()

-- Node 0 serves all others.
needs_nodes(2)
expect_rows(#replies)
local clients = nodes - 1
local largest = math.max(request, largest_of(replies))
local phase = barrier(nodes)
local started, finished = {}, {}

process(0, function()
    local nic = ok(VipOpenNic("VINIC"))
    local tag = ok(VipCreatePtag(nic))
    local queue = ok(VipCreateCQ(nic, 4 * clients))
    local by_vi, all = {}, {}
    for client = 1, clients do
        local e = open_endpoint { nic = nic, tag = tag, receive_queue = queue, bytes = largest, sends = 1, receives = 2,
            reliability = reliability }
        e:listen("client" .. client)
        by_vi[e.vi], all[client] = e, e
    end

    local function serve(n)
        for _ = 1, n do
            local status, vi
            repeat status, vi = VipCQDone(queue) until status ~= VIP_NOT_DONE
            ok(status)
            local e = by_vi[vi]
            local d = e:receive()
            e:send(1)
            e:sent()
            e:again(d)
        end
    end

    for _, size in ipairs(replies) do
        for _, e in ipairs(all) do e:prepare(1, size) end
        phase()
        serve(warmup * clients)
        phase()
        serve(count * clients)
        phase()
        local first, last = started[1], finished[1]
        for client = 2, clients do
            first, last = math.min(first, started[client]), math.max(last, finished[client])
        end
        row("clients", clients, "reply_bytes", size, "rate_transactions_per_s", count * clients * 1e12 / (last - first))
    end
end, "server")

for client = 1, clients do
    process(client, function()
        local e = open_endpoint { bytes = largest, sends = 1, receives = 2, reliability = reliability }
        e:prepare(1, request)
        e:call(0, "client" .. client)
        local function ask(n)
            for _ = 1, n do
                e:send(1)
                e:sent()
                e:again(e:receive())
            end
        end
        for _ = 1, #replies do
            phase()
            ask(warmup)
            phase()
            started[client] = measure()
            ask(count)
            finished[client] = measured()
            phase()
        end
    end, "client" .. client)
end
