-- Stores the code of a link. KEYS: code. ARGV: digest of the code, digest of the key, ms. Returns the ms at which the code ends.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. string.format('%.0f', now), 'PX', ARGV[3])
return string.format('%.0f', now + ARGV[3])
