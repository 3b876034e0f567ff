import type { EventOf, RefusedCalls, RunSpec } from '@holdpoint/contract';
import { describeCall } from '../approvals/describe-call.ts';
import { judgeDescribed } from '../approvals/judge-described.ts';
import type { EngineDeps } from '../deps.ts';
import { EngineError, type RunState, type StepState, type TurnStep } from '../domain/index.ts';
import { fromPayload, readWholeLog } from '../log/index.ts';

/** The planner's decision of a turn, with the arguments of every step before any edit. */
export interface RecordedTurn {
  message: string;
  answer?: EventOf<'turn.planned'>['data']['answer'];
  refused?: RefusedCalls;
  steps: Map<string, EventOf<'step.created'>['data']>;
}

/** Reads a turn from the log. When the turn was planned again after an undo, the last plan counts. */
export async function readTurn(deps: Pick<EngineDeps, 'redis'>, runId: string, number: number): Promise<RecordedTurn> {
  let found: RecordedTurn | undefined;
  for await (const event of readWholeLog(deps.redis, runId)) {
    if (event.type === 'turn.planned' && event.data.turn === number) {
      const { message, answer, refused } = event.data;
      found = { message, answer, refused, steps: new Map() };
    } else if (event.type === 'step.created' && event.data.turn === number) {
      found?.steps.set(event.step_id, event.data);
    }
  }
  if (!found) throw new EngineError('step_not_found', `the run ${runId} has no turn ${number}`);
  return found;
}

/** The run in which a call is planned again. */
interface Planning {
  spec: RunSpec;
  run: Pick<RunState, 'parent'>;
}

/**
 * The same call as a new step, judged by the current policies. A call that was refused when it was planned is refused again without
 * running.
 */
export async function planAgain(
  deps: EngineDeps,
  step: StepState,
  turn: RecordedTurn | undefined,
  planning: Planning,
): Promise<TurnStep & { index: number }> {
  const call = recordedCall(deps, step, turn);
  return call.error === undefined ? { ...call, ...(await judgedNow(deps, call, planning)) } : call;
}

/** The same call as a new step, with its recorded verdict. */
export function recordedCall(
  deps: Pick<EngineDeps, 'newId'>,
  step: StepState,
  turn: RecordedTurn | undefined,
): TurnStep & { index: number } {
  const recorded = turn?.steps.get(step.id);
  if (!recorded) throw new EngineError('step_not_found', `the log does not say how ${step.id} was planned`);
  const { turn: _, ...call } = recorded;
  const wasWrong =
    step.status === 'failed' && step.outcome?.attempt === null && step.outcome.inherited_from === undefined;
  const error = wasWrong ? step.outcome?.error : undefined;
  return { id: deps.newId('step'), ...call, error };
}

async function judgedNow(
  deps: EngineDeps,
  { tool, args, written }: Pick<TurnStep, 'tool' | 'args' | 'written'>,
  { spec, run }: Planning,
): Promise<Pick<TurnStep, 'verdict' | 'policies' | 'planning'>> {
  const given = await fromPayload(deps.blobs, written ?? args);
  const described = describeCall(deps, spec, { run, tool, args: given });
  // A tool that is gone: the run pauses for the change of its tools before the call starts.
  if (!described.ok) return {};
  return {
    ...judgeDescribed(deps, spec, { tool, args: given, described }),
    ...(spec.modes.plan && { planning: true }),
  };
}
