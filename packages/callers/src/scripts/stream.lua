-- Counts an open stream of a key. An entry ends by itself when its process dies and renews it no longer.
-- KEYS: streams of the key, pointer of the digest, record, and the session if the request has one. ARGV: stream, most (0: unlimited), ms until the entry ends, 'open' or 'renew'.
-- Returns 'ok', 'full', or 'gone' when the key or the session is not valid any more.
local expires, revoked = unpack(redis.call('HMGET', KEYS[3], 'expires', 'revoked_at'))
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if revoked or redis.call('EXISTS', KEYS[2]) == 0 or (expires and tonumber(expires) <= now) then return 'gone' end
if KEYS[4] and redis.call('EXISTS', KEYS[4]) == 0 then return 'gone' end
redis.set_repl(redis.REPL_NONE)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
local most = tonumber(ARGV[2])
if ARGV[4] == 'open' and most > 0 and redis.call('ZCARD', KEYS[1]) >= most then return 'full' end
redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[3]), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 'ok'
