import { createHash } from 'node:crypto';
import * as contract from '@holdpoint/contract';
import { refusedCommand } from '../approvals/judge-described.ts';
import type { EngineDeps } from '../deps.ts';
import { boundBy, createRun, EngineError, isAbandoned, withOpenHosts } from '../domain/index.ts';
import { append, idempotencyKey, readRun, toPayload, trackRun } from '../log/index.ts';
import type { JobOwner } from '../queues/queues.ts';
import { reservePlace } from './reserve-place.ts';

const idempotencyWindow = 24 * 3600;

/** Makes it safe to repeat a submission: for 24 hours the same key and body return the first run. */
export interface Idempotency {
  key: string;
  /** The request as sent. Its JSON value counts, not the order of its keys. */
  body: unknown;
}

export interface Submission {
  spec: contract.RunSpec;
  by: string;
  kind?: contract.CallerKind;
  /** @default the tenant `default` */
  tenant?: contract.Tenant;
  idempotency?: Idempotency | undefined;
  /** The run continues this trace. */
  trace?: contract.TraceContext | undefined;
  /** An id that was chosen before, in the place of an idempotency key: the same id makes one run. */
  runId?: string | undefined;
}

/**
 * The run that an earlier request with this key made. Call this before checking the request: data behind the request may be gone by now.
 * @throws EngineError `idempotency_key_reused`
 */
export async function findSubmitted(
  deps: Pick<EngineDeps, 'redis'>,
  request: { tenant?: contract.Tenant; idempotency: Idempotency },
): Promise<string | undefined> {
  const runId = readReserved(request.idempotency, await deps.redis.get(keyOf(request)));
  return runId !== undefined && (await readRun(deps.redis, runId)) ? runId : undefined;
}

/**
 * Accepts a run. When the call returns, the run is in the log and will be worked on, even when processes die later.
 * @throws EngineError `idempotency_key_reused`, `prepare_refused`
 */
export async function submitRun(
  deps: EngineDeps,
  submission: Submission,
): Promise<{ runId: string; created: boolean }> {
  const { by, kind, tenant, idempotency, trace } = submission;
  const given = withToolset(deps.catalog, submission.spec);
  const asked = { ...given, submitted_by: kind && { name: by, kind }, ...boundBy(deps.operatorPolicy?.()) };
  const spec = withOpenHosts(asked);
  const refused = refusedCommand(deps, spec);
  if (refused !== undefined) throw new EngineError('prepare_refused', refused.message);
  const runId = submission.runId ?? (await reserveRun(deps, { tenant, idempotency }));
  const stored = await toPayload(deps.blobs, spec);
  await reservePlace(deps, runId, { tenant, by });
  await trackRun(deps.redis, runId, tenant);
  const tools = deps.catalog.versions(spec.toolset);
  const appended = await append(deps, runId, createRun(spec, { stored, by, tenant, tools, trace }));
  // For an id that was chosen long before, a sweep may have taken the entry of the index for one of a dead writer.
  if (appended.ok && isAbandoned(runId, deps.now())) await trackRun(deps.redis, runId, tenant);
  if (appended.ok) await wakeRun(deps, { id: runId }, 1, { isNew: true });
  return { runId, created: appended.ok };
}

/** The id of a future run. A key's run id is chosen before the run exists, so a client that lost the answer gets the same run again. */
export async function reserveRun(
  deps: EngineDeps,
  { tenant, idempotency }: { tenant?: contract.Tenant | undefined; idempotency: Idempotency | undefined },
): Promise<string> {
  const fresh = deps.newId('run');
  if (idempotency === undefined) return fresh;
  const entry = `${digest(contract.canonicalJson(idempotency.body))} ${fresh}`;
  const key = keyOf({ tenant, idempotency });
  if (await deps.redis.set(key, entry, 'EX', idempotencyWindow, 'NX')) return fresh;
  return readReserved(idempotency, await deps.redis.get(key)) ?? fresh;
}

function readReserved({ body }: Idempotency, entry: string | null): string | undefined {
  if (entry === null) return undefined;
  const [known, runId] = entry.split(' ');
  if (known === digest(contract.canonicalJson(body))) return runId;
  throw new EngineError('idempotency_key_reused', 'this Idempotency-Key was used for another request');
}

const keyOf = ({ tenant, idempotency }: { tenant?: contract.Tenant | undefined; idempotency: Idempotency }): string =>
  idempotencyKey(digest(`${idempotencySpace(tenant)}\n${idempotency.key}`));

/**
 * Idempotency keys belong to a tenant. The key space of the default tenant kept its name from before tenants; no tenant can have this name.
 */
export const idempotencySpace = (tenant: contract.Tenant = contract.defaultTenant): string =>
  tenant === contract.defaultTenant ? 'the operator' : tenant;

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A lost wake-up only costs time: the sweeper finds the run. */
export async function wakeRun(
  { queues, logger }: Pick<EngineDeps, 'queues' | 'logger'>,
  run: JobOwner,
  turn: number,
  { isNew = false } = {},
): Promise<void> {
  await (isNew ? queues.addTurn(run, turn) : queues.wakeTurn(run, turn)).catch((error: unknown) => {
    logger.warn({ run_id: run.id, err: error }, 'the wake-up was not sent; the sweeper will');
  });
}

/**
 * The spec completed by its toolset: the defaults of settings, the toolset's permissions when the run names none, and the toolset's
 * protected paths.
 * @throws TypeError when the settings are wrong: the caller has to check them before
 */
function withToolset(catalog: EngineDeps['catalog'], spec: contract.RunSpec): contract.RunSpec {
  const checked = catalog.checkSettings(spec.toolset, spec.settings);
  if (!checked.ok) {
    const mistakes = checked.errors.map(({ pointer, detail }) => `/settings${pointer}: ${detail}`);
    throw new TypeError(`the settings cannot be used: ${mistakes.join('; ')}`);
  }
  const { permissions, protected: paths } = catalog.grants(spec.toolset);
  return {
    ...spec,
    settings: checked.settings,
    permissions: spec.permissions ?? (permissions && [...permissions]),
    protected: [...new Set([...spec.protected, ...paths])],
  };
}
