-- One account of a provider: which requests may be sent to it now. Times in milliseconds.
-- KEYS: hash, active requests (score: when they count as lost), waiting runs by their order, waiting runs by when they count as gone
-- ARGV: operation, time of the caller ('' in production: the clock of Redis counts), ...
local hash, active, order, due = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local op = ARGV[1]
local now = tonumber(ARGV[2])
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
end
local day = 86400000
local most_ramp = 64
local grace = 15000

redis.call('ZREMRANGEBYSCORE', active, '-inf', now)
local gone = redis.call('ZRANGEBYSCORE', due, '-inf', now)
for _, ticket in ipairs(gone) do
  redis.call('ZREM', order, ticket)
  redis.call('ZREM', due, ticket)
end

local function number(field, default)
  return tonumber(redis.call('HGET', hash, field) or '') or default
end
local function keep()
  local ttl = day + math.max(0, number('closed_until', 0) - now)
  for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, math.floor(ttl)) end
end
local function wait_for(ticket, ms, closed)
  redis.call('ZADD', order, 'NX', redis.call('HINCRBY', hash, 'tickets', 1), ticket)
  redis.call('ZADD', due, now + ms + grace, ticket)
  keep()
  local code, message = redis.call('HGET', hash, 'code') or '', redis.call('HGET', hash, 'message') or ''
  return { 0, math.ceil(ms), math.ceil(closed), code, message }
end
local function limit_of(at_once)
  local ramp = number('ramp', math.huge)
  if at_once > 0 then return math.min(ramp, at_once) end
  return ramp
end

if op == 'enter' then
  local ticket, lease, lease_ms = ARGV[3], ARGV[4], tonumber(ARGV[5])
  local at_once, per_minute = tonumber(ARGV[6]), tonumber(ARGV[7])
  local closed = number('closed_until', 0)
  local rank = redis.call('ZRANK', order, ticket) or redis.call('ZCARD', order)
  -- The first one finds out whether it is open again. The others are woken then; these times count when the wake-up is lost.
  if closed > now then return wait_for(ticket, closed - now + math.min(3600000, 30000 * rank), closed - now) end
  local limit = limit_of(at_once)
  if limit ~= math.huge then
    local free = limit - redis.call('ZCARD', active)
    -- A request that ends wakes the next ones, so this is only how long one waits whose wake-up was lost.
    if rank >= free then return wait_for(ticket, math.min(30000, 1000 * (rank - math.max(free, 0) + 1)), 0) end
  end
  if per_minute > 0 then
    local interval = 60000 / per_minute
    local burst = math.max(1, math.floor(per_minute / 10))
    local next_at = math.max(number('next_at', 0), now - interval * (burst - 1))
    if next_at > now then return wait_for(ticket, math.min(30000, next_at - now + interval * rank), 0) end
    redis.call('HSET', hash, 'next_at', next_at + interval)
  end
  redis.call('ZREM', order, ticket)
  redis.call('ZREM', due, ticket)
  redis.call('ZADD', active, now + lease_ms, lease)
  local epoch = redis.call('HINCRBY', hash, 'epoch', 0)
  keep()
  return { 1, epoch }
end

if op == 'renew' then
  redis.call('ZADD', active, 'XX', now + tonumber(ARGV[4]), ARGV[3])
  return { 1 }
end

-- leave
local lease, epoch, outcome = ARGV[3], tonumber(ARGV[4]), ARGV[5]
local retry_ms, random, at_once = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
local code, message = ARGV[9], ARGV[10]
-- What was sent before the gate closed last says nothing new.
local is_fresh = epoch == number('epoch', 0)
if outcome == 'ok' and is_fresh then
  redis.call('HDEL', hash, 'failures')
  local ramp = number('ramp', math.huge)
  if ramp ~= math.huge then
    local slow_from = number('slow_from', most_ramp)
    if ramp < slow_from then ramp = math.min(ramp * 2, slow_from) else ramp = ramp + 1 end
    if ramp >= most_ramp then redis.call('HDEL', hash, 'ramp', 'slow_from', 'code', 'message')
    else redis.call('HSET', hash, 'ramp', ramp) end
  end
elseif outcome == 'limited' then
  local closed = now + retry_ms
  if is_fresh then
    local failures = redis.call('HINCRBY', hash, 'failures', 1)
    closed = now + math.max(retry_ms, math.min(300000, 1000 * 2 ^ math.min(failures - 1, 20)) * (0.5 + 0.5 * random))
    local was = math.min(number('ramp', math.huge), redis.call('ZCARD', active))
    redis.call('HSET', hash, 'slow_from', math.min(most_ramp, math.max(1, math.floor(was / 2))), 'ramp', 1)
    redis.call('HINCRBY', hash, 'epoch', 1)
  end
  redis.call('HSET', hash, 'closed_until', math.floor(math.max(number('closed_until', 0), closed)), 'code', code, 'message', message)
end
redis.call('ZREM', active, lease)
keep()
local closed = number('closed_until', 0) - now
if closed > 0 then return { math.ceil(closed) } end
local free = math.min(16, limit_of(at_once) - redis.call('ZCARD', active))
if free <= 0 then return { 0 } end
return { 0, unpack(redis.call('ZRANGE', order, 0, free - 1)) }
