-- Counts a run, if every quota allows it: all, or none.
-- KEYS: sets of active runs, then sets of the runs of today, then hashes of what was spent today.
-- ARGV: run, mark of the active runs, how many sets of active runs, how many of today, ms until today's are forgotten,
-- then the most of each set, and the most tokens and the most cost of each hash ('': no bound).
-- Returns {} or {which key refuses (from 1), 'count' | 'tokens' | 'cost', how much is used}.
local active, days = tonumber(ARGV[3]), tonumber(ARGV[4])
local function most(at) return tonumber(ARGV[5 + at]) end
for at = 1, active do
  if not redis.call('ZSCORE', KEYS[at], ARGV[1]) then
    local used = redis.call('ZCARD', KEYS[at])
    if most(at) and used >= most(at) then return { at, 'count', tostring(used) } end
  end
end
for at = active + 1, active + days do
  if redis.call('SISMEMBER', KEYS[at], ARGV[1]) == 0 then
    local used = redis.call('SCARD', KEYS[at])
    if most(at) and used >= most(at) then return { at, 'count', tostring(used) } end
  end
end
for at = active + days + 1, #KEYS do
  local first = active + days + 2 * (at - active - days) - 1
  for offset, what in ipairs({ 'tokens', 'cost' }) do
    local bound = most(first + offset - 1)
    local used = tonumber(redis.call('HGET', KEYS[at], what) or '0')
    if bound and used >= bound then return { at, what, string.format('%.0f', used) } end
  end
end
for at = 1, active do redis.call('ZADD', KEYS[at], ARGV[2], ARGV[1]) end
for at = active + 1, active + days do
  redis.call('SADD', KEYS[at], ARGV[1])
  redis.call('PEXPIRE', KEYS[at], ARGV[5])
end
return {}
