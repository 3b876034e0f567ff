-- Counts an open stream of a key. An entry ends by itself when its process dies and renews it no longer.
-- KEYS: streams of the key, pointer of the digest, record, and the session if the request has one.
-- ARGV: stream, most (0: unlimited), ms until the entry ends, 'open' or 'renew', the scopes of the key when the stream began.
-- Returns 'ok', 'full', or 'gone' when the key or the session is not valid any more.
local expires, revoked, roles = unpack(redis.call('HMGET', KEYS[3], 'expires', 'revoked_at', 'roles'))
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if revoked or redis.call('EXISTS', KEYS[2]) == 0 or (expires and tonumber(expires) <= now) then return 'gone' end
-- A stream never outlives a scope that it began with: a reader with the rest of them opens it again.
if roles and roles ~= ARGV[5] then return 'gone' end
if KEYS[4] then
  if redis.call('EXISTS', KEYS[4]) == 0 then return 'gone' end
  local confirmed = redis.call('HGET', KEYS[4], 'until')
  if confirmed and now > tonumber(confirmed) then return 'gone' end
end
redis.set_repl(redis.REPL_NONE)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
local most = tonumber(ARGV[2])
if ARGV[4] == 'open' and most > 0 and redis.call('ZCARD', KEYS[1]) >= most then return 'full' end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[3]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 'ok'
