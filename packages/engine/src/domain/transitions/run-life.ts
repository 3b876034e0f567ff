import type { CallGate, Effect, EventOf, NewEvent, Payload, Problem, Risk, Verdict } from '@holdpoint/contract';
import { usageOf } from '../limits-reached.ts';
import * as model from '../model.ts';

/** The workspace exists: the run starts. */
export const startRun = (workspace: EventOf<'workspace.materialised'>['data']): model.Transition => ({
  if: [model.runIs('queued')],
  events: [
    { type: 'workspace.materialised', data: workspace },
    { type: 'run.started', data: {} },
  ],
});

/** How much of the source is copied. */
export const recordProgress = (progress: { files: number; bytes: number }): model.Transition => ({
  if: [model.runIs('queued')],
  events: [{ type: 'workspace.progress', data: progress }],
});

/** The planner is done and every step is settled. A message not yet read by the model keeps the run running. */
export const endRun = (run: model.RunState, end: RunEnd, output: PlannerOutput): model.Transition => ({
  if: [model.runIs('running'), model.turnIs(run.turn), model.openIs(0), model.noOpenTasks, ...allRead(run, output)],
  events: [...lastTurn(run, output), ending(end)],
});

/** Ends a run with open tasks: the tasks end first. */
export const closeRun = (run: model.RunState, end: RunEnd, output: PlannerOutput): model.Transition => ({
  if: [model.runIs('running'), model.turnIs(run.turn), model.openIs(0), ...allRead(run, output)],
  events: [...lastTurn(run, output), { type: 'run.closing', data: end }],
});

/** The last task of a closing run is over. */
export const finishClosing = (run: model.RunState, end: RunEnd): model.Transition => ({
  if: [model.runIs('running'), model.turnIs(run.turn), model.openIs(0), model.noOpenTasks],
  events: [ending(end)],
});

export interface RunEnd {
  as: 'succeeded' | 'failed';
  message: string;
  reason?: Problem;
  output?: Payload | undefined;
}

function ending({ as, message, reason, output }: RunEnd): NewEvent {
  if (as === 'succeeded') return { type: 'run.succeeded', data: { message, output } };
  return { type: 'run.failed', data: { reason: reason ?? { code: 'EFAILED', message } } };
}

/** No new message since the model read them. A plan reads no messages. */
function allRead(run: model.RunState, { answer }: PlannerOutput): model.Condition[] {
  if (answer === undefined) return [];
  return [model.fieldIs(model.runField.messages, run.messages)];
}

/** The last output of a model is a turn without steps. */
function lastTurn(run: model.RunState, output: PlannerOutput): NewEvent[] {
  if (output.answer === undefined) return [];
  return [{ type: 'turn.planned', data: { turn: run.turn + 1, steps: [], ...output } }];
}

/** Stops the run at its present place; a caller can resume the run. Approvals stay open, and decisions are kept. */
export const pauseRun = (run: model.RunState, reason: Problem): model.Transition => ({
  if: [model.runIs(run.status)],
  events: [{ type: 'run.paused', data: { reason, from: run.status } }],
});

export const pausedByHand = 'paused_by_hand';

/** A person pauses the run. Running steps settle; no new step starts. */
export const pauseByHand = (run: model.RunState, by: string): model.Transition =>
  pauseRun(run, {
    code: pausedByHand,
    message: `${by} paused the run.`,
    next: 'Resume it, undo its last steps, or cancel it.',
  });

/**
 * Continues a paused run where the pause began: before its start, with open approvals, or in the middle of its work. Limits count from
 * here.
 */
export const resumeRun = (
  run: model.RunState,
  resume: { by: string; tools?: Record<string, string> | undefined; model?: string | undefined },
): model.Transition => ({
  if: [model.runIs('paused'), model.parkedIs(run.parked)],
  events: [resumed(run, 'pause', resume)],
});

export function resumed(
  run: model.RunState,
  after: 'pause' | 'end',
  resume: { by: string; tools?: Record<string, string> | undefined; model?: string | undefined },
): NewEvent {
  // The clock of the run is stopped, so its usage is the same at any time.
  const used = usageOf(run, 0);
  return { type: 'run.resumed', data: { after, status: resumedStatus(run), turn: run.turn, used, ...resume } };
}

/** For a run not paused, whose limits block its sub-agents: limits count from here. */
export const extendRun = (run: model.RunState, { by, now }: { by: string; now: number }): model.Transition => ({
  if: [model.runIs(run.status)],
  events: [{ type: 'run.extended', data: { used: usageOf(run, now), by } }],
});

function resumedStatus(run: model.RunState): 'queued' | 'waiting' | 'running' {
  if (run.started_at === undefined) return 'queued';
  return run.parked > 0 ? 'waiting' : 'running';
}

export const cancelRun = (run: model.RunState, by: string, message?: string): model.Transition => ({
  if: [model.runIs(run.status)],
  events: [{ type: 'run.canceling', data: { by, from: run.status, message } }],
});

/** The reconciler repaired something required by the run's state when read. */
export const recordRepair = (seen: model.RunState, data: EventOf<'run.repaired'>['data']): model.Transition => ({
  if: [model.seqIs(seen.seq)],
  events: [{ type: 'run.repaired', data }],
});

/** The last step and task of a canceling run are over. Calls behind its last turn are never made. */
export const finishCancel = ({ received, taken }: model.RunState): model.Transition => ({
  if: [model.runIs('canceling'), model.openIs(0), model.noOpenTasks],
  events: [{ type: 'run.canceled', data: { dropped: received > taken ? received : undefined } }],
});

/** A run that has succeeded continues, with a message for its model. Its limits count from here. */
export const wakeEnded = (
  run: model.RunState,
  { messageId, text, by, tools }: Message & { tools: Record<string, string> | undefined },
): model.Transition => ({
  if: [
    model.runIs('succeeded'),
    model.publicationIs(run.publication),
    model.seqIs(run.seq),
    model.isAbsent(model.messageField(messageId)),
  ],
  events: [resumed(run, 'end', { by, tools }), { type: 'message.received', data: { message_id: messageId, text, by } }],
});

interface Message {
  messageId: string;
  text: string;
  by: string;
}

/** A message of a person to a run not yet over. Recorded once per id. */
export const recordMessage = (run: model.RunState, { messageId, text, by }: Message): model.Transition => ({
  if: [model.runIs(run.status), model.isAbsent(model.runField.closing), model.isAbsent(model.messageField(messageId))],
  events: [{ type: 'message.received', data: { message_id: messageId, text, by } }],
});

/** A call of a turn to be recorded. With `error` the call settles now and never runs. */
export interface TurnStep {
  id: string;
  name?: string;
  call_id?: string;
  tool: string;
  args: Payload;
  effect: Effect;
  risk: Risk;
  gate?: CallGate;
  sequential?: true;
  beside?: true;
  looks?: true;
  /** Planned in plan mode. */
  planning?: true;
  verdict?: Verdict;
  /** The policies behind the verdict. */
  policies?: string;
  /** The arguments as the caller wrote them, when validation changed them. */
  written?: Payload;
  error?: Problem;
  /** A caller canceled the call before its turn: the call settles as canceled, with `error`. */
  isCanceled?: boolean | undefined;
  /** Why the call passes the gate now. */
  passes?: string;
}

/** The message of a planner, its usage, and the inputs read by the planner. */
export type PlannerOutput = Omit<EventOf<'turn.planned'>['data'], 'turn' | 'steps'>;

/** Records the turn and all of its steps in one append, or nothing. */
export function planTurn(
  run: model.RunState,
  { steps, ...output }: PlannerOutput & { steps: TurnStep[] },
): model.Transition {
  const number = run.turn + 1;
  return {
    if: [model.runIs('running'), model.turnIs(run.turn), model.openIs(0)],
    events: [
      {
        type: 'turn.planned',
        data: { turn: number, steps: steps.map((step) => step.id), ...output },
      },
      ...steps.flatMap((step, index) => created(step, number, index)),
    ],
  };
}

function created({ id, error, isCanceled, passes, ...call }: TurnStep, turn: number, index: number): NewEvent[] {
  const event: NewEvent = { type: 'step.created', step_id: id, data: { turn, index, ...call } };
  if (passes !== undefined) return [event, { type: 'step.queued', step_id: id, data: { reason: passes } }];
  if (error === undefined) return [event];
  return [event, { type: isCanceled ? 'step.canceled' : 'step.failed', step_id: id, data: { attempt: null, error } }];
}
