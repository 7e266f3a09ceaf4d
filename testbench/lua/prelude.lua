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
