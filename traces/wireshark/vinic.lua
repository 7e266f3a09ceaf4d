-- SPDX-License-Identifier: Apache-2.0
-- Wireshark dissector of what `vinic run --pcap` writes: the packets of firmware/abi/wire_format.h as they are on a
-- cable. Use: wireshark -X lua_script:vinic.lua run.pcapng, or copy it into Wireshark's folder of Lua plugins.
-- Filters: vinic.source_vi == 3, vinic.kind == 1, vinic.crc32.status == 0 ...

local vinic = Proto("vinic", "VI packet")

local kinds = { [1] = "send", [2] = "RDMA write", [3] = "acknowledge", [4] = "not acknowledge", [5] = "control" }
local connection_kinds = {
    [1] = "request", [2] = "accept", [3] = "confirm", [4] = "reject", [5] = "no match", [6] = "cancel",
    [7] = "peer request", [8] = "peer connected", [9] = "disconnect", [10] = "disconnected", [11] = "peer refused",
}
local reliabilities = { [1] = "unreliable delivery", [2] = "reliable delivery", [4] = "reliable reception" }
local crc_states = { [0] = "bad", [1] = "good", [2] = "absent" }

local f = {}
local function field(name, make, ...)
    local key = name:gsub("%.", "_")
    f[key] = make("vinic." .. name, ...)
end

field("route", ProtoField.bytes, "Route", base.SPACE, "Route bytes that the switches ahead will strip")
field("header", ProtoField.none, "VI header")
field("type", ProtoField.uint32, "Type", base.HEX)
field("kind", ProtoField.uint8, "Kind", base.DEC, kinds)
field("flags", ProtoField.uint8, "Flags", base.HEX)
field("flags.first", ProtoField.bool, "First packet of a message", 8, nil, 0x01)
field("flags.last", ProtoField.bool, "Last packet of a message", 8, nil, 0x02)
field("flags.immediate", ProtoField.bool, "Immediate data", 8, nil, 0x04)
field("flags.wants_acknowledge", ProtoField.bool, "Wants an acknowledgement", 8, nil, 0x08)
field("length", ProtoField.uint16, "Payload length (bytes)", base.DEC)
field("destination_vi", ProtoField.uint16, "Destination VI", base.DEC)
field("source_vi", ProtoField.uint16, "Source VI", base.DEC)
field("connection_key", ProtoField.uint32, "Connection key", base.HEX)
field("sequence", ProtoField.uint32, "Sequence number", base.DEC)
field("acknowledge", ProtoField.uint32, "Next sequence number expected", base.DEC)
field("offset", ProtoField.uint32, "Offset in the message (bytes)", base.DEC)
field("immediate", ProtoField.uint32, "Immediate data", base.HEX)

field("rdma", ProtoField.none, "RDMA header")
field("rdma.address", ProtoField.uint64, "Remote address of the message", base.HEX)
field("rdma.handle", ProtoField.uint32, "Memory handle", base.HEX)
field("rdma.reserved", ProtoField.uint32, "Reserved", base.HEX)

field("connection", ProtoField.none, "Connection message")
field("connection.kind", ProtoField.uint8, "Kind", base.DEC, connection_kinds)
field("connection.code", ProtoField.uint8, "Code", base.DEC)
field("connection.source", ProtoField.ether, "Node address of the sender")
field("connection.destination", ProtoField.ether, "Node address of the receiver")
field("connection.vi", ProtoField.uint16, "The sender's VI", base.DEC)
field("connection.attempt", ProtoField.uint32, "Attempt of the sender", base.DEC)
field("connection.other_attempt", ProtoField.uint32, "Attempt of the receiver", base.DEC)
field("connection.proposed_key", ProtoField.uint32, "Proposed connection key", base.HEX)
field("connection.max_transfer_bytes", ProtoField.uint32, "Largest transfer (bytes)", base.DEC)
field("connection.other_vi", ProtoField.uint16, "The receiver's VI", base.DEC)
field("connection.reliability", ProtoField.uint8, "Reliability", base.DEC, reliabilities)
field("connection.rdma_enables", ProtoField.uint8, "RDMA enables (bit 0 write, bit 1 read)", base.HEX)
field("connection.local_bytes", ProtoField.uint8, "Length of the sender's discriminator (bytes)", base.DEC)
field("connection.remote_bytes", ProtoField.uint8, "Length of the receiver's discriminator (bytes)", base.DEC)
field("connection.local_discriminator", ProtoField.bytes, "The sender's discriminator")
field("connection.remote_discriminator", ProtoField.bytes, "The receiver's discriminator")

field("payload", ProtoField.bytes, "Payload")
field("padding", ProtoField.bytes, "Padding")
field("crc32", ProtoField.uint32, "CRC-32", base.HEX)
field("crc32.status", ProtoField.uint8, "CRC-32 status", base.DEC, crc_states)
field("crc8", ProtoField.uint8, "CRC-8", base.HEX)
field("crc8.status", ProtoField.uint8, "CRC-8 status", base.DEC, crc_states)
vinic.fields = f

local bad_crc8 = ProtoExpert.new("vinic.crc8.bad", "CRC-8 is wrong", expert.group.CHECKSUM, expert.severity.ERROR)
local bad_crc32 = ProtoExpert.new("vinic.crc32.bad", "CRC-32 is wrong", expert.group.CHECKSUM, expert.severity.ERROR)
local too_short = ProtoExpert.new("vinic.short", "Shorter than its header says", expert.group.MALFORMED,
                                  expert.severity.ERROR)
vinic.experts = { bad_crc8, bad_crc32, too_short }

-- hw/link/crc.h: 0x07, most significant bit first; over data and CRC it gives zero.
local crc8_table, crc32_table = {}, {}
for i = 0, 255 do
    local a, b = i, i
    for _ = 1, 8 do
        a = bit.band(bit.bxor(bit.lshift(a, 1), bit.band(a, 0x80) ~= 0 and 0x07 or 0), 0xFF)
        b = bit.bxor(bit.rshift(b, 1), bit.band(b, 1) ~= 0 and 0xEDB88320 or 0)
    end
    crc8_table[i], crc32_table[i] = a, b
end
local function crc8(bytes)
    local crc = 0
    for i = 1, #bytes do crc = crc8_table[bit.bxor(crc, bytes:byte(i))] end
    return crc
end
local function crc32(bytes)
    local crc = 0xFFFFFFFF
    for i = 1, #bytes do
        crc = bit.bxor(bit.rshift(crc, 8), crc32_table[bit.band(bit.bxor(crc, bytes:byte(i)), 0xFF)])
    end
    return bit.bnot(crc) % 0x100000000
end

local type_vi = 0x00005649
local header_bytes, rdma_bytes, connection_bytes = 32, 16, 80
local kind_rdma_write, kind_control = 2, 5

-- Reads fields one behind the other: {name, bytes} each.
local function add_all(tree, range, list)
    local at = 0
    for _, item in ipairs(list) do
        tree:add(f[item[1]], range(at, item[2]))
        at = at + item[2]
    end
end

local function dissect_header(header, tree)
    local branch = tree:add(f.header, header)
    add_all(branch, header, { { "type", 4 }, { "kind", 1 } })
    local flags = branch:add(f.flags, header(5, 1))
    for _, name in ipairs({ "first", "last", "immediate", "wants_acknowledge" }) do
        flags:add(f["flags_" .. name], header(5, 1))
    end
    add_all(branch, header(6), {
        { "length", 2 }, { "destination_vi", 2 }, { "source_vi", 2 }, { "connection_key", 4 }, { "sequence", 4 },
        { "acknowledge", 4 }, { "offset", 4 }, { "immediate", 4 },
    })
end

local function dissect_connection(payload, tree)
    local branch = tree:add(f.connection, payload)
    add_all(branch, payload, {
        { "connection_kind", 1 }, { "connection_code", 1 }, { "connection_source", 6 },
        { "connection_destination", 6 }, { "connection_vi", 2 }, { "connection_attempt", 4 },
        { "connection_other_attempt", 4 }, { "connection_proposed_key", 4 },
        { "connection_max_transfer_bytes", 4 }, { "connection_other_vi", 2 }, { "connection_reliability", 1 },
        { "connection_rdma_enables", 1 }, { "connection_local_bytes", 1 }, { "connection_remote_bytes", 1 },
    })
    branch:add(f.connection_local_discriminator, payload(40, math.min(payload(36, 1):uint(), 20)))
    branch:add(f.connection_remote_discriminator, payload(60, math.min(payload(37, 1):uint(), 20)))
end

-- The CRC-8 is the last byte; a CRC-32 of all that follows the route stands before it.
local function dissect_crcs(tvb, route, at, tree)
    local last = tvb:len() - 1
    if last - at == 4 then
        tree:add(f.crc32, tvb(at, 4))
        local good = crc32(tvb:raw(route, at - route)) == tvb(at, 4):uint()
        local item = tree:add(f.crc32_status, tvb(at, 4), good and 1 or 0):set_generated()
        if not good then item:add_proto_expert_info(bad_crc32) end
    else
        tree:add(f.crc32_status, tvb(last, 0), 2):set_generated()
    end
    tree:add(f.crc8, tvb(last, 1))
    local good = crc8(tvb:raw(0, tvb:len())) == 0
    local item = tree:add(f.crc8_status, tvb(last, 1), good and 1 or 0):set_generated()
    if not good then item:add_proto_expert_info(bad_crc8) end
end

local function describe(header, pinfo)
    local kind = header(4, 1):uint()
    local flags = header(5, 1):uint()
    local text = string.format("%s VI %d to VI %d", kinds[kind] or ("kind " .. kind), header(10, 2):uint(),
                               header(8, 2):uint())
    if kind ~= kind_control then
        text = text .. string.format(" seq %d ack %d", header(16, 4):uint(), header(20, 4):uint())
    end
    text = text .. string.format(" len %d", header(6, 2):uint())
    for n, name in ipairs({ "first", "last", "immediate", "wants ack" }) do
        if bit.band(flags, bit.lshift(1, n - 1)) ~= 0 then text = text .. ", " .. name end
    end
    pinfo.cols.info = text
end

-- In an Ethernet frame: no route, no padding to whole words, no CRC of its own.
local in_ethernet = false

function vinic.dissector(tvb, pinfo, tree)
    pinfo.cols.protocol = "VI"
    local top = tree:add(vinic, tvb())
    local route = 0
    while not in_ethernet and route < tvb:len() and tvb(route, 1):uint() >= 0x80 do route = route + 1 end
    if route > 0 then top:add(f.route, tvb(0, route)) end
    local crc8_bytes = in_ethernet and 0 or 1
    local left = tvb:len() - route - crc8_bytes
    if left < header_bytes or tvb(route, 4):uint() ~= type_vi then
        if left >= 4 then top:add(f.type, tvb(route, 4)) end
        pinfo.cols.info = "no VI packet"
        return
    end
    local header = tvb(route, header_bytes)
    describe(header, pinfo)
    dissect_header(header, top)
    local at = route + header_bytes
    local kind, length = header(4, 1):uint(), header(6, 2):uint()
    local padded = in_ethernet and length or length + (4 - length % 4) % 4
    local body = padded + (kind == kind_rdma_write and rdma_bytes or 0)
    if tvb:len() - crc8_bytes - at < body then
        top:add_proto_expert_info(too_short)
        return
    end
    if kind == kind_rdma_write then
        local branch = top:add(f.rdma, tvb(at, rdma_bytes))
        add_all(branch, tvb(at, rdma_bytes), { { "rdma_address", 8 }, { "rdma_handle", 4 }, { "rdma_reserved", 4 } })
        at = at + rdma_bytes
    end
    if kind == kind_control and length >= connection_bytes then
        dissect_connection(tvb(at, connection_bytes), top)
    elseif length > 0 then
        top:add(f.payload, tvb(at, length))
    end
    if padded > length then top:add(f.padding, tvb(at + length, padded - length)) end
    if not in_ethernet then dissect_crcs(tvb, route, at + padded, top) end
end

local ethernet = Proto("vinic_ethernet", "VI packet in an Ethernet frame")
function ethernet.dissector(tvb, pinfo, tree)
    in_ethernet = true
    vinic.dissector(tvb, pinfo, tree)
    in_ethernet = false
end
local ethertype_vi = 0x88B5 -- firmware/abi/wire_format.h
DissectorTable.get("ethertype"):add(ethertype_vi, ethernet)

DissectorTable.get("wtap_encap"):add((wtap_encaps or wtap).USER0, vinic)
