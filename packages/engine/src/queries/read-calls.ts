import type { PostedCall } from '@holdpoint/contract';
import type { EngineDeps } from '../deps.ts';
import { EngineError, type StepState } from '../domain/index.ts';
import { fromPayload, readReceived, readRun, readSteps } from '../log/index.ts';

/** A call that its run received, and that has no step yet. */
export interface WaitingCall {
  id: string;
  index: number;
  call: PostedCall;
  received_at: string;
  /** The run was canceled before it made the call. */
  isDropped: boolean;
}

/** @throws EngineError `run_not_found`, `calls_not_found` */
export async function readCalls(
  deps: Pick<EngineDeps, 'redis' | 'blobs'>,
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
  const calls = await fromPayload(deps.blobs, received.calls);
  const isDropped = number <= run.taken;
  const waiting = calls.map((call, index) => {
    return { id: received.steps[index] ?? '', index, call, received_at: received.at, isDropped };
  });
  return { steps, waiting };
}
