import { mostPostedTurns, type PostedCall } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError, type RunState, type StepState } from '../domain/index.ts';
import { type CallCancel, fromPayload, readCallCancels, readReceived, readRun, readSteps } from '../log/index.ts';

/** A received call that has no step yet. */
export interface WaitingCall {
  id: string;
  index: number;
  call: PostedCall;
  received_at: string;
  /** The run was canceled before it made the call. */
  isDropped: boolean;
  /** A caller canceled only this call: the run does not make the call. */
  cancel?: CallCancel | undefined;
}

type Deps = Pick<EngineDeps, 'redis' | 'blobs'>;

/** @throws EngineError `run_not_found`, `calls_not_found` */
export async function readCalls(
  deps: Deps,
  runId: string,
  number: number,
): Promise<{ steps: StepState[]; waiting: WaitingCall[] }> {
  const run = await readRun(deps.redis, runId);
  if (!run) throw new EngineError('run_not_found', `there is no run ${runId}`);
  const received = await readReceived(deps.redis, runId, number);
  if (!received)
    throw new EngineError('calls_not_found', `the run ${runId} received no calls with the number ${number}`);
  const steps = await readSteps(deps.redis, runId, received.steps);
  if (steps.length > 0 || received.calls === undefined) return { steps, waiting: [] };
  return { steps, waiting: await waitingCalls(deps, run, number, received) };
}

/** A call that waits for its turn; undefined when the run has no such call, or its turn began. */
export async function findWaiting(deps: Deps, run: RunState, stepId: string): Promise<WaitingCall | undefined> {
  const isBegun = (await readSteps(deps.redis, run.id, [stepId])).length > 0;
  if (isBegun) return undefined;
  const oldest = Math.max(1, run.received - mostPostedTurns);
  for (let number = run.received; number >= oldest; number--) {
    const received = await readReceived(deps.redis, run.id, number);
    if (!received?.steps.includes(stepId)) continue;
    return (await waitingCalls(deps, run, number, received)).find(({ id }) => id === stepId);
  }
  return undefined;
}

async function waitingCalls(
  { redis, blobs }: Deps,
  run: RunState,
  number: number,
  { steps, calls, at: received_at }: NonNullable<Awaited<ReturnType<typeof readReceived>>>,
): Promise<WaitingCall[]> {
  if (calls === undefined) return [];
  const isDropped = number <= run.taken;
  const cancels = await readCallCancels(redis, run.id, steps);
  return (await fromPayload(blobs, calls)).map((call, index) => {
    const id = steps[index] ?? '';
    return { id, index, call, received_at, isDropped, cancel: cancels.get(id) };
  });
}
