-- Stores a secret that is used once, with the time of its making. KEYS: secret. ARGV: JSON, ms. Returns the ms at which it ends.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('SET', KEYS[1], string.format('%.0f', now) .. ' ' .. ARGV[1], 'PX', ARGV[2])
return string.format('%.0f', now + ARGV[2])
