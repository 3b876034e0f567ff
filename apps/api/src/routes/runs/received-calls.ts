import { isSettled, type Payload } from '@holdpoint/contract';
import type { ReceivedCalls } from '@holdpoint/contract/wire';
import type { RunState, StepState, WaitingCall } from '@holdpoint/engine';
import type { ApiDeps } from '../../deps.ts';
import { readStepDetail, toStepDetail, toWaitingStep } from '../steps/step-view.ts';
import { findRun } from './find-run.ts';

/** Calls received together by an open run: the calls of its turn, or calls in wait for their turn. */
interface Received {
  steps: readonly StepState[];
  waiting: readonly WaitingCall[];
}

export const areSettled = ({ steps, waiting }: Received): boolean =>
  steps.every(({ status }) => isSettled(status)) &&
  waiting.every(({ isDropped, cancel }) => isDropped || cancel !== undefined);

const mostBytes = 64 * 1024 * 1024;

/** The answer about calls, with as many arguments and results as fit. @param most bytes */
export async function showReceived(
  deps: Pick<ApiDeps, 'engine' | 'catalog'>,
  { runId, number, received }: { runId: string; number: number; received: Received },
  most = mostBytes,
): Promise<ReceivedCalls> {
  const { steps, waiting } = received;
  const run = await findRun(deps, runId);
  const shown = [
    ...(await readSteps(deps, run, steps, most)),
    ...waiting.map((call) => ({ ...toWaitingStep(deps, run, call), left_out: false })),
  ];
  return { number, turn: steps[0]?.call.turn ?? null, settled: areSettled(received), steps: shown };
}

async function readSteps(
  deps: Pick<ApiDeps, 'engine'>,
  run: RunState,
  steps: readonly StepState[],
  most: number,
): Promise<ReceivedCalls['steps']> {
  let bytes = 0;
  return Promise.all(
    steps.map(async (step, at) => {
      bytes += bytesOf(step.args) + bytesOf(step.outcome?.value);
      if (at === 0 || bytes <= most) return { ...(await readStepDetail(deps, run, step)), left_out: false };
      return { ...toStepDetail(run.id, step, null, null), left_out: true };
    }),
  );
}

/** A payload inside the log is small. */
const bytesOf = (payload: Payload | undefined): number => (payload && 'bytes' in payload ? payload.bytes : 0);
