-- SPDX-License-Identifier: Apache-2.0
description "What a message costs the processors: the time inside the library's calls"

local sizes = argument { name = "sizes", default = { 0, 8, 64, 1024, 4096 }, min = 0, max = 65536, unit = "bytes",
    help = "Message sizes" }
local count = argument { name = "count", default = 20, min = 1, help = "Measured messages of each size" }
local patience = argument { name = "patience_us", default = 2000, min = 1, unit = "us",
    help = "How long a message and its completions are given before they are looked for" }
local reliability = reliability_argument()

needs_nodes(2)
expect_rows(#sizes)
local largest = largest_of(sizes)
local phase = barrier(2)

-- Nobody polls in vain: each call is made when there is something for it.
local function span_of(call)
    local start = now()
    local result = call()
    return now() - start, result
end

local receiving = {}

process(0, function()
    local e = open_endpoint { bytes = largest, sends = 1, receives = 1, reliability = reliability }
    e:call(1, "overhead")
    for _, size in ipairs(sizes) do
        e:prepare(1, size)
        local post, done = 0, 0
        for _ = 1, count do
            post = post + span_of(function() e:send(1) end)
            sleep(patience * 1000000)
            local span, d = span_of(function() return e:try_sent() end)
            if not d then error("the send is not done after patience_us") end
            done = done + span
            phase()
        end
        phase()
        local r = receiving[size]
        row("size_bytes", size, "post_send_us", post / count / 1e6, "send_done_us", done / count / 1e6,
            "receive_done_us", r.done / count / 1e6, "post_receive_us", r.post / count / 1e6, "overhead_us",
            (post + done + r.done + r.post) / count / 1e6)
    end
end, "sender")

process(1, function()
    local e = open_endpoint { bytes = largest, sends = 1, receives = 2, reliability = reliability }
    e:listen("overhead")
    for _, size in ipairs(sizes) do
        local sum = { done = 0, post = 0 }
        for _ = 1, count do
            phase()
            local span, d = span_of(function() return e:try_receive() end)
            if not d then error("the message has not come after patience_us") end
            sum.done = sum.done + span
            sum.post = sum.post + span_of(function() e:again(d) end)
        end
        receiving[size] = sum
        phase()
    end
end, "receiver")
