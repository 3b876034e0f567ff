-- Takes sessions that the identity provider has to confirm: of several processes one gets each. A session whose process dies comes again.
-- KEYS: sessions to confirm. ARGV: prefix, claim, most, ms of a claim. Returns id, id of the key and sealed refresh token of each, in a row.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local claimed = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[3])) do
  local record = ARGV[1] .. 'session:' .. id
  local key, sealed = unpack(redis.call('HMGET', record, 'key_id', 'sealed'))
  if key and sealed and sealed ~= '' then
    redis.call('HSET', record, 'claim', ARGV[2])
    redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[4]), id)
    for _, part in ipairs({ id, key, sealed }) do claimed[#claimed + 1] = part end
  else
    redis.call('ZREM', KEYS[1], id)
  end
end
return claimed
