-- SPDX-License-Identifier: Apache-2.0
-- What scripts find when they start: the parts of Lua's libraries that would differ from run to run (the order of
-- keys, the pivots of table.sort, addresses in texts), replaced; and conveniences over VIPL.

local keys_of, write_line, is_unsafe = ordered_keys, write_line, unsafe
ordered_keys, unsafe = nil, nil
_G.write_line = nil

-- pairs and next in an order of their own: false, true, numbers, texts. A field may be cleared on the way.
function pairs(t)
    local meta = getmetatable(t)
    if type(meta) == "table" and meta.__pairs then return meta.__pairs(t) end
    local keys, i = keys_of(t), 0
    return function()
        while true do
            i = i + 1
            local key = keys[i]
            if key == nil then return nil end
            local value = rawget(t, key)
            if value ~= nil then return key, value end
        end
    end, t, nil
end

local raw_next = next
local walks = setmetatable({}, { __mode = "k" })

function next(t, key)
    if raw_next(t) == nil and key == nil then return nil end
    local walk = walks[t]
    if key == nil or not walk or not walk.place[key] then
        walk = { keys = keys_of(t), place = {} }
        for i, k in ipairs(walk.keys) do walk.place[k] = i end
        walks[t] = walk
    end
    local i = key == nil and 0 or walk.place[key]
    if not i then error("next: no such key", 2) end
    repeat
        i = i + 1
        key = walk.keys[i]
    until key == nil or rawget(t, key) ~= nil
    if key ~= nil then return key, rawget(t, key) end
    return nil
end

-- A stable merge sort: Lua's own takes pivots from the clock.
function table.sort(t, less)
    less = less or function(a, b) return a < b end
    local from, to, n = t, {}, #t
    local width = 1
    while width < n do
        for low = 1, n, 2 * width do
            local left, middle, right = low, math.min(low + width, n + 1), math.min(low + 2 * width, n + 1)
            local i, j = left, middle
            for k = low, right - 1 do
                if i < middle and (j >= right or not less(from[j], from[i])) then
                    to[k], i = from[i], i + 1
                else
                    to[k], j = from[j], j + 1
                end
            end
        end
        from, to = to, from == t and {} or from
        if to == t then to = {} end
        width = 2 * width
    end
    if from ~= t then for k = 1, n do t[k] = from[k] end end
end

-- Texts without addresses: tables, functions and handles are numbered as they are first shown.
local serials, count = setmetatable({}, { __mode = "k" }), 0
local raw_tostring = tostring
local plain = { ["nil"] = true, boolean = true, number = true, string = true }

function tostring(value)
    local kind = type(value)
    if plain[kind] then return raw_tostring(value) end
    local meta = getmetatable(value)
    if type(meta) == "table" and meta.__tostring then return raw_tostring(value) end
    if not serials[value] then
        count = count + 1
        serials[value] = count
    end
    return kind .. ": " .. serials[value]
end

local raw_format = string.format
function string.format(form, ...)
    if string.find(string.gsub(form, "%%%%", ""), "%%[-0-9.]*p") then
        error("string.format: an address (%p) would differ from run to run", 2)
    end
    local values = table.pack(...)
    for i = 1, values.n do
        if not plain[type(values[i])] then values[i] = tostring(values[i]) end
    end
    return raw_format(form, table.unpack(values, 1, values.n))
end

function print(...)
    local texts = table.pack(...)
    for i = 1, texts.n do texts[i] = tostring(texts[i]) end
    write_line(table.concat(texts, "\t"))
end

if not is_unsafe then
    -- Text only: bytecode can do anything.
    local raw_load = load
    function load(chunk, name, _, ...)
        return raw_load(chunk, name, "t", ...)
    end
end

-- ok(VipSomething(...)): the results behind the status, or an error that names it.
function ok(status, ...)
    if status ~= VIP_SUCCESS then error("VIPL says " .. status_name(status), 2) end
    return ...
end

-- What carries the messages of a shipped workload: VIs, or the kernel's sockets where the node has them.
local default_transport_, transports_ = default_transport, transports
default_transport, transports = nil, nil

function transport_argument()
    return argument { name = "transport", default = default_transport_, choices = transports_,
        help = "What carries the messages: VIs, or sockets of an Ethernet card's kernel" }
end

-- The longest message of the shipped workloads; a datagram of UDP has at most 65507 bytes.
function longest_message(transport) return transport == "udp" and 65507 or 65536 end

-- The sizes that the shipped workloads measure.
function message_sizes(largest, transport)
    local sizes, size = { 0, 1, 4 }, 8
    largest = math.min(largest, longest_message(transport))
    while size <= largest do
        sizes[#sizes + 1] = size
        size = 2 * size
    end
    return sizes
end

function largest_of(sizes)
    local largest = 0
    for _, size in ipairs(sizes) do largest = math.max(largest, size) end
    return largest
end

-- Minimum, median, 99th percentile and maximum of numbers: those of rank ceil(n * share), so each is one of them.
function spread(samples)
    local sorted, n = table.move(samples, 1, #samples, 1, {}), #samples
    table.sort(sorted)
    local function rank(percent) return sorted[math.max(1, (n * percent + 99) // 100)] end
    return sorted[1], rank(50), rank(99), sorted[n]
end

-- A row of one-way latencies: half of each of these round trips, in picoseconds.
function latency_row(key, value, trips)
    local halves, sum = {}, 0
    for i, trip in ipairs(trips) do
        halves[i] = trip / 2e6
        sum = sum + trip
    end
    local least, median, p99, most = spread(halves)
    row(key, value, "latency_us", sum / (2 * #trips) / 1e6, "min_us", least, "median_us", median, "p99_us", p99,
        "max_us", most)
end

-- Takes an option table of a script: what it does not know is a mistake of the script, not a wish that comes true.
local function check_options(o, known, what)
    for name in pairs(o) do
        if not known[name] then error(what .. ": there is no option '" .. tostring(name) .. "'", 3) end
    end
end

local levels = {
    unreliable = VIP_SERVICE_UNRELIABLE,
    delivery = VIP_SERVICE_RELIABLE_DELIVERY,
    reception = VIP_SERVICE_RELIABLE_RECEPTION,
}

reliability_levels = { "unreliable", "delivery", "reception" }

function reliability_argument()
    return argument { name = "reliability", default = "unreliable", choices = reliability_levels,
        help = "unreliable, delivery or reception" }
end

-- An endpoint: a VI of a card of the node, registered memory, and so many send and receive descriptors with a buffer of
-- `bytes` each. `card` is the number of the node's card, 0 unless given. What several endpoints of a process share is given: nic, tag, receive_queue (a CQ).
local endpoint = {}
endpoint.__index = endpoint

local page = 4096
local function pages(bytes) return math.max(1, (bytes + page - 1) // page) * page end

local endpoint_options = {
    bytes = true, sends = true, receives = true, reliability = true, rdma_write = true, nic = true, tag = true,
    receive_queue = true, transport = true, card = true,
}

local open_socket_endpoint

function open_endpoint(o)
    check_options(o, endpoint_options, "open_endpoint")
    for _, name in ipairs { "bytes", "sends", "receives" } do
        if math.type(o[name]) ~= "integer" then error("open_endpoint: expected " .. name .. ", a whole number", 2) end
    end
    if o.transport and o.transport ~= "vi" then return open_socket_endpoint(o) end
    local e = setmetatable({ bytes = o.bytes, sends = {}, receives = {} }, endpoint)
    e.nic = o.nic or ok(VipOpenNic("VINIC" .. (o.card or 0)))
    e.tag = o.tag or ok(VipCreatePtag(e.nic))
    ok(VipNSInit(e.nic))
    local level = levels[o.reliability or "unreliable"]
    if not level then error("reliability: expected unreliable, delivery or reception", 2) end
    local status
    status, e.vi = VipCreateVi(e.nic, {
        ReliabilityLevel = level, MaxTransferSize = ok(VipQueryNic(e.nic)).MaxTransferSize, Ptag = e.tag,
        EnableRdmaWrite = o.rdma_write or false,
    }, nil, o.receive_queue)
    if status == VIP_INVALID_RELIABILITY_LEVEL then
        refuse("reliability=" .. o.reliability .. ": the card does not offer it")
    end
    ok(status)
    local descriptors = pages(64 * (o.sends + o.receives))
    local room = pages(o.bytes)
    e.memory = memory(descriptors + (o.sends + o.receives) * room, page)
    e.handle = ok(VipRegisterMem(e.nic, e.memory, { Ptag = e.tag, EnableRdmaWrite = o.rdma_write or false }))
    for i = 1, o.sends + o.receives do
        local d = descriptor(e.memory, 64 * (i - 1))
        local at = descriptors + (i - 1) * room
        d.SegCount = 1
        d.Length = o.bytes
        d:data(0, e.memory.address + at, e.handle, o.bytes)
        local list = i <= o.sends and e.sends or e.receives
        list[#list + 1] = { descriptor = d, at = at }
    end
    for _, r in ipairs(e.receives) do ok(VipPostRecv(e.vi, r.descriptor, e.handle)) end
    return e
end

function endpoint:address(port)
    return { host = ok(VipQueryNic(self.nic)).LocalNicAddress, discriminator = port }
end

-- listen waits until somebody calls the port on this node.
function endpoint:listen(port)
    local _, _, connection = ok(VipConnectWait(self.nic, self:address(port)))
    ok(VipConnectAccept(connection, self.vi))
end

-- call connects to who listens; it tries again until somebody does, for so many milliseconds of simulated time.
function endpoint:call(node, port, patience)
    local remote = ok(VipNSGetHostByName(self.nic, "node" .. node))
    remote.discriminator = port
    local given_up = now() + (patience or 1000) * 1000000000
    local status
    repeat
        if status then sleep(20000000) end
        if now() > given_up then error("nobody listens to port '" .. port .. "' of node " .. node, 2) end
        status = VipConnectRequest(self.vi, self:address(port), remote)
    until status ~= VIP_NO_MATCH
    ok(status)
end

-- Send descriptor i sends so many bytes from now on; none: no segment at all.
function endpoint:prepare(i, bytes)
    local s = self.sends[i]
    s.descriptor.SegCount = bytes > 0 and 1 or 0
    s.descriptor.Length = bytes
    if bytes > 0 then s.descriptor:data(0, self.memory.address + s.at, self.handle, bytes) end
end

local post_send, post_receive, send_done, receive_done = VipPostSend, VipPostRecv, VipSendDone, VipRecvDone
local success, not_done = VIP_SUCCESS, VIP_NOT_DONE

local function expect(status, d)
    if status == success then return d end
    error(string.format("VIPL says %s, descriptor status 0x%x", status_name(status), d and d.Status or 0), 3)
end

function endpoint:send(i)
    local status = post_send(self.vi, self.sends[i].descriptor, self.handle)
    if status ~= success then error("VipPostSend: " .. status_name(status), 2) end
end

-- Polls until the oldest send is done.
function endpoint:sent()
    local status, d
    repeat status, d = send_done(self.vi) until status ~= not_done
    return expect(status, d)
end

-- Polls until a message has come; its descriptor is the caller's until `again`.
function endpoint:receive()
    local status, d
    repeat status, d = receive_done(self.vi) until status ~= not_done
    return expect(status, d)
end

-- One look each; nil when there is nothing.
function endpoint:try_sent()
    local status, d = send_done(self.vi)
    if status ~= not_done then return expect(status, d) end
end

function endpoint:try_receive()
    local status, d = receive_done(self.vi)
    if status ~= not_done then return expect(status, d) end
end

-- Posts a receive descriptor again.
function endpoint:again(d)
    d.Length = self.bytes
    local status = post_receive(self.vi, d, self.handle)
    if status ~= success then error("VipPostRecv: " .. status_name(status), 2) end
end

-- Whether the message in that receive descriptor is the pattern of `seed`.
function endpoint:holds(d, bytes, seed)
    for _, r in ipairs(self.receives) do
        if r.descriptor == d then return d.Length == bytes and self.memory:matches(r.at, bytes, seed) end
    end
    return false
end

function endpoint:close()
    VipDisconnect(self.vi)
end

-- The same over sockets: a message is a datagram of UDP, or, in a stream of TCP, four bytes of length and what they
-- count. Buffers stand for descriptors; what is sent is the kernel's as soon as the call returns.
local socket_endpoint = {}
socket_endpoint.__index = socket_endpoint

local raw = { socket = socket, bind = bind, listen = listen, accept = accept, connect = connect, send = send,
    recv = recv, recvfrom = recvfrom, setsockopt = setsockopt, close = close }
local datagram, stream_type, dont_wait = SOCK_DGRAM, SOCK_STREAM, MSG_DONTWAIT
local receive_buffer, send_buffer, no_delay, receive_timeout = SO_RCVBUF, SO_SNDBUF, TCP_NODELAY, SO_RCVTIMEO
local length_bytes = 4

local function good(value, failure)
    if value == nil then error("the kernel says " .. failure, 3) end
    return value
end

-- Names of ports as numbers.
local function port_number(name)
    local sum = 0
    for i = 1, #name do sum = (sum * 31 + name:byte(i)) % 20000 end
    return 5000 + sum
end

function open_socket_endpoint(o)
    local e = setmetatable({ bytes = o.bytes, sends = {}, receives = {}, free = {}, lengths = {},
        tcp = o.transport == "tcp" }, socket_endpoint)
    e.room = pages(o.bytes + length_bytes)
    e.memory = memory((o.sends + o.receives) * e.room, page)
    for i = 1, o.sends do e.sends[i] = { at = (i - 1) * e.room + length_bytes } end
    for i = 1, o.receives do
        e.receives[i] = { at = (o.sends + i - 1) * e.room + length_bytes, Length = 0 }
        e.free[i] = e.receives[i]
    end
    for i = 1, o.sends do e:prepare(i, o.bytes) end
    if not e.tcp then
        if o.bytes > 65507 then error("a datagram of UDP has at most 65507 bytes", 3) end
        e.fd = good(raw.socket(datagram))
        -- Room for all that may be under way: a datagram takes its buffers' overhead besides its bytes.
        good(raw.setsockopt(e.fd, receive_buffer, math.max(65535, (o.receives + 1) * (o.bytes + 1024))))
    end
    return e
end

-- The peer's first datagram says that it is there, and where. It is answered once: what UDP loses stays lost.
function socket_endpoint:listen(port)
    if self.tcp then
        local listening = good(raw.socket(stream_type))
        self:set_stream(listening)
        good(raw.bind(listening, port_number(port)))
        good(raw.listen(listening))
        self.fd = good(raw.accept(listening))
        good(raw.close(listening))
        return
    end
    good(raw.bind(self.fd, port_number(port)))
    local count, from = raw.recvfrom(self.fd, self.memory, 0, length_bytes)
    good(count, from)
    good(raw.connect(self.fd, from))
    good(raw.send(self.fd, self.memory, 0, length_bytes))
end

function socket_endpoint:call(node, port, patience)
    local given_up = now() + (patience or 1000) * 1000000000
    local to = { host = node, port = port_number(port) }
    repeat
        if now() > given_up then error("nobody listens to port '" .. port .. "' of node " .. node, 2) end
        local done = self.tcp and self:connect_stream(to) or not self.tcp and self:connect_datagrams(to)
    until done
end

-- Room for all sends: who fills it while the peer does the same would wait for ever.
function socket_endpoint:set_stream(fd)
    good(raw.setsockopt(fd, no_delay, 1))
    good(raw.setsockopt(fd, send_buffer, math.max(65535, (#self.sends + #self.receives) * (self.bytes + length_bytes))))
end

function socket_endpoint:connect_stream(to)
    self.fd = good(raw.socket(stream_type))
    self:set_stream(self.fd)
    local done, failure = raw.connect(self.fd, to)
    if done then return true end
    if failure ~= "ECONNREFUSED" then error("connect: " .. failure, 3) end
    good(raw.close(self.fd))
    sleep(20000000)
    return false
end

local hello = "call"

function socket_endpoint:connect_datagrams(to)
    good(raw.connect(self.fd, to))
    good(raw.setsockopt(self.fd, receive_timeout, 1000))
    self.memory:write(0, hello)
    good(raw.send(self.fd, self.memory, 0, #hello))
    local answered = raw.recv(self.fd, self.memory, 0, #hello)
    good(raw.setsockopt(self.fd, receive_timeout, 0))
    return answered ~= nil
end

-- Send buffer i sends so many bytes from now on.
function socket_endpoint:prepare(i, bytes)
    self.lengths[i] = bytes
    if self.tcp then self.memory:u32(self.sends[i].at - length_bytes, bytes) end
end

function socket_endpoint:send(i)
    local s, bytes = self.sends[i], self.lengths[i]
    if self.tcp then
        good(raw.send(self.fd, self.memory, s.at - length_bytes, length_bytes + bytes))
    else
        good(raw.send(self.fd, self.memory, s.at, bytes))
    end
end

function socket_endpoint:sent() end

function socket_endpoint:try_sent() return true end

-- What a stream brings beyond the message at hand belongs to the next one.
function socket_endpoint:receive_stream(d, flags)
    local begin, have = d.at - length_bytes, 0
    if self.rest then
        self.memory:write(begin, self.rest)
        have = #self.rest
    end
    while true do
        local wanted = length_bytes + (have >= length_bytes and self.memory:u32(begin) or self.usual or self.bytes)
        if have >= length_bytes and have >= length_bytes + self.memory:u32(begin) then break end
        local count, failure = raw.recv(self.fd, self.memory, begin + have, wanted - have, flags)
        if not count then
            if failure ~= "EAGAIN" then error("recv: " .. failure, 3) end
            self.rest = have > 0 and self.memory:text(begin, have) or nil
            return nil
        end
        if count == 0 then error("recv: the peer has closed the connection", 3) end
        have = have + count
    end
    d.Length = self.memory:u32(begin)
    self.usual = d.Length
    local extra = have - length_bytes - d.Length
    self.rest = extra > 0 and self.memory:text(d.at + d.Length, extra) or nil
    return d
end

function socket_endpoint:take(flags)
    local d = self.free[1]
    if not d then error("no receive buffer is free", 3) end
    if self.tcp then
        d = self:receive_stream(d, flags)
    else
        local count, failure = raw.recv(self.fd, self.memory, d.at, self.bytes, flags)
        if not count and failure ~= "EAGAIN" then error("recv: " .. failure, 3) end
        d = count and d
        if d then d.Length = count end
    end
    if d then table.remove(self.free, 1) end
    return d or nil
end

function socket_endpoint:receive() return self:take(0) end
function socket_endpoint:try_receive() return self:take(dont_wait) end
function socket_endpoint:again(d) self.free[#self.free + 1] = d end

function socket_endpoint:holds(d, bytes, seed)
    return d.Length == bytes and self.memory:matches(d.at, bytes, seed)
end

function socket_endpoint:close()
    good(raw.close(self.fd))
end
