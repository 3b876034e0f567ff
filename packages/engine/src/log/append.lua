-- The only way to change a run: test the conditions, apply the changes, add the events with the next sequence numbers.
-- A call has one or more parts, in order. The first part with a failed condition ends the call: the parts before are appended.
-- KEYS 1: state hash  2: log stream
-- ARGV: channel,
--       id of a step: the fields of the run and of the step are returned (empty: none),
--       parts: n, then n times:
--         deadline (milliseconds since the epoch by the clock of this server; empty: none),
--         conditions: n, then n fields, then n times: k, k values (an absent field is the same as an empty field),
--         marks: n, then n times: field, text, counter or empty, integer, width (the text and the sum of both numbers go behind the field;
--           with a width, the field is a field of an index, and the number is stored as its remainder),
--         sets: n, then n times: field, value,
--         increments: n, then n times: field, integer,
--         raises: n, then n times: field, the least integer of the field after the call,
--         settled steps: n, then n ids (the fields of each step become one record),
--         sets after the settled steps: n, then n times: field, value,
--         events: n, then n JSON texts
-- Returns {number of appended parts, failed field, its value, seq, open, parked, status, field of the run, ..., field of the step, ...};
-- without a part {0, failed field, its value}.
-- The fields of a step in the order of its record, and the fields left out of a record (`domain/fields/step.ts`).
local columns = {--[[columns]]}
local dropped = {--[[dropped]]}
-- The index of the turns by the status of their settled steps.
local settled, turns_at_once = --[[settled]]
local state, log = KEYS[1], KEYS[2]

local at = 1
local function take()
  local value = ARGV[at]
  at = at + 1
  return value
end

-- Lua's stack holds 8000 values.
local most = 4000
-- Calls `act` with the next arguments: once, or several times when the arguments are too many for a call.
local function each(count, act)
  local last = at + count - 1
  while at <= last do
    local to = math.min(at + most - 1, last)
    act(unpack(ARGV, at, to))
    at = to + 1
  end
end

-- A field of a settled step.
local function recorded(field)
  local id, column = string.match(field, '^(step_[^:]+):(.+)$')
  local record = id and redis.call('HGET', state, id)
  if not record then return '' end
  local place = 0
  for part in string.gmatch(record .. '\n', '(.-)\n') do
    place = place + 1
    if columns[place] == column then return part end
  end
  return ''
end

-- The field with the failed condition, and the field's value.
local function refusal()
  local deadline = tonumber(take())
  if deadline then
    local now = redis.call('TIME')
    if now[1] * 1000 + math.floor(now[2] / 1000) >= deadline then return 'deadline', now[1] end
  end
  local count = tonumber(take())
  local first = at
  local found = {}
  each(count, function(...)
    for _, value in ipairs(redis.call('HMGET', state, ...)) do found[#found + 1] = value end
  end)
  for index = 1, count do
    local actual = found[index] or recorded(ARGV[first + index - 1])
    local holds = false
    for _ = 1, tonumber(take()) do
      if take() == actual then holds = true end
    end
    if not holds then return ARGV[first + index - 1], actual end
  end
end

local function set_all()
  each(2 * tonumber(take()), function(...) redis.call('HSET', state, ...) end)
end

local function add(field, text, number, width)
  if width > 0 then
    field = field .. string.format('%d', math.floor(number / width))
    number = number % width
  end
  redis.call('HSET', state, field, (redis.call('HGET', state, field) or '') .. text .. string.format('%d', number))
end

local function pack_step(id)
  local names = {}
  for index, column in ipairs(columns) do names[index] = id .. ':' .. column end
  local values = redis.call('HMGET', state, unpack(names))
  for index = 1, #names do values[index] = string.gsub(values[index] or '', '\n', ' ') end
  redis.call('HSET', state, id, table.concat(values, '\n'))
  local facts = {}
  for index, column in ipairs(columns) do facts[column] = values[index] end
  -- The turn is the first key of a call. Decoding the whole call could fail: its arguments may have any depth.
  local turn = tonumber(string.match(facts.call, '^{"turn":(%d+)'))
  if turn then add(settled .. facts.status .. ':', ' ', turn, turns_at_once) end
  for _, column in ipairs(dropped) do names[#names + 1] = id .. ':' .. column end
  redis.call('HDEL', state, unpack(names))
end

local seq
local function apply()
  for _ = 1, tonumber(take()) do
    local field, text, counter, number = take(), take(), take(), tonumber(take())
    if counter == 'seq' then number = number + seq
    elseif counter ~= '' then number = number + tonumber(redis.call('HGET', state, counter) or '0') end
    add(field, text, number, tonumber(take()))
  end
  set_all()
  for _ = 1, tonumber(take()) do
    local field = take()
    redis.call('HINCRBY', state, field, take())
  end
  for _ = 1, tonumber(take()) do
    local field, least = take(), tonumber(take())
    if tonumber(redis.call('HGET', state, field) or '0') < least then redis.call('HSET', state, field, least) end
  end
  for _ = 1, tonumber(take()) do pack_step(take()) end
  set_all()
  for _ = 1, tonumber(take()) do
    seq = seq + 1
    redis.call('XADD', log, seq .. '-0', 'e', take())
  end
end

local channel, step, parts = take(), take(), tonumber(take())
local done, field, actual = 0, false, false
while done < parts do
  field, actual = refusal()
  if field then break end
  seq = seq or tonumber(redis.call('HGET', state, 'seq') or '0')
  apply()
  done = done + 1
end
if done == 0 then return {0, field, actual} end

local returned = {'open', 'parked', 'status'}
if step ~= '' then
  for _, name in ipairs({--[[run]]}) do returned[#returned + 1] = name end
  for _, name in ipairs({--[[step]]}) do returned[#returned + 1] = step .. ':' .. name end
end
local answer = {done, field or false, actual or false, seq}
for _, value in ipairs(redis.call('HMGET', state, unpack(returned))) do
  answer[#answer + 1] = value
end
redis.call('PUBLISH', channel, seq)
return answer
