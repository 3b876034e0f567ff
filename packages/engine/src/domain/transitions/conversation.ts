import type { EventOf, ModelRetrying, Problem } from '@holdpoint/contract';
import { fieldIs, openIs, type RunState, runField, runIs, seqIs, type Transition, turnIs } from '../model.ts';
import { type PlannerOutput, planTurn } from './run-life.ts';

const betweenTurns = (run: RunState) => [runIs('running'), turnIs(run.turn), openIs(0)];

/**
 * The instructions of the model. Nothing else may have been recorded in the meantime: a second worker would replace the instructions of a
 * conversation under way. Making them again costs no tokens.
 */
export const instruct = (run: RunState, data: EventOf<'context.instructed'>['data']): Transition => ({
  if: [...betweenTurns(run), seqIs(run.seq)],
  events: [{ type: 'context.instructed', data }],
});

/** Records a message of Holdpoint to the model, before the next turn: once, even by two workers. */
export const notify = (run: RunState, data: EventOf<'context.notified'>['data']): Transition => ({
  if: [...betweenTurns(run), notifiedIs(run.notified)],
  events: [{ type: 'context.notified', data }],
});

/** Refused when a notice was recorded since the caller read the run. */
export const noNoticeSince = (run: RunState, transition: Transition): Transition => ({
  ...transition,
  if: [...transition.if, notifiedIs(run.notified)],
});

const notifiedIs = (count: number) => fieldIs(runField.notified, count);

/** Records the replacement of older turns in later requests: once, even by two workers. */
export const compact = (run: RunState, data: EventOf<'context.compacted'>['data']): Transition => ({
  if: [...betweenTurns(run), fieldIs(runField.compactions, run.compactions)],
  events: [{ type: 'context.compacted', data }],
});

/**
 * Counts the tokens of a request whose answer no turn has. The provider bills each request, so the count has no condition: the run may be
 * paused or over by now, and two workers may both have asked.
 */
export const countUnanswered = (data: EventOf<'model.used'>['data']): Transition => ({
  if: [],
  events: [{ type: 'model.used', data }],
});

/**
 * A model could not be asked. The run waits until the next try, and its clock stands still. The wait lasts during the try: an answer ends
 * the wait (`afterModelWait`).
 */
export function waitForModel(run: RunState, data: ModelRetrying, now: number): Transition {
  const begins = run.status === 'running' && Date.parse(data.until) > now;
  return {
    if: [runIs(run.status), turnIs(run.turn), openIs(0)],
    events: [
      { type: 'model.retrying', data },
      ...(begins ? [{ type: 'run.waiting', data: { for: 'model' } } as const] : []),
    ],
  };
}

/** Between turns no approval is open and no step waits for a sub-agent. */
export const isWaitingForModel = (run: Pick<RunState, 'status' | 'model_wait' | 'open'>): boolean =>
  run.status === 'waiting' && run.model_wait !== undefined && run.open === 0;

/** The same transition for a run after a wait for a model. */
export function afterModelWait(run: RunState, transition: Transition): Transition {
  const others = transition.if.filter(({ field }) => field !== runField.status.name);
  const needsRunning = transition.if.some(({ field, is }) => field === runField.status.name && is.includes('running'));
  if (!isWaitingForModel(run) || !needsRunning) return transition;
  const data = { after: 'model', status: 'running', turn: run.turn } as const;
  return {
    ...transition,
    if: [runIs('waiting'), ...others],
    events: [{ type: 'run.resumed', data }, ...transition.events],
  };
}

/** A person has the model asked now. */
export const askModelNow = (run: RunState, { by, model }: { by: string; model?: string | undefined }): Transition => ({
  if: [runIs('waiting'), fieldIs(runField.model_wait, run.model_wait), turnIs(run.turn)],
  events: [{ type: 'run.resumed', data: { after: 'model', status: 'running', turn: run.turn, by, model } }],
});

/** Records a turn without steps, and pauses: only a person can say how to continue. */
export function pauseAfterTurn(run: RunState, reason: Problem, output: PlannerOutput): Transition {
  const turn = planTurn(run, { ...output, steps: [] });
  return { ...turn, events: [...turn.events, { type: 'run.paused', data: { reason, from: 'running' } }] };
}
