-- Finds the key of a digest, and takes one request from its rate and from that of its tenant: both, or none.
-- KEYS: pointer, hash of last uses. ARGV: prefix, then rate and burst of a key and of a tenant (0: unlimited).
-- Returns {why} or {'ok', digest, record, limit, burst, remaining, ms until the next request is free}
-- or {'limited', digest, record, 'key' | 'tenant', ms to wait}.
local pointer = redis.call('GET', KEYS[1])
if not pointer then return {'unknown'} end
local id, digest = pointer:match('^(%S+) (%S+)$')
local record, expires, revoked, rate, burst, tenant =
  unpack(redis.call('HMGET', ARGV[1] .. 'key:' .. id, 'record', 'expires', 'revoked_at', 'rate', 'burst', 'tenant'))
if not record then return {'unknown'} end
if revoked then return {'revoked'} end
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local stamp = string.format('%.0f', now)
if expires and tonumber(expires) <= now then return {'expired', expires} end

-- One number says how full a bucket is: the time at which it will be empty again (GCRA).
local function look(name, perSecond, most)
  local each = 1000 / perSecond
  local full = now + most * each
  -- A clock that was set back would keep the bucket full for as long.
  local empty = math.min(math.max(tonumber(redis.call('GET', name) or now), now), full)
  local after = empty + each
  return { name = name, each = each, after = after, wait = after - full, left = math.floor((full - after) / each + 0.000001) }
end

local buckets = {}
rate = tonumber(rate or ARGV[2])
burst = tonumber(burst or ARGV[3])
if rate > 0 then
  if burst == 0 then burst = 1000000 end
  buckets[1] = look(ARGV[1] .. 'rate:key:' .. id, rate, burst)
  local tenantRate = tonumber(ARGV[4])
  if tenantRate > 0 then buckets[2] = look(ARGV[1] .. 'rate:tenant:' .. tenant, tenantRate, math.max(tonumber(ARGV[5]), 1)) end
end
-- Neither the append-only file nor replicas need the counters: with appendfsync always each request would wait for the disk.
redis.set_repl(redis.REPL_NONE)
for at, bucket in ipairs(buckets) do
  if bucket.wait > 0 then
    return {'limited', digest, record, at == 1 and 'key' or 'tenant', string.format('%.0f', bucket.wait)}
  end
end
for _, bucket in ipairs(buckets) do
  redis.call('SET', bucket.name, string.format('%.3f', bucket.after), 'PX', math.ceil(bucket.after - now) + 1000)
end
-- To the minute, and never a reason to refuse a request.
local used = redis.call('HGET', KEYS[2], id)
if not used or now - tonumber(used) > 60000 then
  redis.set_repl(redis.REPL_ALL)
  redis.pcall('HSET', KEYS[2], id, stamp)
end
local tightest = buckets[1]
if not tightest then return {'ok', digest, record} end
return {'ok', digest, record, tostring(rate), tostring(burst), tostring(tightest.left), string.format('%.0f', tightest.each)}
