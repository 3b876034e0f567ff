-- Replaces the state of a pull request, if it is still the one that was read.
-- KEYS: the pull request, the items that were decided about, the times at which pull requests are due, the pull requests of the repository.
-- ARGV: the revision that was read ('': there is none), the new revision, the new state ('': it is removed), the id of the run,
-- when it is due, the number of hooks that was read, when a hook that came since is due, '1': the pull request is open,
-- items that are decided about now.
-- Returns 1: stored, 0: another process has changed it.
local revision = redis.call('HGET', KEYS[1], 'revision') or ''
if revision ~= ARGV[1] then return 0 end
if ARGV[3] == '' then
  redis.call('DEL', KEYS[1], KEYS[2])
  redis.call('ZREM', KEYS[3], ARGV[4])
  redis.call('SREM', KEYS[4], ARGV[4])
  return 1
end
redis.call('HSET', KEYS[1], 'revision', ARGV[2], 'state', ARGV[3])
local due = tonumber(ARGV[5])
-- A hook that came during the look is looked at.
if (redis.call('HGET', KEYS[1], 'hooks') or '0') ~= ARGV[6] then due = tonumber(ARGV[7]) end
redis.call('ZADD', KEYS[3], due, ARGV[4])
-- What is over takes no hook, so that hooks of a repository never go through all that it ever had.
if ARGV[8] == '1' then redis.call('SADD', KEYS[4], ARGV[4]) else redis.call('SREM', KEYS[4], ARGV[4]) end
for at = 9, #ARGV do redis.call('SADD', KEYS[2], ARGV[at]) end
return 1
