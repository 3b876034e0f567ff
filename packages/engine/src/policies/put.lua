-- Adds a version to a policy, in one step: readers see all of it or none.
-- KEYS: the policy, the names. ARGV: name, digest, version as JSON, expected version or '', most policies, most versions.
-- Returns 'created' or 'same' with the version, 'changed' with the version in force (0: none), or 'full'.
local latest = tonumber(redis.call('HGET', KEYS[1], 'latest') or '0')
local current = latest
if redis.call('HEXISTS', KEYS[1], 'deleted') == 1 then current = 0 end
if ARGV[4] ~= '' and tonumber(ARGV[4]) ~= current then return {'changed', current} end
if current > 0 and redis.call('HGET', KEYS[1], 'digest') == ARGV[2] then return {'same', current} end
if current == 0 and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[5]) then return {'full', current} end
if latest >= tonumber(ARGV[6]) then return {'full', current} end
local version = latest + 1
redis.call('HSET', KEYS[1], 'version:' .. version, ARGV[3], 'latest', version, 'digest', ARGV[2])
redis.call('HDEL', KEYS[1], 'deleted')
redis.call('ZADD', KEYS[2], 0, ARGV[1])
return {'created', version}
