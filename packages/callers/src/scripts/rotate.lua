-- Gives a key another text. The text before stays valid for the grace period; any earlier one ends now.
-- KEYS: record, new pointer, channel. ARGV: prefix, id, the digest that was read, the new digest, grace in seconds.
-- Returns 'gone', 'revoked', 'changed' or 'ok'.
local digest, previous, revoked = unpack(redis.call('HMGET', KEYS[1], 'digest', 'previous', 'revoked_at'))
if not digest then return 'gone' end
if revoked then return 'revoked' end
if digest ~= ARGV[3] then return 'changed' end
local function pointer(of) return ARGV[1] .. 'hash:' .. of:sub(1, 32) end
if previous then redis.call('DEL', pointer(previous)) end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local grace = tonumber(ARGV[5])
redis.call('HSET', KEYS[1], 'digest', ARGV[4], 'rotated_at', string.format('%.0f', now))
if grace > 0 then
  redis.call('EXPIRE', pointer(digest), grace)
  redis.call('HSET', KEYS[1], 'previous', digest, 'previous_until', string.format('%.0f', now + grace * 1000))
else
  redis.call('DEL', pointer(digest))
  redis.call('HDEL', KEYS[1], 'previous', 'previous_until')
end
redis.call('SET', KEYS[2], ARGV[2] .. ' ' .. ARGV[4])
redis.call('PUBLISH', KEYS[3], '')
return 'ok'
