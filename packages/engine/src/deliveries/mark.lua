-- Marks new events of a run for receivers, if the events up to the cursor are still the ones that are marked.
-- KEYS: the cursor of the run, the times at which receivers are due, then per receiver: the receiver, its lanes by time, its lanes.
-- ARGV: the cursor that was read ('': there is none), the cursor after it ('': more receivers follow), its seconds, the time, the most
-- lanes of a receiver, the lane, then per receiver: id, the first and the last of the events.
-- Returns the ids of receivers that are due now, or 'changed'.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 'changed' end
local now, run = tonumber(ARGV[4]), ARGV[6]
local woken = {}
for at = 7, #ARGV, 3 do
  local id, first, last = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local key = 3 + (at - 7)
  local receiver, times, lanes = KEYS[key], KEYS[key + 1], KEYS[key + 2]
  if redis.call('HEXISTS', receiver, 'revision') == 1 then
    local lane = redis.call('HGET', lanes, run)
    if lane then
      local cursor, upto, rest = string.match(lane, '^(%d+):(%d+):(.*)$')
      if last > tonumber(upto) then redis.call('HSET', lanes, run, cursor .. ':' .. last .. ':' .. rest) end
    elseif redis.call('ZCARD', times) >= tonumber(ARGV[5]) then
      redis.call('HINCRBY', receiver, 'dropped', 1)
    else
      redis.call('HSET', lanes, run, (first - 1) .. ':' .. last .. ':0:')
      redis.call('ZADD', times, now, run)
      if redis.call('HEXISTS', receiver, 'off') == 0 then
        local when = math.max(now, tonumber(redis.call('HGET', receiver, 'retry_at') or 0))
        local due = redis.call('ZSCORE', KEYS[2], id)
        if not due or when < tonumber(due) then redis.call('ZADD', KEYS[2], when, id) end
        if when <= now then woken[#woken + 1] = id end
      end
    end
  end
end
if ARGV[2] ~= '' then redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3]) end
return woken
