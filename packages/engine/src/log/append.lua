-- The only way to change a run: test the conditions, apply the changes, add the events with the next sequence numbers.
-- KEYS 1: state hash  2: log stream
-- ARGV: channel, deadline (milliseconds since the epoch by the clock of this server; empty: none),
--       conditions: n, then n times: field, k, k values (an absent field is the same as an empty one),
--       sets: n, then n times: field, value,
--       increments: n, then n times: field, integer,
--       fields to return: n, then n fields,
--       events: n, then n JSON texts
-- Returns {1, seq, field, ...} or {0, failed field, its value}.
local at = 1
local function take()
  local value = ARGV[at]
  at = at + 1
  return value
end

local channel = take()

local deadline = tonumber(take())
if deadline then
  local now = redis.call('TIME')
  if now[1] * 1000 + math.floor(now[2] / 1000) >= deadline then return {0, 'deadline', now[1]} end
end

for _ = 1, tonumber(take()) do
  local field = take()
  local wanted = tonumber(take())
  local actual = redis.call('HGET', KEYS[1], field) or ''
  local holds = false
  for _ = 1, wanted do
    if take() == actual then holds = true end
  end
  if not holds then return {0, field, actual} end
end

local seq = tonumber(redis.call('HGET', KEYS[1], 'seq') or '0')

for _ = 1, tonumber(take()) do
  local field = take()
  redis.call('HSET', KEYS[1], field, take())
end

for _ = 1, tonumber(take()) do
  local field = take()
  redis.call('HINCRBY', KEYS[1], field, take())
end

local fields = {}
for index = 1, tonumber(take()) do
  fields[index] = take()
end

for _ = 1, tonumber(take()) do
  seq = seq + 1
  redis.call('XADD', KEYS[2], seq .. '-0', 'e', take())
end

local answer = {1, seq}
for _, value in ipairs(redis.call('HMGET', KEYS[1], unpack(fields))) do
  answer[#answer + 1] = value
end
redis.call('PUBLISH', channel, seq)
return answer
