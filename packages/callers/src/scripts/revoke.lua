-- Revokes a key, and frees its name. Its record stays, for who reads the log.
-- KEYS: record, name, channel. ARGV: prefix, id. Returns 0 when there is no such key.
local digest, previous, revoked = unpack(redis.call('HMGET', KEYS[1], 'digest', 'previous', 'revoked_at'))
if not digest then return 0 end
if revoked then return 1 end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'revoked_at', string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)))
redis.call('HDEL', KEYS[1], 'previous', 'previous_until')
for _, one in ipairs({ digest, previous or digest }) do redis.call('DEL', ARGV[1] .. 'hash:' .. one:sub(1, 32)) end
if redis.call('GET', KEYS[2]) == ARGV[2] then redis.call('DEL', KEYS[2]) end
redis.call('PUBLISH', KEYS[3], '')
return 1
