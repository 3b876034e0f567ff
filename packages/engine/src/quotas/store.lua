-- Replaces the quotas of a tenant, unless another writer replaced them first.
-- KEYS: quotas of all tenants. ARGV: tenant, version that is replaced (0: none), quotas ('': remove). Returns the version, or -1.
local text = redis.call('HGET', KEYS[1], ARGV[1])
local version = text and tonumber(text:match('^(%d+) ')) or 0
if ARGV[2] ~= '' and tonumber(ARGV[2]) ~= version then return -1 end
redis.call('HSET', KEYS[1], ARGV[1], (version + 1) .. ' ' .. ARGV[3])
return version + 1
