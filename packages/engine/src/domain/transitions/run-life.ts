import type { EventOf, NewEvent } from '../events.ts';
import type { Payload } from '../payload.ts';
import type { RunState } from '../state.ts';
import { openIs, parkedIs, runIs, type Transition, turnIs } from '../transition.ts';
import type { Problem } from '../vocabulary.ts';

type MadeWorkspace = EventOf<'workspace.materialised'>['data'];

/** The workspace is there: the run begins. */
export const startRun = (made: MadeWorkspace): Transition => ({
  if: [runIs('queued')],
  events: [
    { type: 'workspace.materialised', data: made },
    { type: 'run.started', data: {} },
  ],
});

/** How far the copy of a source is. */
export const recordProgress = (progress: { files: number; bytes: number }): Transition => ({
  if: [runIs('queued')],
  events: [{ type: 'workspace.progress', data: progress }],
});

/** A planner's last word is a turn without steps, with the answer it gave. */
interface LastWord {
  message: string;
  answer?: Payload;
}

/** The planner is done, with every step settled. */
export const succeedRun = (run: RunState, word: LastWord): Transition => ({
  if: [runIs('running'), turnIs(run.turn), openIs(0)],
  events: [...lastTurn(run, word), { type: 'run.succeeded', data: { message: word.message } }],
});

export const failRun = (run: RunState, reason: Problem, word: LastWord): Transition => ({
  if: [runIs('running'), turnIs(run.turn), openIs(0)],
  events: [...lastTurn(run, word), { type: 'run.failed', data: { reason } }],
});

function lastTurn(run: RunState, { message, answer }: LastWord): NewEvent[] {
  if (answer === undefined) return [];
  return [{ type: 'turn.planned', data: { turn: run.turn + 1, steps: [], message, answer } }];
}

/** The run stops where it is, and can be resumed. Approvals stay open; decisions are kept. */
export const pauseRun = (reason: Problem): Transition => ({
  if: [runIs('queued', 'running', 'waiting')],
  events: [{ type: 'run.paused', data: { reason } }],
});

/** A person stops the run. What runs settles; nothing new starts. */
export const pauseByHand = (by: string): Transition =>
  pauseRun({
    code: 'paused_by_hand',
    message: `${by} paused the run.`,
    next: 'Resume it, undo its last steps, or cancel it.',
  });

/** A run goes on from where it was paused: before its start, among open approvals, or in the middle of its work. */
export const resumeRun = (run: RunState): Transition => ({
  if: [runIs('paused'), parkedIs(run.parked)],
  events: [{ type: 'run.resumed', data: { after: 'pause', status: resumedStatus(run), turn: run.turn } }],
});

function resumedStatus(run: RunState): 'queued' | 'waiting' | 'running' {
  if (run.started_at === undefined) return 'queued';
  return run.parked > 0 ? 'waiting' : 'running';
}

export const cancelRun = (by: string, message?: string): Transition => ({
  if: [runIs('queued', 'running', 'waiting', 'paused')],
  events: [{ type: 'run.canceling', data: { by, ...(message === undefined ? {} : { message }) } }],
});

/** Nothing of the run is left that could run. */
export const finishCancel = (): Transition => ({
  if: [runIs('canceling'), openIs(0)],
  events: [{ type: 'run.canceled', data: {} }],
});
