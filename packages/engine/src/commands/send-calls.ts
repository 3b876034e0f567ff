import { createHash } from 'node:crypto';
import { canonicalJson, mostPostedTurns, type PostedCall } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import * as domain from '../domain/index.ts';
import { append, checkTries, claimOwner, readCallsKey, readSpec, toPayload } from '../log/index.ts';
import { plannerInput, planReceived, type Received } from '../planning/index.ts';
import { assertActive, getOpenRun } from './steer-run.ts';
import type { Idempotency } from './submit-run.ts';
import { wakeRun } from './submit-run.ts';

interface Calls {
  calls: readonly PostedCall[];
  /** Calls run side by side when their tools support it. */
  concurrent?: boolean | undefined;
  by: string;
  /** Kept as long as the run. */
  idempotency?: Idempotency | undefined;
}

/**
 * Gives an open run the calls of its next turn. When the function returns, the calls are in the log. They are made once the calls before
 * them are settled, even when processes die later.
 * @returns the number of the request, from 1; a repeated key and body return the first number
 * @throws EngineError `run_not_found`, `run_not_open`, `run_not_active`, `too_many_calls`, `idempotency_key_reused`
 */
export async function sendCalls(deps: EngineDeps, runId: string, request: Calls): Promise<number> {
  const { idempotency } = request;
  const key = idempotency && digest(idempotency.key);
  const body = idempotency && digest(canonicalJson(idempotency.body));
  for (let tries = 0; ; tries++) {
    checkTries(runId, tries);
    const run = await getOpenRun(deps, runId);
    const known = key === undefined ? undefined : await readCallsKey(deps.redis, runId, key);
    if (known !== undefined) {
      if (known.request !== body) {
        throw new domain.EngineError(
          'idempotency_key_reused',
          'this Idempotency-Key was used for other calls of the run',
        );
      }
      return known.number;
    }
    assertReceives(run);
    const number = run.received + 1;
    const steps = request.calls.map(() => deps.newId('step'));
    await claimOwner(deps.redis, run.id, steps);
    const concurrent = request.concurrent || undefined;
    const received = { number, key, request: body, by: request.by, steps, concurrent, calls: request.calls };
    const recorded = run.awaits_calls === undefined ? record(deps, run, received) : begin(deps, run, received);
    if (await recorded) return number;
  }
}

function assertReceives(run: domain.RunState): void {
  assertActive(run);
  if (run.received - run.taken < mostPostedTurns) return;
  throw new domain.EngineError('too_many_calls', `${mostPostedTurns} turns of calls wait in the run ${run.id}`);
}

type New = Omit<domain.ReceivedCalls, 'calls'> & Pick<Received, 'calls'>;

const stored = async ({ blobs }: EngineDeps, received: New): Promise<domain.ReceivedCalls> => ({
  ...received,
  calls: await toPayload<PostedCall[]>(blobs, [...received.calls]),
});

/** The calls wait for those before them. @returns false when another writer changed the run */
async function record(deps: EngineDeps, run: domain.RunState, received: New): Promise<boolean> {
  const appended = await append(deps, run.id, domain.receiveCalls(run, await stored(deps, received)));
  if (appended.ok && run.status === 'running' && run.open === 0) await wakeRun(deps, run, run.turn + 1);
  return appended.ok;
}

/** The run waits for calls: one append records the calls with their turn, so only the steps need jobs. */
async function begin(deps: EngineDeps, run: domain.RunState, { calls, ...received }: New): Promise<boolean> {
  const spec = await readSpec(deps, run);
  const then = domain.resumedByCalls(run, received, deps.now());
  const planned = await planReceived(deps, then, spec, plannerInput(deps, then, spec), { ...received, calls });
  const { transition: next, begin: begun, steps, waits } = planned;
  // A limit pauses the run: the calls wait for its resume.
  const isPaused = steps.length === 0;
  const isOver = !isPaused && begun.length === 0 && waits === undefined;
  const recorded = isPaused ? await stored(deps, { ...received, calls }) : received;
  const appended = await append(deps, run.id, domain.receiveAndPlan(run, recorded, { next, isOver }));
  if (!appended.ok) return false;
  // The job of a waiting call opens the call's gate.
  const woken = planned.nothingElsePending || waits === undefined ? begun : [...new Set([...begun, waits])];
  await Promise.all(woken.map((id) => deps.queues.addStep(run, id))).catch((error: unknown) => {
    deps.logger.warn({ run_id: run.id, err: error }, 'the wake-up was not sent; the sweeper will');
  });
  return true;
}

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');
