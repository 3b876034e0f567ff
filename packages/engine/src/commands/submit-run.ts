import { createHash } from 'node:crypto';
import { toPayload } from '../blobs/blob-store.ts';
import type { EngineDeps } from '../deps.ts';
import { canonicalJson } from '../domain/digest.ts';
import type { RunSpec } from '../domain/run-spec.ts';
import { createRun } from '../domain/transitions/create-run.ts';
import { EngineError } from '../errors.ts';
import { append } from '../log/append.ts';
import { trackRun } from '../log/indexes.ts';
import { idempotencyKey } from '../log/keys.ts';

const idempotencyWindow = 24 * 3600;

/**
 * Accepts a run. When this returns, the run is in the log and will be worked on, whatever dies next.
 * @param request.key an Idempotency-Key: the same key and spec again → the first run, for 24 hours.
 * @throws EngineError `idempotency_key_reused`
 */
export async function submitRun(
  deps: EngineDeps,
  request: { spec: RunSpec; by: string; key?: string },
): Promise<{ runId: string; created: boolean }> {
  const runId = await reserveId(deps, request);
  const stored = await toPayload(deps.blobs, request.spec);
  await trackRun(deps.redis, runId);
  const appended = await append(deps, runId, createRun(request.spec, stored, request.by));
  if (appended.ok) await wake(deps, runId);
  return { runId, created: appended.ok };
}

/** The key's run id is chosen before the run exists, so that a client whose answer was lost meets the same run again. */
async function reserveId(deps: EngineDeps, request: { spec: RunSpec; by: string; key?: string }): Promise<string> {
  const fresh = deps.newId('run');
  if (request.key === undefined) return fresh;
  const body = createHash('sha256').update(canonicalJson(request.spec)).digest('hex');
  const key = idempotencyKey(createHash('sha256').update(`${request.by}\n${request.key}`).digest('hex'));
  const stored = (await deps.redis.set(key, `${body} ${fresh}`, 'EX', idempotencyWindow, 'NX'))
    ? `${body} ${fresh}`
    : await deps.redis.get(key);
  const [knownBody, runId] = (stored ?? `${body} ${fresh}`).split(' ');
  if (knownBody !== body || runId === undefined) {
    throw new EngineError('idempotency_key_reused', 'this Idempotency-Key was used for another request');
  }
  return runId;
}

/** A lost wake-up only costs time: the sweeper finds the run. */
async function wake(deps: EngineDeps, runId: string): Promise<void> {
  await deps.queues.addTurn(runId, 1).catch((error: unknown) => {
    deps.logger.warn({ run_id: runId, err: error }, 'the wake-up was not sent; the sweeper will');
  });
}
