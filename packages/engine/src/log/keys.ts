import { createHash } from 'node:crypto';
import type { RunStatus, Tenant } from '@holdpoint/contract';
import { defaultTenant } from '@holdpoint/contract/names';

/** Redis keys. All keys of a run share its hash tag, so one script may touch them all, on a cluster too. */
export const stateKey = (runId: string): string => `hp:{${runId}}:state`;
export const logKey = (runId: string): string => `hp:{${runId}}:log`;
/** Pub/sub channel: each append announces its last sequence number. A wake-up only: readers read the log. */
export const notificationChannel = (runId: string): string => `hp:{${runId}}:notifications`;
export const notificationPattern = 'hp:{run_*}:notifications';
/** The run of a key or channel. */
export const runOfKey = (key: string): string => key.slice('hp:{'.length, key.indexOf('}'));
/** Pub/sub channels of live streams: the pieces of a run, and the requests of readers for the pieces. */
export const liveChannel = (runId: string): string => `hp:{${runId}}:live`;
export const liveJoinChannel = 'hp:live';
/** Pub/sub channel: announces cancellations to workers. A wake-up only: the run's state is the truth. */
export const controlChannel = 'hp:control';

/** The run of a step or an approval. */
export const ownerKey = (id: string): string => `hp:owner:${id}`;
/** Sorted sets of equal scores: ids sort by the time they were made. These two are of the tenant `default`. */
export const runIndex = 'hp:index:runs';
export const approvalIndex = 'hp:index:approvals';
export const runIndexOf = (tenant: Tenant): string => indexOf(runIndex, tenant);
export const approvalIndexOf = (tenant: Tenant): string => indexOf(approvalIndex, tenant);
/** A sorted set of digests of calls, each with the id of a remembered rule about the call. */
export const ruleIndexOf = (tenant: Tenant): string => `hp:index:rules:${tenant}`;
const indexOf = (index: string, tenant: Tenant): string => (tenant === defaultTenant ? index : `${index}:${tenant}`);
/** A sorted set: when the sweep has to remind of an approval or to escalate the approval. */
export const noticeIndex = 'hp:index:notices';
/** The other tenants that have ever had a run. */
export const tenantIndex = 'hp:index:tenants';
/** The runs of a tenant that may be active: the runs counted by a limit. */
export const placeIndex = (tenant: Tenant): string => `hp:places:${tenant}`;
/** Runs that may need a wake-up: the sweeper checks them. */
export const activeIndex = 'hp:index:active';
/**
 * A sorted set of the runs in `activeIndex`: when the sweeper looks at each run, milliseconds since the epoch; negative: at the next sweep.
 */
export const lookIndex = 'hp:index:looks';
/** A hash by run: the facts found by the last look at a run at rest (`reconcile/idle-facts.ts`). */
export const idleFactsKey = 'hp:index:rest';
/** A hash: how far the sweeper's rounds through long sets are (`handlers/set-slices.ts`). */
export const slicesKey = 'hp:health:rounds';
export const idempotencyKey = (key: string): string => `hp:idempotency:${key}`;
export const workerKey = (workerId: string): string => `hp:worker:${workerId}`;
export const workerIndex = 'hp:index:workers';
/** Pub/sub channel: changes the log level of processes. */
export const logLevelChannel = 'hp:log-level';
/** A hash: how often the sweeper repaired each class of problem. */
export const repairsKey = 'hp:health:repairs';
/** The id of this Redis's installation; the data directory carries the same id. */
export const installationKey = 'hp:installation';
/** The number of the data format, as JSON; the data directory carries the same. */
export const formatKey = 'hp:format';
/** When some periodic work was last done. */
export const healthKey = (name: string): string => `hp:health:${name}`;
/** The process doing some periodic work now. */
export const lockKey = (name: string): string => `hp:lock:${name}`;
/** A counter that only rises; the data directory keeps the counter's last known value. */
export const highWaterKey = 'hp:high-water';

/** The last sequence number with exported spans, of a run. The key expires after a month without events. */
export const telemetryCursorKey = (runId: string): string => `hp:{${runId}}:telemetry`;
/** A hash: since when telemetry is on (`since`), and when telemetry was last on (`at`), milliseconds since the epoch. */
export const telemetryKey = 'hp:telemetry';

/** The last sealed record of the audit log, as JSON, with its place in the files. */
export const auditHeadKey = 'hp:{audit}:head';
/** A hash: the batch of records being written. A writer who finds a batch writes the same bytes to the same place. */
export const auditPendingKey = 'hp:{audit}:pending';
/** A hash: the last sealed sequence number of each run. */
export const auditCursorsKey = 'hp:{audit}:cursors';
/** A list: changes outside of runs, waiting to be sealed. */
export const auditEntriesKey = 'hp:{audit}:entries';
/** Pub/sub channel: announces a change outside of runs. A wake-up only. */
export const auditChannel = 'hp:audit';
/** Exists for 90 days once the entry with this id waits to be sealed or is sealed. */
export const auditedKey = (entryId: string): string => `hp:{audit}:once:${entryId}`;

/** Pub/sub channel: the id of a question to a worker. One worker takes the question. */
export const questionChannel = 'hp:questions';
/** A question, as JSON, until a worker takes it. */
export const questionKey = (id: string): string => `hp:question:${id}`;
/** The answer of a worker, as JSON. */
export const answerKey = (id: string): string => `hp:answer:${id}`;
/** A hash: the last answer of each outside MCP server, by its name. */
export const serverLooksKey = 'hp:mcp:looks';

/**
 * Lists of the runs of a tenant. They share a hash tag, so one script may combine several lists. Each is a sorted set of equal scores:
 * the runs with a given status, the runs waiting or paused for a given reason, and the runs with a given label.
 */
const runLists = (tenant: Tenant): string => `hp:{runs:${tenant}}:`;
export const statusIndexOf = (tenant: Tenant, status: RunStatus): string => `${runLists(tenant)}status:${status}`;
export const reasonIndexOf = (tenant: Tenant, reason: string): string => `${runLists(tenant)}reason:${reason}`;
export const labelIndexOf = (tenant: Tenant, name: string, value: string): string =>
  `${runLists(tenant)}label:${createHash('sha256')
    .update(JSON.stringify([name, value]))
    .digest('base64url')}`;
/** A set: every reason of a run of the tenant, ever. */
export const reasonsKey = (tenant: Tenant): string => `${runLists(tenant)}reasons`;
/** A hash: the sequence number, status and reason of each run at its last listing. */
export const standingsKey = (tenant: Tenant): string => `${runLists(tenant)}standings`;

/** A hash: the folded title of each run. */
export const titlesKey = (tenant: Tenant): string => `${runLists(tenant)}titles`;

/** Lists of the pending approvals of a tenant: by tool, rule, run and label, and in the order of their expiry. */
const approvalLists = (tenant: Tenant): string => `hp:{approvals:${tenant}}:`;
export const approvalFacetIndexOf = (tenant: Tenant, name: string): string => `${approvalLists(tenant)}by:${name}`;
/** A hash by approval: the names of its lists. */
export const approvalFacetsKey = (tenant: Tenant): string => `${approvalLists(tenant)}facets`;

/** Lists of all approvals of a tenant, pending and decided: by status, decider, tool, rule, run and label. */
const historyLists = (tenant: Tenant): string => `hp:{decisions:${tenant}}:`;
export const historyIndexOf = (tenant: Tenant, name: string): string => `${historyLists(tenant)}by:${name}`;
/** A sorted set: when each decided approval was decided, milliseconds since the epoch. */
export const decidedIndexOf = (tenant: Tenant): string => `${historyLists(tenant)}decided`;
/** A hash by approval: the names of the lists that an approval is in, until its end is listed. */
export const historyNamesKey = (tenant: Tenant): string => `${historyLists(tenant)}names`;
