import type { EventOf, NewEvent, Problem } from '@holdpoint/contract';
import { runField } from '../fields.ts';
import { usageOf } from '../limits-reached.ts';
import type { RunState } from '../state.ts';
import { type Condition, openIs, parkedIs, runIs, type Transition, turnIs } from '../transition.ts';
import type { PlannerOutput } from './plan-turn.ts';
import { noOpenTasks } from './tasks.ts';

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

/** The planner is done, with every step settled. A message that a model has not read keeps the run going. */
export const endRun = (run: RunState, end: RunEnd, output: PlannerOutput): Transition => ({
  if: [runIs('running'), turnIs(run.turn), openIs(0), noOpenTasks, ...allRead(run, output)],
  events: [...lastTurn(run, output), ending(end)],
});

/** The same while tasks are running: they are ended first. */
export const closeRun = (run: RunState, end: RunEnd, output: PlannerOutput): Transition => ({
  if: [runIs('running'), turnIs(run.turn), openIs(0), ...allRead(run, output)],
  events: [...lastTurn(run, output), { type: 'run.closing', data: end }],
});

/** The last of them is over. */
export const finishClosing = (run: RunState, end: RunEnd): Transition => ({
  if: [runIs('running'), turnIs(run.turn), openIs(0), noOpenTasks],
  events: [ending(end)],
});

export interface RunEnd {
  as: 'succeeded' | 'failed';
  message: string;
  reason?: Problem;
}

function ending({ as, message, reason }: RunEnd): NewEvent {
  if (as === 'succeeded') return { type: 'run.succeeded', data: { message } };
  return { type: 'run.failed', data: { reason: reason ?? { code: 'EFAILED', message } } };
}

/** A plan reads no messages; a model's answer says how many it had read. */
function allRead(run: RunState, { answer }: PlannerOutput): Condition[] {
  if (answer === undefined) return [];
  return [{ field: runField.messages, is: run.messages === 0 ? ['', '0'] : [String(run.messages)] }];
}

/** A model's last output is a turn without steps, with the answer it gave. */
function lastTurn(run: RunState, output: PlannerOutput): NewEvent[] {
  if (output.answer === undefined) return [];
  return [{ type: 'turn.planned', data: { turn: run.turn + 1, steps: [], ...output } }];
}

/** The run stops where it is, and can be resumed. Approvals stay open; decisions are kept. */
export const pauseRun = (run: RunState, reason: Problem): Transition => ({
  if: [runIs(run.status)],
  events: [{ type: 'run.paused', data: { reason, from: run.status } }],
});

/** A person stops the run. What runs settles; nothing new starts. */
export const pauseByHand = (run: RunState, by: string): Transition =>
  pauseRun(run, {
    code: 'paused_by_hand',
    message: `${by} paused the run.`,
    next: 'Resume it, undo its last steps, or cancel it.',
  });

/** A run goes on from where it was paused: before its start, among open approvals, or in the middle of its work. Limits count from here. */
export const resumeRun = (
  run: RunState,
  { by, tools }: { by: string; tools?: Record<string, string> },
): Transition => ({
  if: [runIs('paused'), parkedIs(run.parked)],
  events: [resumed(run, 'pause', { by, tools })],
});

export function resumed(
  run: RunState,
  after: 'pause' | 'end',
  { by, tools }: { by: string; tools?: Record<string, string> | undefined },
): NewEvent {
  const data = { after, status: resumedStatus(run), turn: run.turn, used: usageOf(run, notRunning), by };
  return { type: 'run.resumed', data: { ...data, ...(tools === undefined ? {} : { tools }) } };
}

/** The clock of a run that is not running stands. */
const notRunning = 0;

/** Limits of a run that is not paused itself, and holds up sub-agents, count from here. */
export const extendRun = (run: RunState, { by, now }: { by: string; now: number }): Transition => ({
  if: [runIs(run.status)],
  events: [{ type: 'run.extended', data: { used: usageOf(run, now), by } }],
});

function resumedStatus(run: RunState): 'queued' | 'waiting' | 'running' {
  if (run.started_at === undefined) return 'queued';
  return run.parked > 0 ? 'waiting' : 'running';
}

export const cancelRun = (run: RunState, by: string, message?: string): Transition => ({
  if: [runIs(run.status)],
  events: [{ type: 'run.canceling', data: { by, from: run.status, ...(message === undefined ? {} : { message }) } }],
});

/** Something of the run was stuck, and is woken. Told for the record; changes nothing. */
export const recordRepair = (data: EventOf<'run.repaired'>['data']): Transition => ({
  if: [],
  events: [{ type: 'run.repaired', data }],
});

/** Nothing of the run is left that could run. */
export const finishCancel = (): Transition => ({
  if: [runIs('canceling'), openIs(0), noOpenTasks],
  events: [{ type: 'run.canceled', data: {} }],
});
