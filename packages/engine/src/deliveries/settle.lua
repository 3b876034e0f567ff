-- Records what became of a request, if its lane is still held with the token.
-- KEYS: the receiver, its lanes by time, its lanes, the times at which receivers are due, its log.
-- ARGV: id, lane, token, outcome, the cursor after it, the time, when the lane or the receiver is due again, a record for the log ('':
-- none), the longest log, the error.
-- Outcomes: 'delivered' and 'left_out' keep the lane while events follow; 'event_failed' is about this event, 'receiver_failed' about the
-- receiver; 'released' gives the lane back.
-- Returns {'lost'}, {'held', the last event to send} or {'ended', the failures now}.
local id, name, outcome, now, when = ARGV[1], ARGV[2], ARGV[4], ARGV[6], ARGV[7]
local lane = redis.call('HGET', KEYS[3], name)
if not lane then return { 'lost' } end
local _, upto, failures, token = string.match(lane, '^(%d+):(%d+):(%d+):(.*)$')
if token ~= ARGV[3] then return { 'lost' } end
if ARGV[8] ~= '' then
  redis.call('LPUSH', KEYS[5], ARGV[8])
  redis.call('LTRIM', KEYS[5], 0, tonumber(ARGV[9]) - 1)
end
local count = 0
local held = false
local function keep(more, score, by)
  redis.call('HSET', KEYS[3], name, ARGV[5] .. ':' .. upto .. ':' .. more .. ':' .. by)
  redis.call('ZADD', KEYS[2], score, name)
end
if outcome == 'delivered' then
  redis.call('HDEL', KEYS[1], 'attempt', 'since', 'retry_at')
  redis.call('HSET', KEYS[1], 'last_ok', now)
end
if outcome == 'delivered' or outcome == 'left_out' then
  if tonumber(ARGV[5]) >= tonumber(upto) then
    redis.call('HDEL', KEYS[3], name)
    redis.call('ZREM', KEYS[2], name)
  else
    held = true
    keep(0, when, token)
  end
elseif outcome == 'event_failed' then
  count = failures + 1
  keep(count, when, '')
  -- The receiver itself answers.
  redis.call('HDEL', KEYS[1], 'attempt', 'since', 'retry_at')
  redis.call('HSET', KEYS[1], 'last_error', ARGV[10])
elseif outcome == 'receiver_failed' then
  count = redis.call('HINCRBY', KEYS[1], 'attempt', 1)
  redis.call('HSETNX', KEYS[1], 'since', now)
  redis.call('HSET', KEYS[1], 'retry_at', when, 'last_error', ARGV[10])
  keep(failures, now, '')
else
  keep(failures, when, '')
end
local first = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
if #first == 0 or redis.call('HEXISTS', KEYS[1], 'off') == 1 then
  redis.call('ZREM', KEYS[4], id)
else
  redis.call('ZADD', KEYS[4], math.max(tonumber(first[2]), tonumber(redis.call('HGET', KEYS[1], 'retry_at') or 0)), id)
end
if held then return { 'held', upto } end
return { 'ended', tostring(count) }
