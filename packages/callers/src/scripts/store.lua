-- Stores a key whose name no other key in force of its tenant has.
-- KEYS: name, record, pointer, index. ARGV: id, digest, then fields and values of the record. Returns the id of the key that has the name.
local taken = redis.call('GET', KEYS[1])
if taken and taken ~= ARGV[1] then return taken end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('DEL', KEYS[2])
redis.call('HSET', KEYS[2], 'digest', ARGV[2], unpack(ARGV, 3))
redis.call('SET', KEYS[3], ARGV[1] .. ' ' .. ARGV[2])
redis.call('ZADD', KEYS[4], 0, ARGV[1])
return ARGV[1]
