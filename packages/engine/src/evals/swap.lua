-- Replaces the state of an evaluation, if it is still the one that was read.
-- KEYS: the evaluation, the evaluations of the tenant by time, the times at which evaluations are due.
-- ARGV: the revision that was read ('': there is none), the new revision, the new state, id, due id, when it was made,
-- when it is due ('': it has ended), the most evaluations that a tenant keeps, the prefix of their keys.
-- Returns 'stored' or 'changed'.
local revision = redis.call('HGET', KEYS[1], 'revision') or ''
if revision ~= ARGV[1] then return 'changed' end
redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'state', ARGV[3])
redis.call('ZADD', KEYS[2], ARGV[6], ARGV[4])
if ARGV[7] == '' then redis.call('ZREM', KEYS[3], ARGV[5]) else redis.call('ZADD', KEYS[3], ARGV[7], ARGV[5]) end
if revision ~= '' then return 'stored' end
-- The oldest that have ended make room for a new one.
local over = redis.call('ZCARD', KEYS[2]) - tonumber(ARGV[8])
if over <= 0 then return 'stored' end
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, over - 1)) do
  if not redis.call('ZSCORE', KEYS[3], ARGV[9] .. '/' .. id) then
    redis.call('ZREM', KEYS[2], id)
    redis.call('DEL', ARGV[10] .. ARGV[9] .. '/' .. id)
  end
end
return 'stored'
