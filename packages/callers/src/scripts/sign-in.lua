-- Signs a person in: stores the key of the identity with the rights that it has now, and opens a session of it. All, or nothing.
-- KEYS: identity, record of the key, name, pointer, index of the tenant's keys, persons of the name, session, index of the key's sessions,
-- sessions to confirm, keys of the subject, sessions of the provider's session, end of the provider's session, channel.
-- ARGV: prefix, id of the identity's key as read, id, digest, record, tenant, expiry, scopes, person, session, digest of the token, device,
-- refresh token (sealed), ms until it has to be confirmed, ms that it lasts without, ms without use, ms in all, most sessions,
-- the provider's session.
-- Returns {'ok'}, {'changed'}, {'taken', id of the key with the name}, or {'ended'}.
local prefix, expected, id = ARGV[1], ARGV[2], ARGV[3]
if (redis.call('GET', KEYS[1]) or '') ~= expected then return {'changed'} end
local isKnown = id == expected
if isKnown then
  local digest, revoked = unpack(redis.call('HMGET', KEYS[2], 'digest', 'revoked_at'))
  if revoked or digest ~= ARGV[4] then return {'changed'} end
end
local taken = redis.call('GET', KEYS[3])
if taken and taken ~= id then return {'taken', taken} end
if ARGV[19] ~= '' and redis.call('EXISTS', KEYS[12]) == 1 then return {'ended'} end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function stamp(ms) return string.format('%.0f', ms) end

-- The person first: no request has a name without its person.
redis.call('SADD', KEYS[6], ARGV[9])
local before = redis.call('HGET', KEYS[2], 'roles')
redis.call('HSET', KEYS[2], 'digest', ARGV[4], 'record', ARGV[5], 'tenant', ARGV[6], 'expires', ARGV[7], 'roles', ARGV[8])
redis.call('SET', KEYS[1], id)
redis.call('SET', KEYS[3], id)
redis.call('SET', KEYS[4], id .. ' ' .. ARGV[4])
redis.call('ZADD', KEYS[5], 0, id)
redis.call('SADD', KEYS[10], id)
if before and before ~= ARGV[8] then redis.call('PUBLISH', KEYS[13], '') end

for _, one in ipairs(redis.call('ZRANGE', KEYS[8], 0, -1)) do
  if redis.call('EXISTS', prefix .. 'session:' .. one) == 0 then redis.call('ZREM', KEYS[8], one) end
end
while redis.call('ZCARD', KEYS[8]) >= tonumber(ARGV[18]) do
  redis.call('DEL', prefix .. 'session:' .. redis.call('ZPOPMIN', KEYS[8])[1])
end
redis.call('HSET', KEYS[7], 'digest', ARGV[11], 'key', ARGV[4], 'key_id', id, 'created', stamp(now), 'seen', stamp(now),
  'device', ARGV[12], 'sealed', ARGV[13], 'sid', ARGV[19], 'until', stamp(now + ARGV[15]))
redis.call('PEXPIRE', KEYS[7], ARGV[16])
redis.call('ZADD', KEYS[8], stamp(now), ARGV[10])
redis.call('PEXPIRE', KEYS[8], ARGV[17])
if ARGV[13] ~= '' then redis.call('ZADD', KEYS[9], stamp(now + ARGV[14]), ARGV[10]) end
if ARGV[19] ~= '' then
  redis.call('SADD', KEYS[11], ARGV[10])
  redis.call('PEXPIRE', KEYS[11], ARGV[17])
end
return {'ok'}
