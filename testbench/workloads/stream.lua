-- SPDX-License-Identifier: Apache-2.0
description "One-way stream with a window of messages under way"

local transport = transport_argument()
local sizes = argument { name = "sizes", default = message_sizes(65536, transport), min = 0, max = longest_message(transport),
    unit = "bytes", help = "Message sizes" }
local count = argument { name = "count", default = 100, min = 1, help = "Measured messages of each size" }
local warmup = argument { name = "warmup", default = 20, min = 0, help = "Messages before those" }
local window = argument { name = "window", default = 16, min = 1, max = 256, help = "Most messages under way, on each card" }
local cards = argument { name = "cards", default = 1, min = 1, max = 4, help = "Cards that messages go over in turn" }
local reliability = reliability_argument()
local verify = argument { name = "verify", default = false, help = "Compare the payload of every message" }

needs_nodes(2)
needs_cards(cards)
if cards > 1 and transport ~= "vi" then refuse("argument cards=" .. cards .. ": " .. transport .. " has the first card only") end
local largest = largest_of(sizes)
expect_rows(#sizes)
local share = math.max(1, window // 2) -- messages that one credit stands for
local phase = barrier(2)
local started

-- An endpoint on each card; message i of a batch goes over the i-th, round and round.
local function open_links(o)
    local links = {}
    for card = 0, cards - 1 do
        links[card + 1] = { e = open_endpoint { bytes = largest, sends = o.sends, receives = o.receives,
            reliability = reliability, transport = transport, card = card }, credits = window, posted = 0, next_slot = 1,
            received = 0, crediting = false }
    end
    return links
end
local function link_of(links, i) return links[(i - 1) % cards + 1] end

-- The sender may have `window` messages under way on a card that no credit has come for.
process(0, function()
    local links = open_links { sends = window, receives = 4 }
    for _, l in ipairs(links) do l.e:call(1, "stream") end

    local function sent(l)
        l.e:sent()
        l.posted = l.posted - 1
    end

    local function send_some(n, size, seed)
        for i = 1, n do
            local l = link_of(links, i)
            local e = l.e
            while l.credits == 0 do
                e:again(e:receive())
                l.credits = l.credits + share
            end
            if l.posted == window then sent(l) end
            if verify then e.memory:fill(e.sends[l.next_slot].at, size, seed + i) end
            e:send(l.next_slot)
            l.next_slot, l.posted, l.credits = l.next_slot % window + 1, l.posted + 1, l.credits - 1
            if e:try_sent() then l.posted = l.posted - 1 end
        end
    end

    for _, size in ipairs(sizes) do
        for _, l in ipairs(links) do
            while l.posted > 0 do sent(l) end
            for i = 1, window do l.e:prepare(i, size) end
        end
        send_some(warmup, size, 0)
        phase()
        started = measure()
        send_some(count, size, warmup)
        phase()
    end
end, "sender")

process(1, function()
    local links = open_links { sends = 1, receives = window }
    for _, l in ipairs(links) do
        l.e:prepare(1, 0)
        l.e:listen("stream")
    end

    local function receive_some(n, size, seed)
        local last
        for i = 1, n do
            local l = link_of(links, i)
            local e = l.e
            local d = e:receive()
            last = i == n and measured()
            if verify then check(e:holds(d, size, seed + i), "wrong payload in a message of size " .. size) end
            e:again(d)
            l.received = l.received + 1
            if l.received % share == 0 then
                if l.crediting then e:sent() end
                e:send(1)
                l.crediting = true
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
