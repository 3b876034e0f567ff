-- Stores what the identity provider says about a claimed session: the rights of its key now, and the next refresh token.
-- KEYS: record of the key, session, sessions to confirm, channel.
-- ARGV: session, claim, sealed refresh token, ms until it has to be confirmed, ms that it lasts without, record, expiry, scopes.
-- Returns 'ok', or 'gone': the session has ended, another process took it, or the key was revoked.
local key, revoked, before = unpack(redis.call('HMGET', KEYS[1], 'digest', 'revoked_at', 'roles'))
if not key or revoked or redis.call('HGET', KEYS[2], 'claim') ~= ARGV[2] then return 'gone' end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], 'record', ARGV[6], 'expires', ARGV[7], 'roles', ARGV[8])
redis.call('HSET', KEYS[2], 'sealed', ARGV[3], 'until', string.format('%.0f', now + ARGV[5]))
redis.call('HDEL', KEYS[2], 'claim')
redis.call('ZADD', KEYS[3], string.format('%.0f', now + ARGV[4]), ARGV[1])
if before ~= ARGV[8] then redis.call('PUBLISH', KEYS[4], '') end
return 'ok'
