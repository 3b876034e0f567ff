import type { Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { titlesKey } from './keys.ts';

/** The form in which titles are compared: upper and lower case are the same. */
export const foldTitle = (text: string): string => text.normalize('NFC').toLowerCase();

/** Keeps a title for searches. A run never changes its title. */
export const keepTitle = (redis: Redis, tenant: Tenant, runId: string, title: string): Promise<number> =>
  redis.hset(titlesKey(tenant), runId, foldTitle(title));

/** Keeps the titles of older runs, which no process kept at their creation. */
export async function keepMissingTitles(
  redis: Redis,
  tenant: Tenant,
  titles: ReadonlyMap<string, string>,
): Promise<void> {
  if (titles.size === 0) return;
  const ids = [...titles.keys()];
  const kept = await redis.hmget(titlesKey(tenant), ...ids);
  const missing = ids.filter((_, at) => kept[at] === null);
  await Promise.all(missing.map((id) => keepTitle(redis, tenant, id, titles.get(id) ?? '')));
}

/**
 * Selects the ids in any of the alternative sets and in all of the required sets whose title has a part, newest first, each once. A run
 * without a kept title may have the part, and is selected. Looks at a bounded number of entries of each set: ids before the last of them wait
 * for the next look, at \`next\`.
 * KEYS: the hash of titles, the alternative sets, the required sets.
 * ARGV: the number of alternative sets, before, most ids, the part, most entries of a set
 */
const searchScript = `local any, before, most, part, looks = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local ids, seen, floor = {}, {}, ''
local function required(id)
  for at = any + 2, #KEYS do if not redis.call('ZSCORE', KEYS[at], id) then return false end end
  return true
end
for at = 2, any + 1 do
  local from, looked, chunk, found, last = before, 0, 64, 0, nil
  while not last do
    local size = math.min(chunk, looks - looked)
    local entries = redis.call('ZREVRANGEBYLEX', KEYS[at], from, '-', 'LIMIT', 0, size)
    local titles = #entries > 0 and redis.call('HMGET', KEYS[1], unpack(entries))
    for n, id in ipairs(entries) do
      local fits = not titles[n] or string.find(titles[n], part, 1, true)
      if fits and not seen[id] and required(id) then
        ids[#ids + 1], seen[id], found = id, true, found + 1
        if found == most then last = id break end
      end
    end
    looked, chunk, from = looked + #entries, chunk * 4, '(' .. (entries[#entries] or '')
    if not last and #entries < size then last = '' end
    if not last and looked == looks then last = entries[#entries] end
  end
  if last > floor then floor = last end
end
table.sort(ids, function(one, other) return one > other end)
while #ids > 0 and (#ids > most or ids[#ids] < floor) do
  ids[#ids] = nil
  if #ids == most and ids[most] > floor then floor = ids[most] end
end
return {floor, ids}`;

export interface TitleSearch {
  /** A part of the title. */
  title: string;
  /** The lists of all statuses that a run may have. */
  any: readonly string[];
  all: readonly string[];
}

/** Ids, newest first. @returns next: where another look continues; undefined: there are no more */
export async function searchTitles(
  redis: Redis,
  tenant: Tenant,
  { title, any, all }: TitleSearch,
  { cursor, most, looks = 2000 }: { cursor: string | undefined; most: number; looks?: number },
): Promise<{ ids: string[]; next: string | undefined }> {
  const keys = [titlesKey(tenant), ...any, ...all];
  const from = cursor === undefined ? '+' : `(${cursor}`;
  const args = [any.length, from, most, foldTitle(title), looks];
  const reply = await redis.eval(searchScript, keys.length, ...keys, ...args);
  const [next, ids] = reply as [string, string[]];
  return { ids, next: next || undefined };
}
