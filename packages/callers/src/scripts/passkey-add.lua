-- Adds a passkey to its person, and takes the challenge of its registration and the permit.
-- KEYS: passkey, index of the person, challenge, permit (the challenge again where none is needed).
-- ARGV: id, record, signature counter, most passkeys, ms of the challenge, ms of the permit.
-- Returns 'added', or why not: 'gone', 'permit', 'taken', 'full'.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function isFresh(key, ms)
  local text = redis.call('GET', key)
  local made = text and tonumber(text:match('^(%d+) '))
  return made and now <= made + ms and now >= made - 1000
end
if not isFresh(KEYS[3], ARGV[5]) then return 'gone' end
if KEYS[4] ~= KEYS[3] and not isFresh(KEYS[4], ARGV[6]) then return 'permit' end
if redis.call('EXISTS', KEYS[1]) == 1 then return 'taken' end
if redis.call('SCARD', KEYS[2]) >= tonumber(ARGV[4]) then return 'full' end
redis.call('DEL', KEYS[3], KEYS[4])
redis.call('HSET', KEYS[1], 'record', ARGV[2], 'counter', ARGV[3])
redis.call('SADD', KEYS[2], ARGV[1])
return 'added'
