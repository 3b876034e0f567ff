-- Takes a challenge and counts a use of a passkey: of many requests at once a single one gets it, on all processes.
-- KEYS: challenge, passkey. ARGV: ms of the challenge, signature counter. Returns 'used', or why not: 'gone', 'revoked', 'counter'.
local text = redis.call('GET', KEYS[1])
if not text then return 'gone' end
redis.call('DEL', KEYS[1])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local made = tonumber(text:match('^(%d+) '))
-- A clock that was set back would leave the challenge valid for longer.
if not made or now > made + ARGV[1] or now < made - 1000 then return 'gone' end
local known = redis.call('HGET', KEYS[2], 'counter')
if not known then return 'revoked' end
local counter = tonumber(ARGV[2])
-- Authenticators without a counter always say 0. A counter that does not grow is of a copy of the passkey.
if (counter > 0 or tonumber(known) > 0) and counter <= tonumber(known) then return 'counter' end
redis.call('HSET', KEYS[2], 'counter', ARGV[2], 'used', string.format('%.0f', now))
return 'used'
