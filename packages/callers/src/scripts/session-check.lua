-- Finds a session and counts the request as its use.
-- KEYS: record. ARGV: ms without use, ms in all. Returns {} or {digest of the token, digest of the key}.
local digest, key, created, seen, confirmed = unpack(redis.call('HMGET', KEYS[1], 'digest', 'key', 'created', 'seen', 'until'))
if not digest then return {} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local untilEnd = tonumber(created) + tonumber(ARGV[2]) - now
-- A clock that was set back would give a session more time than a person was promised.
-- Without a word of the identity provider a session that began there lasts until then.
local isUnconfirmed = confirmed and now > tonumber(confirmed)
if untilEnd <= 0 or isUnconfirmed or now > seen + ARGV[1] or now < created - 60000 then
  redis.call('DEL', KEYS[1])
  return {}
end
-- To the minute: with appendfsync always each write would wait for the disk.
if now - seen > 60000 then
  redis.call('HSET', KEYS[1], 'seen', string.format('%.0f', now))
  redis.call('PEXPIRE', KEYS[1], string.format('%.0f', math.min(tonumber(ARGV[1]), untilEnd)))
end
return {digest, key}
