-- Replaces the state of a schedule, if it is still the one that was read, and adds to its history.
-- KEYS: the schedule, its history, the names of the tenant, the times at which schedules are due.
-- ARGV: the revision that was read ('': there is none), the new revision, the new state ('': the schedule is removed), name, id,
-- when it is due ('': not before a change), the most schedules of a tenant, the longest history, records of the history.
-- Returns 'stored', 'changed' or 'full'.
local revision = redis.call('HGET', KEYS[1], 'revision') or ''
if revision ~= ARGV[1] then return 'changed' end
if ARGV[3] == '' then
  redis.call('DEL', KEYS[1], KEYS[2])
  redis.call('ZREM', KEYS[3], ARGV[4])
  redis.call('ZREM', KEYS[4], ARGV[5])
  return 'stored'
end
if revision == '' and redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[7]) then return 'full' end
redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'state', ARGV[3])
redis.call('ZADD', KEYS[3], 0, ARGV[4])
if ARGV[6] == '' then redis.call('ZREM', KEYS[4], ARGV[5]) else redis.call('ZADD', KEYS[4], ARGV[6], ARGV[5]) end
for at = 9, #ARGV do redis.call('LPUSH', KEYS[2], ARGV[at]) end
if #ARGV > 8 then redis.call('LTRIM', KEYS[2], 0, tonumber(ARGV[8]) - 1) end
return 'stored'
