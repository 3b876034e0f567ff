import { createHash } from 'node:crypto';
import type { RunStatus, Tenant } from '@holdpoint/contract';
import { defaultTenant } from '@holdpoint/contract/names';

/** Redis keys. All keys of one run share its hash tag, so that one script may touch them all, on a cluster too. */
export const stateKey = (runId: string): string => `hp:{${runId}}:state`;
export const logKey = (runId: string): string => `hp:{${runId}}:log`;
/** Pub/sub channel on which each append announces its last sequence number. A wake-up only: readers read the log. */
export const notificationChannel = (runId: string): string => `hp:{${runId}}:notifications`;
export const notificationPattern = 'hp:{run_*}:notifications';
/** The run of a key or channel. */
export const runOfKey = (key: string): string => key.slice('hp:{'.length, key.indexOf('}'));
/** Pub/sub channels of what is streamed while it is made: the pieces of one run, and the requests of readers for them. */
export const liveChannel = (runId: string): string => `hp:{${runId}}:live`;
export const liveJoinChannel = 'hp:live';
/** Pub/sub channel that announces cancellations to workers. A wake-up only: the run's state is the truth. */
export const controlChannel = 'hp:control';

/** Which run a step or an approval belongs to. */
export const ownerKey = (id: string): string => `hp:owner:${id}`;
/** Sorted sets of equal scores: ids sort by the time they were made. These two are of the tenant `default`. */
export const runIndex = 'hp:index:runs';
export const approvalIndex = 'hp:index:approvals';
export const runIndexOf = (tenant: Tenant): string => indexOf(runIndex, tenant);
export const approvalIndexOf = (tenant: Tenant): string => indexOf(approvalIndex, tenant);
/** A sorted set of digests of calls, each with the id of a remembered rule about the call. */
export const ruleIndexOf = (tenant: Tenant): string => `hp:index:rules:${tenant}`;
const indexOf = (index: string, tenant: Tenant): string => (tenant === defaultTenant ? index : `${index}:${tenant}`);
/** A sorted set: when the sweep has to remind of an approval or to escalate it. */
export const noticeIndex = 'hp:index:notices';
/** The other tenants that have ever had a run. */
export const tenantIndex = 'hp:index:tenants';
/** The runs of a tenant that may be active: those that a limit counts. */
export const placeIndex = (tenant: Tenant): string => `hp:places:${tenant}`;
/** Runs that may need a wake-up: the sweeper checks them. */
export const activeIndex = 'hp:index:active';
/** A sorted set of those runs: when the sweeper looks at each of them, milliseconds since the epoch; negative: at its next sweep. */
export const lookIndex = 'hp:index:looks';
/** A hash by run: what the last look at a run at rest found (`reconcile/idle-facts.ts`). */
export const idleFactsKey = 'hp:index:rest';
/** A hash: how far the sweeper's rounds through long sets are (`handlers/set-slices.ts`). */
export const slicesKey = 'hp:health:rounds';
export const idempotencyKey = (key: string): string => `hp:idempotency:${key}`;
export const workerKey = (workerId: string): string => `hp:worker:${workerId}`;
export const workerIndex = 'hp:index:workers';
/** Pub/sub channel that changes what processes log. */
export const logLevelChannel = 'hp:log-level';
/** A hash: how often the sweeper repaired each class of problem. */
export const repairsKey = 'hp:health:repairs';
/** The id of the installation that this Redis belongs to; the data directory carries the same. */
export const installationKey = 'hp:installation';
/** The number of the data format, as JSON; the data directory carries the same. */
export const formatKey = 'hp:format';
/** When some periodic work was last done. */
export const healthKey = (name: string): string => `hp:health:${name}`;
/** Which process does some periodic work now. */
export const lockKey = (name: string): string => `hp:lock:${name}`;
/** Written to check that Redis accepts writes. */
export const writeProbeKey = 'hp:health:write';
/** A counter that only rises; the data directory keeps its last known value. */
export const highWaterKey = 'hp:high-water';

/** The last sequence number of a run whose spans are exported. It is dropped when nothing happens for a month. */
export const telemetryCursorKey = (runId: string): string => `hp:{${runId}}:telemetry`;
/** A hash: since when telemetry is on (`since`), and when it last was (`at`), milliseconds since the epoch. */
export const telemetryKey = 'hp:telemetry';

/** The last sealed record of the audit log, as JSON, with its place in the files. */
export const auditHeadKey = 'hp:{audit}:head';
/** A hash: the batch of records that is being written. A writer that finds it writes the same bytes to the same place. */
export const auditPendingKey = 'hp:{audit}:pending';
/** A hash: the last sealed sequence number of each run. */
export const auditCursorsKey = 'hp:{audit}:cursors';
/** A list: changes outside of runs that wait to be sealed. */
export const auditEntriesKey = 'hp:{audit}:entries';
/** Pub/sub channel that announces such a change. A wake-up only. */
export const auditChannel = 'hp:audit';

/**
 * Lists of the runs of a tenant. They share a hash tag, so that one script may put several of them together. Each is a sorted set of equal
 * scores: the runs that have a status, those that wait or are paused for a reason, and those with a label.
 */
const runLists = (tenant: Tenant): string => `hp:{runs:${tenant}}:`;
export const statusIndexOf = (tenant: Tenant, status: RunStatus): string => `${runLists(tenant)}status:${status}`;
export const reasonIndexOf = (tenant: Tenant, reason: string): string => `${runLists(tenant)}reason:${reason}`;
export const labelIndexOf = (tenant: Tenant, name: string, value: string): string =>
  `${runLists(tenant)}label:${createHash('sha256')
    .update(JSON.stringify([name, value]))
    .digest('base64url')}`;
/** A set: every reason that a run of the tenant ever had. */
export const reasonsKey = (tenant: Tenant): string => `${runLists(tenant)}reasons`;
/** A hash: sequence number, status and reason by which each run was last listed. */
export const standingsKey = (tenant: Tenant): string => `${runLists(tenant)}standings`;

/** Lists of the pending approvals of a tenant: by tool, rule, run and label, and in the order in which they expire. */
const approvalLists = (tenant: Tenant): string => `hp:{approvals:${tenant}}:`;
export const approvalFacetIndexOf = (tenant: Tenant, name: string): string => `${approvalLists(tenant)}by:${name}`;
/** A hash: which of those lists have an approval. */
export const approvalFacetsKey = (tenant: Tenant): string => `${approvalLists(tenant)}facets`;
