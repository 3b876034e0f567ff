-- Replaces the state of a receiver, if it is still the one that was read.
-- KEYS: the receiver, the names of its tenant, all receivers, the count of changes, the times at which receivers are due, its lanes by
-- time, its lanes, its log.
-- ARGV: the revision that was read ('': there is none), the new revision, the new state ('': the receiver is removed), name, id, the most
-- receivers of a tenant, '1' when nothing is sent, '1' when failures are forgotten, the time.
-- Returns 'stored', 'changed' or 'full'.
local revision = redis.call('HGET', KEYS[1], 'revision') or ''
if revision ~= ARGV[1] then return 'changed' end
local id = ARGV[5]
redis.call('INCR', KEYS[4])
if ARGV[3] == '' then
  redis.call('DEL', KEYS[1], KEYS[6], KEYS[7], KEYS[8])
  redis.call('ZREM', KEYS[2], ARGV[4])
  redis.call('ZREM', KEYS[3], id)
  redis.call('ZREM', KEYS[5], id)
  return 'stored'
end
if revision == '' and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[6]) then return 'full' end
redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'state', ARGV[3])
redis.call('ZADD', KEYS[2], 0, ARGV[4])
redis.call('ZADD', KEYS[3], 0, id)
if ARGV[7] == '1' then
  redis.call('HSET', KEYS[1], 'off', '1')
  redis.call('ZREM', KEYS[5], id)
  return 'stored'
end
redis.call('HDEL', KEYS[1], 'off')
if ARGV[8] == '1' then
  redis.call('HDEL', KEYS[1], 'attempt', 'since', 'retry_at')
  local lanes = redis.call('HGETALL', KEYS[7])
  for at = 1, #lanes, 2 do
    local cursor, upto, _, token = string.match(lanes[at + 1], '^(%d+):(%d+):(%d+):(.*)$')
    redis.call('HSET', KEYS[7], lanes[at], cursor .. ':' .. upto .. ':0:' .. token)
    if token == '' then redis.call('ZADD', KEYS[6], ARGV[9], lanes[at]) end
  end
end
if redis.call('ZCARD', KEYS[6]) > 0 then redis.call('ZADD', KEYS[5], ARGV[9], id) end
return 'stored'
