-- Keeps the runs in progress, and the runs waiting for a place. Times in milliseconds, by the clock of Redis.
-- KEYS: held (hash by run), line (hash by run: kind, tenant and turn), lines (set of `KIND TENANT`), workers (hash)
-- ARGV: operation, time ('' in production), worker, its places for runs that work, its places for runs that ask a model, ...
local held, line, lines, workers = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local op, now, me = ARGV[1], tonumber(ARGV[2]), ARGV[3]
if not now then
  local t = redis.call('TIME')
  now = t[1] * 1000 + math.floor(t[2] / 1000)
end
local worker_lost = 15000
-- After this many steps or milliseconds in a place, a run gives its place to a waiting run, at its next turn.
local quantum_steps, quantum_ms = 32, 120000
local kinds = { 'w', 'a', 'n' }

-- Places of all workers. A tenant with few places finds a reserve: places in addition to all places a single tenant can fill.
if me ~= '' then redis.call('HSET', workers, me, ARGV[4] .. ' ' .. ARGV[5] .. ' ' .. (now + worker_lost)) end
local cap = { w = 0, a = 0 }
local all = redis.call('HGETALL', workers)
for at = 1, #all, 2 do
  local w, a, ends = string.match(all[at + 1], '^(%d+) (%d+) (%d+)$')
  if tonumber(ends) < now then redis.call('HDEL', workers, all[at])
  else cap.w, cap.a = cap.w + tonumber(w), cap.a + tonumber(a) end
end
local spare = { w = math.ceil(cap.w / 4), a = math.ceil(cap.a / 4) }
-- Short runs (kind 's') find as many places again, apart from all others. So a run of one call waits for no long run.
cap.s = spare.w

-- held: 'KIND TENANT SINCE STEPS RANK TOUCHED'
local entries, used, by = {}, { w = 0, a = 0, s = 0 }, { w = {}, a = {}, s = {} }
local function count(kind, tenant, n)
  used[kind] = used[kind] + n
  by[kind][tenant] = (by[kind][tenant] or 0) + n
end
local function keep(run, e)
  if entries[run] then count(entries[run].kind, entries[run].tenant, -1) end
  entries[run] = e
  count(e.kind, e.tenant, 1)
  redis.call('HSET', held, run, table.concat({ e.kind, e.tenant, string.format('%.0f', e.since), e.steps, string.format('%.0f', e.rank), string.format('%.0f', e.touched) }, ' '))
end
local function drop(run)
  if not entries[run] then return end
  count(entries[run].kind, entries[run].tenant, -1)
  entries[run] = nil
  redis.call('HDEL', held, run)
end
all = redis.call('HGETALL', held)
for at = 1, #all, 2 do
  local kind, tenant, since, steps, rank, touched = string.match(all[at + 1], '^(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)$')
  entries[all[at]] = { kind = kind, tenant = tenant, since = tonumber(since), steps = tonumber(steps), rank = tonumber(rank), touched = tonumber(touched) }
  count(kind, tenant, 1)
end

local function fits(kind, tenant)
  if used[kind] < cap[kind] then return true end
  return used[kind] < cap[kind] + spare[kind] and (by[kind][tenant] or 0) < spare[kind]
end
-- A new run whose planner is a model asks first, and works then.
local function may(kind, tenant)
  if kind == 'n' then return fits('a', tenant) and fits('w', tenant) end
  if kind == 's' then return fits('w', tenant) or used.s < cap.s end
  return fits(kind, tenant)
end
-- The kind of the place for a run that may have a place. A run already begun keeps its place.
local function as(kind, tenant)
  if kind == 'n' then return 'a' end
  if kind == 's' then return fits('w', tenant) and 'w' or 's' end
  return kind
end
local function held_as(e, kind)
  if e.kind == 's' or kind == 's' then return e.kind end
  return kind == 'n' and 'a' or kind
end
local function key(name) return lines .. ':' .. name end

local function leave_line(run)
  local was = redis.call('HGET', line, run)
  if not was then return end
  local name = string.match(was, '^(%S+ %S+)')
  redis.call('ZREM', key(name), run)
  if redis.call('ZCARD', key(name)) == 0 then redis.call('SREM', lines, name) end
  redis.call('HDEL', line, run)
end
local function wait(run, kind, tenant, turn, steps, rank)
  local was = redis.call('HGET', line, run)
  if was and string.match(was, '^(%S+ %S+)') ~= kind .. ' ' .. tenant then leave_line(run) end
  redis.call('ZADD', key(kind .. ' ' .. tenant), 'NX', rank, run)
  redis.call('SADD', lines, kind .. ' ' .. tenant)
  redis.call('HSET', line, run, kind .. ' ' .. tenant .. ' ' .. turn .. ' ' .. steps)
end
local function waiting()
  local found = {}
  for _, name in ipairs(redis.call('SMEMBERS', lines)) do
    local kind, tenant = string.match(name, '^(%S+) (%S+)$')
    local first = redis.call('ZRANGE', key(name), 0, 0, 'WITHSCORES')
    if first[1] then
      found[#found + 1] = { kind = kind, tenant = tenant, run = first[1], rank = tonumber(first[2]) }
    end
  end
  return found
end
local function has(tenant) return (by.w[tenant] or 0) + (by.a[tenant] or 0) + (by.s[tenant] or 0) end
-- The next place goes to the tenant with the fewest places, and to the tenant's first run in line.
local function grant()
  local granted = {}
  while true do
    local best
    for _, one in ipairs(waiting()) do
      if may(one.kind, one.tenant) then
        local mine, other = has(one.tenant), best and has(best.tenant)
        if not best or mine < other or (mine == other and one.rank < best.rank) then best = one end
      end
    end
    if not best then return granted end
    local turn, steps = string.match(redis.call('HGET', line, best.run) or '', '^%S+ %S+ (%d+) (%d+)$')
    leave_line(best.run)
    keep(best.run, { kind = as(best.kind, best.tenant), tenant = best.tenant, since = now, steps = tonumber(steps) or 0, rank = best.rank, touched = now })
    granted[#granted + 1] = best.run .. ' ' .. (turn or '1')
  end
end
-- Why a run should give its place to a waiting run that could take the place: '', 'share' or 'quantum'.
local function why_yield(run, steps)
  local e = entries[run]
  if e.kind == 's' then return '' end
  local is_over = steps - e.steps >= quantum_steps or now - e.since >= quantum_ms
  local why, all_waiting = '', waiting()
  -- More runs than places: the reserve of the others is in use, or runs waiting for people all came back. The largest tenant gives way.
  local bound = cap[e.kind] + (#all_waiting > 0 and 0 or spare[e.kind])
  if used[e.kind] > bound then
    local most = 0
    for _, n in pairs(by[e.kind]) do most = math.max(most, n) end
    if by[e.kind][e.tenant] == most then return 'share' end
  end
  for _, one in ipairs(all_waiting) do
    count(e.kind, e.tenant, -1)
    local fits_then = may(one.kind, one.tenant)
    count(e.kind, e.tenant, 1)
    if fits_then and one.tenant ~= e.tenant and has(one.tenant) + 1 < has(e.tenant) then return 'share' end
    if fits_then and is_over then why = 'quantum' end
  end
  return why
end

if op == 'enter' then
  local run, kind, tenant, turn = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
  local steps, rank, behind = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12])
  if entries[run] then
    local why = why_yield(run, steps)
    if why == '' then
      local e = entries[run]
      e = { kind = held_as(e, kind), tenant = e.tenant, since = e.since, steps = e.steps, rank = e.rank, touched = now }
      keep(run, e)
      return { 1, unpack(grant()) }
    end
    drop(run)
    if why == 'quantum' then rank = now + behind end
  end
  wait(run, kind, tenant, turn, steps, rank)
  local granted = grant()
  return { entries[run] and 1 or 0, unpack(granted) }
end

-- Runs of this worker since its last review: they have begun, so they get a place even when no place is free.
if op == 'review' then
  for at = 6, #ARGV, 5 do
    local run, kind, tenant, steps, rank = ARGV[at], ARGV[at + 1], ARGV[at + 2], tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
    local e = entries[run]
    if e then keep(run, { kind = held_as(e, kind), tenant = e.tenant, since = e.since, steps = e.steps, rank = e.rank, touched = now })
    -- The job of a run in line sleeps: the run has just given its place to another run.
    elseif redis.call('HEXISTS', line, run) == 0 then
      keep(run, { kind = kind, tenant = tenant, since = now, steps = steps, rank = rank, touched = now })
    end
  end
  local granted = grant()
  local yields, idle = {}, {}
  local some = redis.call('SCARD', lines) > 0
  for at = 6, #ARGV, 5 do
    if entries[ARGV[at]] and why_yield(ARGV[at], tonumber(ARGV[at + 3])) ~= '' then yields[#yields + 1] = ARGV[at] end
  end
  for run, e in pairs(entries) do
    -- A run with a new place, not mentioned since, may not have been woken.
    if now - e.touched >= ((some or e.touched == e.since) and 3000 or 30000) then idle[#idle + 1] = run end
  end
  return { granted, yields, idle }
end

if op == 'touch' then
  for at = 6, #ARGV do
    local e = entries[ARGV[at]]
    if e then e.touched = now; keep(ARGV[at], e) end
  end
  return {}
end

if op == 'leave' then
  for at = 6, #ARGV do
    leave_line(ARGV[at])
    drop(ARGV[at])
  end
  return grant()
end

if op == 'close' then
  redis.call('HDEL', workers, ARGV[6])
  return {}
end

-- state of a run: 'held', 'stale', 'free' (in line although a place is free for the run), 'line' or 'none';
-- the counts; and the kind of a run in line
local run = ARGV[6]
local state, ahead, kind = 'none', 0, ''
local was = redis.call('HGET', line, run)
if entries[run] then state = now - entries[run].touched >= 3000 and 'stale' or 'held'
elseif was then
  local tenant
  kind, tenant = string.match(was, '^(%S+) (%S+)')
  state = may(kind, tenant) and 'free' or 'line'
  ahead = redis.call('ZRANK', key(kind .. ' ' .. tenant), run) or 0
end
return { state, used.w + used.s, cap.w, used.a, cap.a, redis.call('HLEN', line), ahead, kind }
