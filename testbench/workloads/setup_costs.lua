-- SPDX-License-Identifier: Apache-2.0
description "What is no message: VIs, connections, completion queues, memory"

local count = argument { name = "count", default = 5, min = 1, help = "Times that each is done" }
local sizes = argument { name = "sizes", default = { 4, 4096, 65536, 1048576 }, min = 1, max = 33554432, unit = "bytes",
    help = "Sizes of memory that is registered" }

needs_nodes(2)
expect_rows(6 + 2 * #sizes)
local leave = barrier(2)

-- Mean time of n calls, each on its own argument; what they return is kept.
local function timed(n, call)
    local kept, sum = {}, 0
    for i = 1, n do
        local start = now()
        kept[i] = call(i)
        sum = sum + now() - start
    end
    return sum / n / 1e6, kept
end

local function vi_of(nic, tag)
    return ok(VipCreateVi(nic, { ReliabilityLevel = VIP_SERVICE_UNRELIABLE, Ptag = tag,
        MaxTransferSize = ok(VipQueryNic(nic)).MaxTransferSize }))
end

process(0, function()
    local e = open_endpoint { bytes = 4, sends = 1, receives = 1 }
    local nic, tag = e.nic, e.tag
    local attributes = { ReliabilityLevel = VIP_SERVICE_UNRELIABLE, Ptag = tag,
        MaxTransferSize = ok(VipQueryNic(nic)).MaxTransferSize }

    local function report(operation, us, bytes) row("operation", operation, "size_bytes", bytes or 0, "cost_us", us) end

    local us, vis = timed(count, function() return ok(VipCreateVi(nic, attributes)) end)
    report("create VI", us)
    e:call(1, "ready")
    local local_address = e:address("costs")
    local remote = ok(VipNSGetHostByName(nic, "node1"))
    remote.discriminator = "costs"
    us = timed(count, function(i)
        local status
        repeat status = VipConnectRequest(vis[i], local_address, remote) until status ~= VIP_NO_MATCH
        return ok(status)
    end)
    report("connect", us)
    us = timed(count, function(i) ok(VipDisconnect(vis[i])) end)
    report("disconnect", us)
    us = timed(count, function(i) ok(VipDestroyVi(vis[i])) end)
    report("destroy VI", us)

    local queues
    us, queues = timed(count, function() return ok(VipCreateCQ(nic, 64)) end)
    report("create CQ", us)
    us = timed(count, function(i) ok(VipDestroyCQ(queues[i])) end)
    report("destroy CQ", us)

    for _, bytes in ipairs(sizes) do
        local block = memory(bytes, 4096)
        local register, deregister = 0, 0
        for _ = 1, count do
            local one, handles = timed(1, function() return ok(VipRegisterMem(nic, block, { Ptag = tag })) end)
            register = register + one
            deregister = deregister + timed(1, function() ok(VipDeregisterMem(nic, block, handles[1])) end)
        end
        report("register memory", register / count, bytes)
        report("deregister memory", deregister / count, bytes)
    end
    leave()
end, "client")

process(1, function()
    local e = open_endpoint { bytes = 4, sends = 1, receives = 1 }
    local vis = {}
    for i = 1, count do vis[i] = vi_of(e.nic, e.tag) end
    e:listen("ready")
    for i = 1, count do
        local _, _, connection = ok(VipConnectWait(e.nic, e:address("costs")))
        ok(VipConnectAccept(connection, vis[i]))
    end
    leave()
end, "server")
