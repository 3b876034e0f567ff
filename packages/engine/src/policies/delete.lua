-- Takes a policy off the list. Its versions stay: runs name them.
-- KEYS: the policy, the names. ARGV: name, expected version or ''. Returns 'deleted', 'changed' or 'absent', with the version in force.
local latest = tonumber(redis.call('HGET', KEYS[1], 'latest') or '0')
if latest == 0 or redis.call('HEXISTS', KEYS[1], 'deleted') == 1 then return {'absent', 0} end
if ARGV[2] ~= '' and tonumber(ARGV[2]) ~= latest then return {'changed', latest} end
redis.call('HSET', KEYS[1], 'deleted', 1)
redis.call('ZREM', KEYS[2], ARGV[1])
return {'deleted', latest}
