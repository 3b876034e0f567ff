import type { RunEvent, Tenant } from '@holdpoint/contract';
import type { Redis } from 'ioredis';
import type { ApprovalState } from '../domain/index.ts';
import { statusAfterDecision } from '../events/approval/decided.ts';
import { type ApprovalFacets, facetNames, facetsOf } from './approval-lists.ts';
import { decidedIndexOf, historyIndexOf, historyNamesKey } from './keys.ts';
import { readTenant } from './known-tenants.ts';
import { readApproval, readRun } from './read-state.ts';

/**
 * The lists of all approvals of a tenant, whatever their status. A request is listed before its append, and so is an end. The lists that an
 * approval has left are corrected after the append of the end; until then a hash names all lists of the approval. Readers read the states.
 */

/** The lists that change when an approval ends. */
interface Standing {
  names: string[];
  /** Milliseconds since the epoch; undefined without a decision. */
  decidedAt: number | undefined;
}

export const statusList = (status: ApprovalState['status']): string => `status:${status}`;
export const deciderList = (name: string): string => `decider:${name}`;

/** Call before the append of a request. */
export async function listAsked(
  redis: Redis,
  tenant: Tenant,
  { id, facets }: { id: string; facets: Omit<ApprovalFacets, 'expiresAt' | 'risk'> },
): Promise<void> {
  await enter(redis, tenant, id, { names: [...facetNames(facets), statusList('pending')], decidedAt: undefined });
}

/** Sends the lists of ended approvals ahead of the append of their ends. @returns what to do after the append */
export function listEndsAhead(
  redis: Redis,
  runId: string,
  { tenant, events }: { tenant: Tenant; events: readonly RunEvent[] },
): { appended: () => void; refused: () => void } | undefined {
  const ends = events.flatMap((event) => endOf(event) ?? []);
  if (ends.length === 0) return undefined;
  for (const { id, standing } of ends) quietly(enter(redis, tenant, id, standing));
  return {
    appended: () => {
      for (const { id, standing } of ends) quietly(settle(redis, tenant, id, standing));
    },
    refused: () => {
      for (const { id } of ends) quietly(correctHistory(redis, runId, id));
    },
  };
}

const ends: ReadonlySet<string> = new Set<RunEvent['type']>([
  ...(['approval.decided', 'approval.expired', 'approval.canceled'] as const),
]);
export const endsApprovals = (events: readonly { type: string }[]): boolean =>
  events.some(({ type }) => ends.has(type));

function endOf(event: RunEvent): { id: string; standing: Standing } | undefined {
  switch (event.type) {
    case 'approval.decided': {
      const status = statusAfterDecision[event.data.decision];
      const decision = { ...event.data, decided_at: event.time };
      return { id: event.data.approval_id, standing: standingOf({ status, decision }) };
    }
    case 'approval.expired':
      return { id: event.data.approval_id, standing: standingOf({ status: 'expired' }) };
    case 'approval.canceled':
      return { id: event.data.approval_id, standing: standingOf({ status: 'canceled' }) };
    default:
      return undefined;
  }
}

type Ended = Pick<ApprovalState, 'status'> & {
  decision?: Pick<NonNullable<ApprovalState['decision']>, 'by' | 'votes' | 'decided_at'> | undefined;
};

/** Everyone who approved where several had to, and who decided. */
export const decidersOf = ({ by, votes = [] }: NonNullable<Ended['decision']>): string[] => [
  ...new Set([by, ...votes.map((vote) => vote.by)]),
];

function standingOf({ status, decision }: Ended): Standing {
  const deciders = decision === undefined ? [] : decidersOf(decision);
  return {
    names: [statusList(status), ...deciders.map(deciderList)],
    decidedAt: decision === undefined ? undefined : Date.parse(decision.decided_at),
  };
}

function quietly(sent: Promise<unknown>): void {
  sent.catch(() => undefined);
}

/** KEYS: the hash of names, the list of decisions. ARGV: the prefix of lists, the approval, the time of the decision or empty, names */
const enterScript = `local names, known = {}, {}
for _, name in ipairs(cjson.decode(redis.call('HGET', KEYS[1], ARGV[2]) or '[]')) do
  names[#names + 1] = name
  known[name] = true
end
for at = 4, #ARGV do
  if not known[ARGV[at]] then names[#names + 1] = ARGV[at] end
  redis.call('ZADD', ARGV[1] .. ARGV[at], 0, ARGV[2])
end
if ARGV[3] ~= '' then redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2]) end
redis.call('HSET', KEYS[1], ARGV[2], cjson.encode(names))`;

/**
 * Leaves the lists of a status or a decider that are not named, and enters the named ones. The hash keeps the names while the approval is
 * pending. Returns the number of wrong entries.
 * KEYS and ARGV as above, and between the time and the names: 1 when the approval is pending
 */
const settleScript = `local wanted, kept, wrong = {}, {}, 0
for at = 5, #ARGV do
  wanted[ARGV[at]] = true
  kept[#kept + 1] = ARGV[at]
  wrong = wrong + redis.call('ZADD', ARGV[1] .. ARGV[at], 0, ARGV[2])
end
local names = redis.call('HGET', KEYS[1], ARGV[2])
for _, name in ipairs(cjson.decode(names or '[]')) do
  if not wanted[name] then
    if string.match(name, '^status:') or string.match(name, '^decider:') then
      wrong = wrong + redis.call('ZREM', ARGV[1] .. name, ARGV[2])
    else kept[#kept + 1] = name end
  end
end
if not wanted['status:pending'] then wrong = wrong + redis.call('ZREM', ARGV[1] .. 'status:pending', ARGV[2]) end
if ARGV[3] == '' then wrong = wrong + redis.call('ZREM', KEYS[2], ARGV[2])
else wrong = wrong + redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2]) end
if ARGV[4] ~= '1' then redis.call('HDEL', KEYS[1], ARGV[2])
else redis.call('HSET', KEYS[1], ARGV[2], cjson.encode(kept)) end
return wrong`;

const dropScript = `for _, name in ipairs(cjson.decode(redis.call('HGET', KEYS[1], ARGV[2]) or '[]')) do
  redis.call('ZREM', ARGV[1] .. name, ARGV[2])
end
redis.call('ZREM', KEYS[2], ARGV[2])
return redis.call('HDEL', KEYS[1], ARGV[2])`;

/** Whether a pending approval is in all lists of the hash, and in no list of an end. */
const soundScript = `local names = redis.call('HGET', KEYS[1], ARGV[2])
if not names then return 0 end
for _, name in ipairs(cjson.decode(names)) do
  if string.match(name, '^decider:') or (string.match(name, '^status:') and name ~= 'status:pending') then return 0 end
  if not redis.call('ZSCORE', ARGV[1] .. name, ARGV[2]) then return 0 end
end
return 1`;

const keysOf = (tenant: Tenant) =>
  [historyNamesKey(tenant), decidedIndexOf(tenant), historyIndexOf(tenant, '')] as const;

const enter = (redis: Redis, tenant: Tenant, id: string, { names, decidedAt }: Standing) =>
  redis.eval(enterScript, 2, ...keysOf(tenant), id, String(decidedAt ?? ''), ...names);

async function settle(redis: Redis, tenant: Tenant, id: string, { names, decidedAt }: Standing): Promise<number> {
  const isPending = names.includes(statusList('pending')) ? '1' : '';
  const args = [id, String(decidedAt ?? ''), isPending, ...names];
  return Number(await redis.eval(settleScript, 2, ...keysOf(tenant), ...args));
}

/** Removes an approval whose request was never appended. */
export async function unlistAsked(redis: Redis, tenant: Tenant, id: string): Promise<void> {
  await redis.eval(dropScript, 2, ...keysOf(tenant), id);
}

export const hasSoundHistory = async (redis: Redis, tenant: Tenant, id: string): Promise<boolean> =>
  (await redis.eval(soundScript, 2, ...keysOf(tenant), id)) === 1;

/** Makes the lists of an approval from its state. @returns the number of wrong entries */
export async function correctHistory(redis: Redis, runId: string, id: string): Promise<number> {
  const tenant = await readTenant(redis, runId);
  const [run, approval] = await Promise.all([readRun(redis, runId), readApproval(redis, runId, id)]);
  if (run === undefined || approval === undefined) return 0;
  const { names, decidedAt } = standingOf(approval);
  const facets = facetNames(await facetsOf(redis, run, approval));
  const wrong = await settle(redis, tenant, id, { names: [...facets, ...names], decidedAt });
  // The approval may have ended during the correction.
  const now = await readApproval(redis, runId, id);
  return now?.status === approval.status ? wrong : correctHistory(redis, runId, id);
}
