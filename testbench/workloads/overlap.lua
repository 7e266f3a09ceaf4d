-- SPDX-License-Identifier: Apache-2.0
description "How much of the time of a transfer hides behind computation"

-- Both nodes do the same (post-work-wait): post a receive and a send of `size` bytes to each other, compute, wait
-- until both are done. With no work that takes the communication time; with work W it takes the total time.
--   overlap = (communication + W - total) / communication
-- 1: the communication hides completely; 0: computing only makes it later. What the processor itself has to do for the
-- message (posting, copies, interrupts, kernel) cannot hide.

local sizes = argument { name = "sizes", default = { 8, 64, 256, 1024, 4096, 16384, 65536 }, min = 0, max = 65536,
    unit = "bytes", help = "Message sizes" }
local count = argument { name = "count", default = 20, min = 1, help = "Measured exchanges of each size and kind" }
local warmup = argument { name = "warmup", default = 5, min = 0, help = "Exchanges before those" }
local work = argument { name = "work_percent", default = 150, min = 0, max = 10000, unit = "%",
    help = "Work of an exchange, of its communication time" }
local reliability = reliability_argument()

needs_nodes(2)
expect_rows(#sizes)
local largest = largest_of(sizes)
local phase = barrier(2)
local communication = {} -- of node 0, by size: both nodes do the same work

-- Processor clocks in so many picoseconds: nothing disturbs the processor yet.
local function clock_period()
    local start, clocks = now(), 100000
    compute(clocks)
    return (now() - start) / clocks
end

local function exchanges(e, n, clocks)
    local posting, start = 0, now()
    for _ = 1, n do
        local before = now()
        e:send(1)
        posting = posting + now() - before
        if clocks > 0 then compute(clocks) end
        e:sent()
        e:again(e:receive())
    end
    return (now() - start) / n, posting / n
end

local function node(me)
    -- A peer can be one message ahead.
    local e = open_endpoint { bytes = largest, sends = 1, receives = 3, reliability = reliability }
    local period = clock_period()
    if me == 0 then e:call(1, "overlap") else e:listen("overlap") end
    for _, size in ipairs(sizes) do
        e:prepare(1, size)
        exchanges(e, warmup, 0)
        phase()
        if me == 0 then measure() end
        local alone, posting = exchanges(e, count, 0)
        if me == 0 then communication[size] = alone end
        phase()
        local clocks = math.floor(communication[size] * work / 100 / period)
        exchanges(e, warmup, clocks)
        phase()
        local total = exchanges(e, count, clocks)
        phase()
        if me == 0 then
            measured()
            row("size_bytes", size, "communication_us", alone / 1e6, "posting_us", posting / 1e6, "work_us",
                clocks * period / 1e6, "total_us", total / 1e6, "overlap_percent",
                100 * (alone + clocks * period - total) / alone)
        end
    end
end

process(0, node, "left")
process(1, node, "right")
