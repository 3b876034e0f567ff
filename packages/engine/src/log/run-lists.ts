import * as contract from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import { runField } from '../domain/fields/run.ts';
import { birthOf, type Standing, standingAfter, standingFields, standingOf } from '../domain/standing.ts';
import type { StateChanges } from '../domain/state-changes.ts';
import { lookSoon, trackActive } from './indexes.ts';
import { activeIndex, labelIndexOf, reasonIndexOf, reasonsKey, standingsKey, stateKey, statusIndexOf } from './keys.ts';
import { knownTenant, knowTenant, readTenant } from './known-tenants.ts';
import { keepMissingTitles, keepTitle } from './search-titles.ts';

/** Takes a run out of the lists it has left. Call the function when the append is done. */
export type Settle = (seq: number) => void;

/**
 * Sends the changes of the lists of runs ahead of the append, on the same connection: a run is found in the list of its new status as soon
 * as the run has the status. Readers skip wrong entries, and the sweeper's rounds correct the entries of a process that died here. The
 * function waits for nothing, so the append goes out before the caller's next command.
 * @returns undefined when the append changes no list
 */
export function listAhead(
  redis: Redis,
  runId: string,
  { events, values }: { events: readonly contract.RunEvent[]; values: StateChanges['values'] },
): Settle | undefined {
  const standing = standingAfter(events, values);
  // The process may die before sending the wake-up.
  if (standing !== undefined || events.some(isCommand)) quietly(lookSoon(redis, runId));
  if (standing === undefined) return undefined;
  const birth = birthOf(events);
  if (birth !== undefined) {
    knowTenant(redis, { id: runId, tenant: birth.tenant });
    quietly(keepTitle(redis, birth.tenant, runId, birth.title));
  }
  const tenant = knownTenant(redis, runId);
  if (tenant !== undefined) quietly(redis.zadd(statusIndexOf(tenant, standing.status), 0, runId));
  for (const [name, value] of Object.entries(birth?.labels ?? {})) {
    quietly(redis.zadd(labelIndexOf(birth?.tenant ?? contract.defaultTenant, name, value), 0, runId));
  }
  return (seq) =>
    quietly((async () => stand(redis, { tenant: tenant ?? (await readTenant(redis, runId)), runId, seq, standing }))());
}

const commands: ReadonlySet<string> = new Set<contract.RunEvent['type']>([
  ...(['approval.decided', 'task.kill_requested', 'step.cancel_requested'] as const),
]);
const isCommand = ({ type }: contract.RunEvent): boolean => commands.has(type);

/** A failed command is found and corrected later; the append succeeds or fails on its own. */
function quietly(sent: Promise<unknown>): void {
  sent.catch(() => undefined);
}

/** Moves a run to the lists of its standing, unless a later standing is listed. */
const moveScript = `local seq, status, reason = tonumber(ARGV[3]), ARGV[4], ARGV[5]
local was = redis.call('HGET', KEYS[1], ARGV[2])
if was then
  local at, before, why = string.match(was, '^(%d+) (%S*) ?(.*)$')
  if tonumber(at) > seq and ARGV[6] == '' then return 0 end
  if before ~= status then redis.call('ZREM', ARGV[1] .. 'status:' .. before, ARGV[2]) end
  if why ~= '' and (before ~= status or why ~= reason) then redis.call('ZREM', ARGV[1] .. 'reason:' .. before .. ' ' .. why, ARGV[2]) end
end
redis.call('ZADD', ARGV[1] .. 'status:' .. status, 0, ARGV[2])
if reason ~= '' then
  redis.call('ZADD', ARGV[1] .. 'reason:' .. status .. ' ' .. reason, 0, ARGV[2])
  redis.call('SADD', ARGV[1] .. 'reasons', status .. ' ' .. reason)
end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3] .. ' ' .. status .. ' ' .. reason)
return 1`;

interface Place {
  tenant: contract.Tenant;
  runId: string;
  seq: number;
  standing: Standing;
  /** Although a later standing is listed: Redis went back in time. */
  force?: boolean;
}

async function stand(redis: Redis, { tenant, runId, seq, standing, force = false }: Place): Promise<void> {
  const key = standingsKey(tenant);
  const prefix = key.slice(0, -'standings'.length);
  const { status, reason = '' } = standing;
  await redis.eval(moveScript, 1, key, prefix, runId, seq, status, reason, force ? 'force' : '');
}

const dueFields = [runField.publication.name, runField.restore.name];
const duePublications: readonly contract.PublicationStatus[] = ['requested', 'parked', 'discarding'];

/** Compares lists with states. @returns the number of corrected runs: missing in a list of their own, or listed under another status */
export async function correctLists(redis: Redis, tenant: contract.Tenant, ids: readonly string[]): Promise<number> {
  const fields = [...standingFields, runField.seq.name, runField.header.name, ...dueFields];
  const states = await Promise.all(ids.map((id) => redis.hmget(stateKey(id), ...fields)));
  const statuses = contract.runStatusSchema.options;
  let corrected = 0;
  const titles = new Map<string, string>();
  const checks = ids.map(async (runId, at) => {
    const values = states[at] ?? [];
    const standing = standingOf(values);
    // An entry whose append never came, or did not come yet.
    if (standing === undefined) return;
    const [seq, header, publication, restore] = values.slice(standingFields.length);
    const { labels = {}, title } = JSON.parse(header ?? '{}') as { labels?: Record<string, string>; title?: string };
    if (title !== undefined) titles.set(runId, title);
    const labelKeys = Object.entries(labels).map(([name, value]) => labelIndexOf(tenant, name, value));
    const [kept, active, ...scores] = await Promise.all([
      redis.hget(standingsKey(tenant), runId),
      redis.zscore(activeIndex, runId),
      ...statuses.map((status) => redis.zscore(statusIndexOf(tenant, status), runId)),
      ...labelKeys.map((key) => redis.zscore(key, runId)),
    ]);
    const { status, reason = '' } = standing;
    const isActive =
      !contract.isTerminal(status) || restore === 'due' || duePublications.some((one) => one === publication);
    const isFound = active !== null || !isActive;
    const isListed = statuses.every((one, place) => (scores[place] !== null) === (one === status));
    const hasLabels = scores.slice(statuses.length).every((score) => score !== null);
    if (isFound && isListed && hasLabels && kept?.slice(kept.indexOf(' ') + 1) === `${status} ${reason}`) return;
    // The run may have moved on during the comparison.
    if ((await redis.hget(stateKey(runId), runField.seq.name)) !== seq) return;
    corrected += 1;
    for (const one of statuses) if (one !== status) await redis.zrem(statusIndexOf(tenant, one), runId);
    await stand(redis, { tenant, runId, seq: Number(seq), standing, force: true });
    await Promise.all(labelKeys.map((key) => redis.zadd(key, 0, runId)));
    if (!isFound) await trackActive(redis, runId);
    // Its next move may have been undone here.
    if ((await redis.hget(stateKey(runId), runField.seq.name)) !== seq) await correctLists(redis, tenant, [runId]);
  });
  await Promise.all(checks);
  await keepMissingTitles(redis, tenant, titles);
  return corrected;
}

/** The number of a tenant's runs by status, and the number of waiting or paused runs by reason. */
export async function countByStanding(
  redis: Redis,
  tenant: contract.Tenant,
): Promise<(Standing & { count: number })[]> {
  const statuses = contract.runStatusSchema.options;
  const reasons = await redis.smembers(reasonsKey(tenant));
  const [byStatus, byReason] = await Promise.all([
    Promise.all(statuses.map((status) => redis.zcard(statusIndexOf(tenant, status)))),
    Promise.all(reasons.map((reason) => redis.zcard(reasonIndexOf(tenant, reason)))),
  ]);
  const found: (Standing & { count: number })[] = reasons.map((text, at) => {
    const [status = '', reason] = text.split(' ');
    return { status: status as contract.RunStatus, reason, count: byReason[at] ?? 0 };
  });
  for (const [at, status] of statuses.entries()) {
    if (status !== 'waiting' && status !== 'paused')
      found.push({ status, reason: undefined, count: byStatus[at] ?? 0 });
  }
  return found.filter(({ count }) => count > 0);
}

/** Counting the runs of a label by status stops here. */
export const mostCounted = 100_000;

/** The number of a tenant's runs of a label by status, and by reason, each up to `mostCounted`. */
export async function countLabelled(
  redis: Redis,
  tenant: contract.Tenant,
  { name, value }: { name: string; value: string },
): Promise<(Standing & { count: number })[]> {
  const label = labelIndexOf(tenant, name, value);
  const reasons = (await redis.smembers(reasonsKey(tenant))).map((text) => text.split(' '));
  const standings: Standing[] = [
    ...contract.runStatusSchema.options.map((status) => ({ status, reason: undefined })),
    ...reasons.map(([status = '', reason]) => ({ status: status as contract.RunStatus, reason })),
  ];
  const counts = standings.map(({ status, reason }) => {
    const list = reason === undefined ? statusIndexOf(tenant, status) : reasonIndexOf(tenant, `${status} ${reason}`);
    return redis.zintercard(2, label, list, 'LIMIT', mostCounted);
  });
  const found = await Promise.all(counts);
  return standings.map((one, at) => ({ ...one, count: found[at] ?? 0 }));
}

/** The number of a tenant's runs in each list: by status, and by status and reason. */
export async function countListed(redis: Redis, tenant: contract.Tenant): Promise<(Standing & { count: number })[]> {
  const statuses = contract.runStatusSchema.options;
  const [byStanding, sizes] = await Promise.all([
    countByStanding(redis, tenant),
    Promise.all(statuses.map((status) => redis.zcard(statusIndexOf(tenant, status)))),
  ]);
  const whole = statuses.map((status, at) => ({ status, reason: undefined, count: sizes[at] ?? 0 }));
  return [...whole, ...byStanding.filter(({ reason }) => reason !== undefined)];
}

/**
 * Selects ids present in any of the alternative sets and in all of the required sets, newest first, each once: a run that moves is in two
 * lists for a moment. Looks at a bounded number of entries:
 * the next call continues at `next`.
 * KEYS: the alternative sets, then the required sets. ARGV: the number of alternative sets, before, most ids
 */
const pickScript = `local any, before, most = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3])
local alternatives, required, size = {}, {}, 0
for at, key in ipairs(KEYS) do
  if at <= any then
    alternatives[at] = key
    size = size + redis.call('ZCARD', key)
  else required[#required + 1] = key end
end
local function has(keys, id, all)
  for _, key in ipairs(keys) do
    local found = redis.call('ZSCORE', key, id)
    if found and not all then return true end
    if not found and all then return false end
  end
  return all
end
local drivers, bound = alternatives, math.max(most, 2000)
if any == 0 or (#required > 0 and size > 2000) then
  local least
  for _, key in ipairs(required) do
    local length = redis.call('ZCARD', key)
    if not least or length < least then least, drivers = length, {key} end
  end
end
local ids, next, seen = {}, '', {}
for _, driver in ipairs(drivers) do
  local entries = redis.call('ZREVRANGEBYLEX', driver, before, '-', 'LIMIT', 0, #required > 0 and bound or most)
  local found = 0
  for _, id in ipairs(entries) do
    if found == most then break end
    if not seen[id] and has(required, id, true) and (any == 0 or drivers == alternatives or has(alternatives, id, false)) then
      ids[#ids + 1] = id
      seen[id] = true
      found = found + 1
    end
  end
  if #entries == bound and found < most and drivers ~= alternatives then next = entries[#entries] end
end
table.sort(ids, function(one, other) return one > other end)
for at = #ids, most + 1, -1 do ids[at] = nil end
return {next, ids}`;

/** Pages of ids, newest first. @param sets at least one of `any` and `all` has a set */
export async function* pick(
  redis: Redis,
  { any, all }: { any: readonly string[]; all: readonly string[] },
  { cursor, most }: { cursor: string | undefined; most: number },
): AsyncGenerator<string[]> {
  let before = cursor;
  for (;;) {
    const from = before === undefined ? '+' : `(${before}`;
    const reply = await redis.eval(pickScript, any.length + all.length, ...any, ...all, any.length, from, most);
    const [next, ids] = reply as [string, string[]];
    if (ids.length > 0) yield ids;
    if (ids.length < most && next === '') return;
    before = ids.length === most ? ids.at(-1) : next;
  }
}
