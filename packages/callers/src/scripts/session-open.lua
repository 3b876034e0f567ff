-- Stores a session of a key. Above the bound the oldest sessions of the key end.
-- KEYS: record, index of the key. ARGV: id, digest of the token, digest of the key, id of the key, ms without use, ms in all, most, prefix.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local stamp = string.format('%.0f', now)
for _, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, -1)) do
  if redis.call('EXISTS', ARGV[8] .. 'session:' .. id) == 0 then redis.call('ZREM', KEYS[2], id) end
end
while redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[7]) do
  redis.call('DEL', ARGV[8] .. 'session:' .. redis.call('ZPOPMIN', KEYS[2])[1])
end
redis.call('HSET', KEYS[1], 'digest', ARGV[2], 'key', ARGV[3], 'key_id', ARGV[4], 'created', stamp, 'seen', stamp)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('ZADD', KEYS[2], stamp, ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[6])
return stamp
