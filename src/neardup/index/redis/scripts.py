"""Small Lua scripts that the server runs in one atomic step. Each uses only the keys it is given.

They are sent in full (EVAL), so they also work on a server that was restarted or that replaced another.
"""

from __future__ import annotations

__all__ = [
    "ADD_ONE",
    "APPEND",
    "CLAIM",
    "CUT",
    "DROP",
    "FORGET",
    "LEAD",
    "READ",
    "READ_SMALL",
    "SIZES",
    "SWITCH",
    "WRITE",
]

READ = """
local found = {}
for i = 1, #KEYS do found[i] = redis.call('HGET', KEYS[i], ARGV[i]) end
return found
"""
"""Reads fields. KEYS: hashes; ARGV: one field for each. Returns the values."""

READ_SMALL = """
local found, left = {}, tonumber(ARGV[2 * #KEYS + 1])
for i = 1, #KEYS do
  local field, most = ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  local size = redis.call('HSTRLEN', KEYS[i], field)
  if most >= 0 and (size > most or size > left) then found[i] = size
  else
    found[i] = redis.call('HGET', KEYS[i], field)
    left = left - size
  end
end
return found
"""
"""Reads small fields. KEYS: hashes; ARGV: a field and the most bytes for each (-1: any number), and the most bytes of
all together. Returns values, and the sizes of those that are larger."""

SIZES = """
local found = {}
for i = 1, #KEYS do found[i] = redis.call('HSTRLEN', KEYS[i], ARGV[i]) end
return found
"""
"""Sizes of fields. KEYS: hashes; ARGV: one field for each. Returns bytes, 0 for none."""

APPEND = """
local most, refused = tonumber(ARGV[#KEYS + 1]), 0
for i = 1, #KEYS do
  if most > 0 and redis.call('STRLEN', KEYS[i]) >= most then refused = refused + 1
  else redis.call('APPEND', KEYS[i], ARGV[i]) end
end
return refused
"""
"""Appends to strings. KEYS: strings; ARGV: what to append to each, and the longest allowed length (0: no limit).
Returns how many were already too long."""

DROP = """
local width, removed, call, sub, find = tonumber(ARGV[#KEYS + 1]), 0, redis.call, string.sub, string.find
for i = 1, #KEYS do
  local old, rows = call('GET', KEYS[i]), ARGV[i]
  if old then
    local left = old
    if #rows == 8 then
      local at = find(left, rows, 1, true)
      while at do
        if (at + 7) % width == 0 then
          left = sub(left, 1, at + 7 - width) .. sub(left, at + 8)
          at = at - width
        end
        at = find(left, rows, math.max(at + 1, 1), true)
      end
    else
      local dead, kept = {}, {}
      for j = 1, #rows, 8 do dead[sub(rows, j, j + 7)] = true end
      for j = width - 7, #old, width do
        if not dead[sub(old, j, j + 7)] then kept[#kept + 1] = sub(old, j + 8 - width, j + 7) end
      end
      left = table.concat(kept)
    end
    if left == '' then call('DEL', KEYS[i])
    elseif #left < #old then call('SET', KEYS[i], left) end
    removed = removed + (#old - #left) / width
  end
end
return removed
"""
"""Removes entries. KEYS: strings of entries; ARGV: the rows to remove from each, eight bytes for each row, and the
width of an entry. Returns how many were removed. A row may have several entries, because a command that is sent twice
appends twice."""

CUT = """
local width, moved, call, sub = tonumber(ARGV[#KEYS + 1]), {}, redis.call, string.sub
for i = 1, #KEYS do
  local old, places, kept, from = call('GET', KEYS[i]) or '', ARGV[i], {}, 1
  moved[i] = 0
  for j = 1, #places, 12 do
    local last = struct.unpack('<I4', places, j)
    if sub(old, last - 7, last) == sub(places, j + 4, j + 11) then
      if last - width >= from then kept[#kept + 1] = sub(old, from, last - width) end
      from = last + 1
    else moved[i] = 1 end
  end
  if from > 1 then
    kept[#kept + 1] = sub(old, from)
    local left = table.concat(kept)
    if left == '' then call('DEL', KEYS[i]) else call('SET', KEYS[i], left) end
  end
end
return moved
"""
"""Removes entries at known places, without a search. KEYS: strings of entries; ARGV: for each string the places in
ascending order, and the width of an entry. A place is where the entry ends, in four bytes, and its row in eight.
Returns 1 for each string in which another row is at one of its places, because the string has changed, else 0. Those
entries are not removed."""

FORGET = """
local gone = {}
for i = 1, #KEYS do
  local same = redis.call('STRLEN', KEYS[i]) == tonumber(ARGV[2 * i - 1])
  same = same and redis.call('GETRANGE', KEYS[i], -8, -1) == ARGV[2 * i]
  if same then redis.call('DEL', KEYS[i]) end
  gone[i] = same and 1 or 0
end
return gone
"""
"""Deletes strings of rows that have not changed. KEYS: strings; ARGV: for each the length and the last row that it
had. Returns 1 for each that is deleted."""

SWITCH = """
local found = {}
for i = 1, #KEYS do
  local field, before, after = ARGV[3 * i - 2], ARGV[3 * i - 1], ARGV[3 * i]
  local old = redis.call('HGET', KEYS[i], field)
  if not old then found[i] = after == '' and 1 or 0
  elseif after ~= '' and string.sub(old, 1, #after) == after then found[i] = 1
  elseif string.sub(old, 1, #before) == before then
    if after == '' then redis.call('HDEL', KEYS[i], field)
    elseif #after < 8 then redis.call('HSET', KEYS[i], field, after .. string.sub(old, #after + 1))
    else redis.call('HSET', KEYS[i], field, after) end
    found[i] = 1
  else found[i] = old end
end
return found
"""
"""Replaces values if they begin as expected. KEYS: hashes; ARGV: for each a field, the required beginning and the new
value. Returns 1 where the beginning matched, the stored value where it did not, 0 where there is none. A new value of
less than 8 bytes replaces only as many bytes at the beginning; an empty one deletes the field. Idempotent."""

LEAD = """
local before, after, failed = ARGV[#KEYS + 1], ARGV[#KEYS + 2], {}
local size, call, sub = #before, redis.call, string.sub
for i = 1, #KEYS do
  local fields, changed = {string.byte(ARGV[i], 1, -1)}, {}
  local found = call('HMGET', KEYS[i], unpack(fields))
  for j = 1, #fields do
    local old = found[j]
    local head = old and sub(old, 1, size)
    if head == before then
      changed[#changed + 1] = fields[j]
      changed[#changed + 1] = after .. sub(old, size + 1)
    elseif head ~= after then
      failed[#failed + 1] = KEYS[i]
      failed[#failed + 1] = fields[j]
      failed[#failed + 1] = old
    end
  end
  if #changed > 0 then call('HSET', KEYS[i], unpack(changed)) end
end
return failed
"""
"""Does what SWITCH does, for many values with the same beginning. KEYS: hashes; ARGV: bytes that are fields of each,
then the required beginning of all values and its replacement of the same length. Returns key, field and value
wherever the beginning did not match."""

CLAIM = """
local found, call = {}, redis.call
for i = 1, #KEYS do
  local field, before, after = ARGV[3 * i - 2], ARGV[3 * i - 1], ARGV[3 * i]
  if before == '' and call('HSETNX', KEYS[i], field, after) == 1 then found[i] = 1
  else
    local old = call('HGET', KEYS[i], field) or ''
    if old == before or old == after then
      call('HSET', KEYS[i], field, after)
      found[i] = 1
    else found[i] = old end
  end
end
return found
"""
"""Replaces whole values. KEYS: hashes; ARGV: for each a field, the expected value ('' for none) and the new value.
Returns 1 where the expected value was stored, else the stored value. Idempotent; the caller learns what was stored
before."""

WRITE = """
local fields, words, taken, sub = {}, {}, 0, string.sub
for i = 1, #ARGV, 2 do fields[#fields + 1] = ARGV[i] end
local old = redis.call('HMGET', KEYS[1], unpack(fields))
for i = 1, #fields do
  if not old[i] then
    words[#words + 1] = ARGV[2 * i - 1]
    words[#words + 1] = ARGV[2 * i]
  elseif sub(old[i], 8) ~= sub(ARGV[2 * i], 8) then taken = taken + 1 end
end
if #words > 0 then redis.call('HSET', KEYS[1], unpack(words)) end
return taken
"""
"""Writes fields that do not exist yet, so that a delayed copy of the command cannot undo later changes. KEYS: one
hash; ARGV: fields and values. Returns how many fields exist with a value that differs in more than its state."""

ADD_ONE = """
local call, sub, find, pack, format = redis.call, string.sub, string.find, struct.pack, string.format
local name, nonce, tail, digest, content, second = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local words, tables, small, most = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])
local function place(row)
  local page = math.floor(row / 32)
  local tag = format('{%s:%x}', name, page % 128)
  return format('%sd:%x', tag, page), format('%sc:%x', tag, page), row % 32
end
local row, ticket, before
if call('GET', KEYS[6]) ~= ARGV[13] then return 0 end
local last = call('GET', KEYS[2])
if last and sub(last, 1, 16) == nonce then
  row, ticket = struct.unpack('<I6I6', last, 17)
  before = sub(last, 29)
else
  if #call('ZRANGEBYSCORE', KEYS[4], '-inf', ARGV[11], 'LIMIT', 0, 1) > 0 then return 0 end
  row, ticket = call('HINCRBY', KEYS[1], 'rows', 1) - 1, call('HINCRBY', KEYS[1], 'tickets', 1)
  if row < 0 or row >= 2^48 or ticket < 1 or ticket >= 2^48 then return 0 end
  local record, contents, field = place(row)
  if call('HEXISTS', record, field) == 1 then return 0 end
  call('HSET', record, field, 'P' .. pack('<I6', ticket) .. tail)
  if sub(content, 1, 1) == '1' then call('HSET', contents, field, sub(content, 2)) end
  local own = pack('<I8', row)
  for i = 1, tables do call('APPEND', KEYS[6 + i], ARGV[13 + i] .. own) end
  if second ~= '' then
    call('APPEND', KEYS[5], own)
    call('ZADD', KEYS[4], second, second)
  end
  before = call('HGET', KEYS[3], digest) or ''
  call('HSET', KEYS[3], digest, pack('<I6', row))
  call('SET', KEYS[2], nonce .. pack('<I6I6', row, ticket) .. before, 'EX', ARGV[12])
end
local first, count = 6 + tables, #KEYS - 6 - tables
if count == 0 then first, count = 6, tables end
local found, seen, near, width = {}, {[row] = true}, {}, 8 * words + 8
for i = 1, count do
  local held = call('GET', KEYS[first + i])
  found[i] = held
  if held and most >= 0 and #held <= 16384 then
    local key = ARGV[13 + i]
    local at = find(held, key, 1, true)
    while at and #near < 32 do
      if (at - 1) % width == 0 then
        local other = struct.unpack('<I6', held, at + 8 * words)
        if not seen[other] then
          seen[other] = true
          near[#near + 1] = other
        end
        at = at + width - 1
      end
      at = find(held, key, at + 1, true)
    end
  end
end
local records, contents = {}, {}
for i, other in ipairs(near) do
  local record, content, field = place(other)
  records[i] = call('HGET', record, field)
  contents[i] = false
  if most > 0 then
    local size = call('HSTRLEN', content, field)
    if size > small or size > most then contents[i] = size
    else
      contents[i] = call('HGET', content, field)
      most = most - size
    end
  end
end
return {row, ticket, before, found, near, records, contents}
"""
"""Adds one document as pending and searches for it, in one step: takes a row and a ticket; writes record, contents,
entries and expiry; gives the row its id; and reads the buckets, with the records and small contents of rows that have
the key of one of its entries. For one server: the keys of records follow from rows, so they are not among KEYS.

KEYS: counters, the last call of this worker, the bucket of the id, the seconds in which rows expire, the list of its
second, the identity of the index, the buckets for its entries, and those to search if they are others.
ARGV: the name of the index, a number for this call, the record without its first 7 bytes, the digest of the id, '1' and
the contents ('' for none), the second in which it expires (''), words of a key, how many entries, the bytes of contents
of one row and of all that are returned (-1: no records either), the present second, the seconds for which a call is
remembered, the identity that the server must have, and the keys of the entries.

Returns the row, the ticket, the row that had the id (''), the buckets, and the rows with their records and contents or
the sizes of these; 0, and nothing is written, if the row is taken, expired rows must be removed first, or the server
has another index. A call that is sent again with the number of the last one writes nothing, and reads."""
