-- Ends the sessions that the identity provider has ended: those of one session there, or all of a person. Once for each request.
-- KEYS: the request, keys of the subject, sessions of the provider's session, end of the provider's session, sessions to confirm.
-- ARGV: prefix, 'sub' | 'sid' | 'both', ms to remember the request, ms to remember the end.
-- Returns {'replayed'}, or 'ended' and then id and id of the key of each session.
if not redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[3]) then return {'replayed'} end
local named = ARGV[2]
local found = {}
if named == 'sub' then
  for _, key in ipairs(redis.call('SMEMBERS', KEYS[2])) do
    for _, id in ipairs(redis.call('ZRANGE', ARGV[1] .. 'sessions:' .. key, 0, -1)) do found[#found + 1] = id end
  end
else
  found = redis.call('SMEMBERS', KEYS[3])
  redis.call('SET', KEYS[4], '1', 'PX', ARGV[4])
end
local ended = {'ended'}
for _, id in ipairs(found) do
  local record = ARGV[1] .. 'session:' .. id
  local key, device = unpack(redis.call('HMGET', record, 'key_id', 'device'))
  if key and device and (named == 'sid' or redis.call('SISMEMBER', KEYS[2], key) == 1) then
    redis.call('DEL', record)
    redis.call('ZREM', ARGV[1] .. 'sessions:' .. key, id)
    redis.call('ZREM', KEYS[5], id)
    redis.call('PUBLISH', ARGV[1] .. 'changed:' .. key, '')
    ended[#ended + 1] = id
    ended[#ended + 1] = key
  end
end
return ended
