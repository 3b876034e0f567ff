import type { Redis } from 'ioredis';

/** The question to the lists of approvals. The lists of a group are alternatives; an approval has to be in each group. */
export interface Walk {
  groups: readonly (readonly string[])[];
  /** newest, oldest: by id. score: by the scores of `by`, the lowest first. */
  order: 'newest' | 'oldest' | 'score';
  /** A sorted set: only its members are found, with scores in `range`. */
  by?: string | undefined;
  /** @default every score */
  range?: { from: number; to: number } | undefined;
}

/**
 * One call looks at a bounded number of entries, and returns the place where the next call continues (empty: nothing is left) and the
 * places of the approvals that it found. A place is an id; in the order of scores, the score and the id.
 * KEYS: `by`, then the lists group by group. ARGV: order, place, most ids, entries to look at, least score, highest score ('': `by` is not
 * asked), the number of lists of each group
 */
const script = `local order, place, most, bound = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local low, high = ARGV[5], ARGV[6]
local groups, key = {}, 2
for at = 7, #ARGV do
  local group = {size = 0}
  for n = 1, tonumber(ARGV[at]) do
    group[n] = KEYS[key]
    group.size = group.size + redis.call('ZCARD', KEYS[key])
    key = key + 1
  end
  groups[#groups + 1] = group
end
local driver
for _, group in ipairs(groups) do
  if not driver or group.size < driver.size then driver = group end
end
local function score_of(id)
  local score = redis.call('ZSCORE', KEYS[1], id)
  return score and tonumber(score)
end
local function in_range(score)
  return score and (low == '-inf' or score >= tonumber(low)) and (high == '+inf' or score <= tonumber(high))
end
local function has(group, id)
  for _, list in ipairs(group) do
    if redis.call('ZSCORE', list, id) then return true end
  end
  return false
end
local function fits(id)
  for _, group in ipairs(groups) do
    if group ~= driver and not has(group, id) then return false end
  end
  return high == '' or order == 'score' or in_range(score_of(id))
end
local found = {}
local function as_text(score, id) return string.format('%.0f', score) .. ' ' .. id end

if order == 'score' then
  local from, last = nil, ''
  if place ~= '' then
    from, last = string.match(place, '^(%d+) (.+)$')
    from = tonumber(from)
  end
  local function behind(score, id) return not from or score > from or (score == from and id > last) end
  if driver and driver.size <= bound then
    local rows, seen = {}, {}
    for _, list in ipairs(driver) do
      for _, id in ipairs(redis.call('ZRANGE', list, 0, -1)) do
        local score = not seen[id] and score_of(id)
        seen[id] = true
        if score and behind(score, id) then rows[#rows + 1] = {score, id} end
      end
    end
    table.sort(rows, function(one, other)
      if one[1] ~= other[1] then return one[1] < other[1] end
      return one[2] < other[2]
    end)
    for _, row in ipairs(rows) do
      if fits(row[2]) then
        found[#found + 1] = as_text(row[1], row[2])
        if #found == most then return {found[#found], found} end
      end
    end
    return {'', found}
  end
  driver = nil
  local rank = 0
  if from then
    rank = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. string.format('%.0f', from))
    local above = redis.call('ZCOUNT', KEYS[1], '-inf', string.format('%.0f', from))
    while rank < above do
      local middle = math.floor((rank + above) / 2)
      if redis.call('ZRANGE', KEYS[1], middle, middle)[1] > last then above = middle else rank = middle + 1 end
    end
  end
  if #groups == 0 then bound = most end
  local entries = redis.call('ZRANGE', KEYS[1], rank, rank + bound - 1, 'WITHSCORES')
  for at = 1, #entries, 2 do
    place = as_text(tonumber(entries[at + 1]), entries[at])
    if fits(entries[at]) then
      found[#found + 1] = place
      if #found == most then return {place, found} end
    end
  end
  if #entries < 2 * bound then place = '' end
  return {place, found}
end

local newest = order == 'newest'
local function ahead(one, other)
  if newest then return one > other end
  return one < other
end
local ids, seen, cut = {}, {}, nil
local function gather(id)
  if not seen[id] then ids[#ids + 1] = id end
  seen[id] = true
end
local in_scores = high ~= '' and redis.call('ZCOUNT', KEYS[1], low, high)
if in_scores and in_scores <= bound and (not driver or in_scores <= driver.size) then
  driver = nil
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], low, high)) do
    if place == '' or ahead(place, id) then gather(id) end
  end
else
  local each = math.max(math.floor(bound / #driver), 10)
  if #groups == 1 and high == '' then each = most end
  local from = place == '' and (newest and '+' or '-') or '(' .. place
  for _, list in ipairs(driver) do
    local entries
    if newest then entries = redis.call('ZREVRANGEBYLEX', list, from, '-', 'LIMIT', 0, each)
    else entries = redis.call('ZRANGEBYLEX', list, from, '+', 'LIMIT', 0, each) end
    for _, id in ipairs(entries) do gather(id) end
    local last = entries[#entries]
    if #entries == each and (not cut or ahead(last, cut)) then cut = last end
  end
end
table.sort(ids, ahead)
for _, id in ipairs(ids) do
  if cut and ahead(cut, id) then break end
  if fits(id) then
    found[#found + 1] = id
    if #found == most then return {id, found} end
  end
end
return {cut or '', found}`;

/** Entries that a call of the script looks at, besides those it returns. */
const lookedAt = 2000;

/** The places of approvals in pages, each with the place where the next page begins; undefined: nothing is left. */
export async function* walkApprovals(
  redis: Redis,
  { groups, order, by, range }: Walk,
  { cursor, most }: { cursor: string | undefined; most: number },
): AsyncGenerator<{ found: string[]; next: string | undefined }> {
  const lists = groups.flat();
  const bounds = range === undefined ? ['', ''] : [asText(range.from), asText(range.to)];
  const keys = [by ?? lists[0] ?? '', ...lists];
  for (let place = cursor; ; ) {
    const args = [order, place ?? '', most, lookedAt, ...bounds, ...groups.map((group) => group.length)];
    const [next, found] = (await redis.eval(script, keys.length, ...keys, ...args)) as [string, string[]];
    yield { found, next: next === '' ? undefined : next };
    if (next === '') return;
    place = next;
  }
}

const asText = (score: number): string => (Number.isFinite(score) ? String(score) : score > 0 ? '+inf' : '-inf');

/** The id of a place. */
export const idAt = (place: string): string => place.slice(place.indexOf(' ') + 1);
