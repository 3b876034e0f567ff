-- Takes lanes of a receiver that are due. A lane that was taken is due again when its holder is presumed dead.
-- KEYS: the receiver, its lanes by time, its lanes, the times at which receivers are due.
-- ARGV: id, the time, when a holder is presumed dead, the most lanes, the token of the holder.
-- Returns when to look next ('': never), then per lane: its name, cursor, the last event to send, its failures.
local id, now, dead = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local result = { '' }
if redis.call('HEXISTS', KEYS[1], 'revision') == 0 or redis.call('HEXISTS', KEYS[1], 'off') == 1 then
  redis.call('ZREM', KEYS[4], id)
  return result
end
local retry = tonumber(redis.call('HGET', KEYS[1], 'retry_at') or 0)
local most = tonumber(ARGV[4])
if retry <= now then
  -- A receiver that fails gets one request at a time.
  if tonumber(redis.call('HGET', KEYS[1], 'attempt') or 0) > 0 then most = 1 end
  local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, most)
  for _, name in ipairs(due) do
    local cursor, upto, failures = string.match(redis.call('HGET', KEYS[3], name), '^(%d+):(%d+):(%d+):')
    redis.call('HSET', KEYS[3], name, cursor .. ':' .. upto .. ':' .. failures .. ':' .. ARGV[5])
    redis.call('ZADD', KEYS[2], dead, name)
    for _, value in ipairs({ name, cursor, upto, failures }) do result[#result + 1] = value end
  end
  if #due > 0 and redis.call('HEXISTS', KEYS[1], 'attempt') == 1 then
    redis.call('HSET', KEYS[1], 'retry_at', dead)
    retry = tonumber(dead)
  end
end
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if #first == 0 then
  redis.call('ZREM', KEYS[4], id)
else
  local when = math.max(tonumber(first[2]), retry)
  redis.call('ZADD', KEYS[4], when, id)
  result[1] = string.format('%.0f', when)
end
return result
