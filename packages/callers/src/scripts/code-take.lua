-- Takes the code of a link: of many requests at once a single one gets it. KEYS: code. ARGV: ms. Returns {} or {digest of the code, digest of the key}.
local text = redis.call('GET', KEYS[1])
if not text then return {} end
redis.call('DEL', KEYS[1])
local digest, key, made = text:match('^(%S+) (%S+) (%S+)$')
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
-- A clock that was set back would leave the code valid for longer.
if now > made + ARGV[1] or now < made - 1000 then return {} end
return {digest, key}
