-- Adds what a run has used since the last time to what was spent today. The totals of a run only grow, so a report that comes again adds 0.
-- KEYS: totals of the run, then hashes of what was spent today. ARGV: tokens, cost, ms until the totals, and ms until today's are forgotten.
-- Returns tokens and cost of each hash, in a row.
local tokens, cost = unpack(redis.call('HMGET', KEYS[1], 'tokens', 'cost'))
local more = { math.max(0, tonumber(ARGV[1]) - tonumber(tokens or '0')), math.max(0, tonumber(ARGV[2]) - tonumber(cost or '0')) }
if more[1] > 0 or more[2] > 0 then
  redis.call('HSET', KEYS[1], 'tokens', string.format('%.0f', tonumber(tokens or '0') + more[1]), 'cost', string.format('%.0f', tonumber(cost or '0') + more[2]))
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
local spent = {}
for at = 2, #KEYS do
  for offset, what in ipairs({ 'tokens', 'cost' }) do
    spent[#spent + 1] = string.format('%.0f', redis.call('HINCRBY', KEYS[at], what, string.format('%.0f', more[offset])))
  end
  redis.call('PEXPIRE', KEYS[at], ARGV[4])
end
return spent
