import * as contract from '@holdpoint/contract';
import { toGrant } from '../domain/index.ts';
import type { PastTurn, SettledStep } from '../ports/index.ts';
import { addNews, forgetUndone, inheritNews, type NewsLog, noNews, noteResult } from './past-news.ts';

/** A step of the past, before its payloads are read. */
export interface LoggedStep {
  id: string;
  /** The run whose state has the step: a fork inherits the steps of another run. */
  owner: string;
  call: { name?: string; call_id?: string; tool: string };
  args: contract.Payload;
  status: contract.StepStatus;
  error?: contract.Problem;
  grants: contract.Grant[];
  /** Kept between two reads. Only a settled step stays the same. */
  read?: SettledStep;
}

export interface LoggedTurn
  extends Pick<PastTurn, 'turn' | 'message' | 'readMessages' | 'refused' | 'warned' | 'note' | 'at'> {
  answer: contract.Payload | undefined;
  note?: contract.TurnNote;
  /** The notices recorded before the turn. */
  notices: contract.Notified[];
  steps: LoggedStep[];
  read?: PastTurn;
}

export interface LoggedCompaction extends contract.Compaction {
  /** The number of the turn planned after the compaction. */
  before_turn: number;
}

/** A conversation, folded from a log: references to payloads, not the payloads. */
export interface PastLog {
  runId: string;
  /** The sequence number and mark of the last folded event. A different event at this number means that an older log was restored. */
  seq: number;
  last?: string;
  turns: LoggedTurn[];
  steps: Map<string, LoggedStep>;
  isIndeterminate: Set<string>;
  messages: string[];
  /** How many messages a turn has read. */
  read: number;
  /** Messages of undone turns: they stay. */
  carried: string[];
  /** The notices that no turn has read. */
  notices: contract.Notified[];
  news: NewsLog;
  instructed?: contract.Instructed;
  /** The toolchains behind `node` and `python3` in commands. */
  toolchains?: contract.Toolchain[] | undefined;
  absent?: contract.AbsentContent | undefined;
  /** The compactions that no undo removed, oldest first. */
  compactions: LoggedCompaction[];
}

export const emptyPast = (runId: string): PastLog => ({
  ...{ runId, seq: 0, turns: [], steps: new Map(), isIndeterminate: new Set() },
  ...{ messages: [], read: 0, carried: [], compactions: [] },
  ...{ notices: [], news: noNews() },
});

/** Adds the past of the forked run, up to the turn of the fork. */
export function inherit(past: PastLog, other: PastLog, turn: number): void {
  past.turns.push(...other.turns.filter((one) => one.turn <= turn));
  const kept = new Set(past.turns.flatMap(({ steps }) => steps.map(({ id }) => id)));
  inheritNews(past.news, other.news, (stepId) => kept.has(stepId));
  past.compactions.push(...other.compactions.filter((one) => one.through_turn < turn));
}

/** Adds the next event. An event that was added before changes nothing. */
export function addToPast(past: PastLog, event: contract.LoggedEvent): void {
  if (event.seq !== past.seq + 1) return;
  past.seq = event.seq;
  past.last = markOf(event);
  addNews(past.news, event, past.turns.at(-1)?.turn ?? 0);
  switch (event.type) {
    case 'message.received':
      past.messages.push(event.data.text);
      return;
    case 'run.rewound':
      past.carried.push(...rewind(past, event.data));
      return;
    case 'workspace.materialised':
      past.toolchains = event.data.toolchains;
      past.absent = contract.absentContent(event.data);
      return;
    case 'context.instructed':
      past.instructed = event.data;
      return;
    case 'context.notified':
      past.notices.push(event.data);
      return;
    case 'context.compacted':
      past.compactions.push({ ...event.data, before_turn: (past.turns.at(-1)?.turn ?? 0) + 1 });
      return;
    case 'turn.planned':
      addTurn(past, event);
      return;
    case 'step.created': {
      const { name, call_id, tool, args } = event.data;
      const call = { name, call_id, tool };
      const step: LoggedStep = { id: event.step_id, owner: past.runId, call, args, status: 'pending', grants: [] };
      past.steps.set(step.id, step);
      const turn = past.turns.at(-1);
      turn?.steps.push(step);
      delete turn?.read;
      return;
    }
    case 'approval.requested':
      if (event.data.kind === 'indeterminate') past.isIndeterminate.add(event.data.approval_id);
      return;
    case 'approval.decided': {
      const grant = toGrant(event.data, past.isIndeterminate.has(event.data.approval_id));
      if (event.step_id !== undefined && grant !== undefined) past.steps.get(event.step_id)?.grants.push(grant);
      return;
    }
    default:
      if (contract.settlesStep(event)) settle(past, event);
      // The compiler names an event of the conversation that has no case.
      else event.type satisfies Exclude<contract.EventType, `${'turn' | 'message' | 'context'}.${string}`>;
  }
}

export const markOf = ({ type, time }: contract.LoggedEvent): string => `${time} ${type}`;

function addTurn(past: PastLog, { data, time }: contract.EventOf<'turn.planned'>): void {
  const { turn, message, answer, warned, note, refused, messages_read = past.read } = data;
  const readMessages = [...past.carried, ...past.messages.slice(past.read, messages_read)];
  const { notices } = past;
  const read = { notices, readMessages };
  past.turns.push({ turn, message, answer, warned, note, refused: refused?.error, steps: [], ...read, at: time });
  past.notices = [];
  past.carried = [];
  past.read = messages_read;
}

function settle(past: PastLog, event: contract.StepSettled): void {
  const step = past.steps.get(event.step_id);
  if (step === undefined) return;
  noteResult(past.news, step, event.type === 'step.succeeded');
  step.status = event.type.slice('step.'.length) as contract.StepStatus;
  if (event.data.error !== undefined) step.error = event.data.error;
  step.grants.push(...(event.data.grants ?? []));
}

/**
 * Undone turns are no part of the conversation. Steps that run again follow as new events.
 * @returns the messages of the removed turns
 */
function rewind(past: PastLog, { to_step, turn, steps }: contract.EventOf<'run.rewound'>['data']): string[] {
  const gone = past.turns.filter((one) => one.turn > turn);
  past.turns = past.turns.filter((one) => one.turn <= turn);
  const last = past.turns.at(-1);
  const undone = gone.flatMap((one) => one.steps);
  if (to_step !== null && last?.turn === turn) {
    undone.push(...last.steps.filter((step) => !steps.includes(step.id)));
    last.steps = last.steps.filter((step) => steps.includes(step.id));
  }
  forgetUndone(past.news, new Set(undone.map(({ id }) => id)));
  // A notice that is still due is given again.
  past.notices = [];
  delete last?.read;
  past.compactions = past.compactions.filter((one) => one.through_turn < turn);
  return gone.flatMap(({ readMessages }) => readMessages);
}

/** Whether all steps of a turn are settled, so that the turn stays the same. */
export const isOver = ({ steps }: LoggedTurn): boolean => steps.every(({ status }) => contract.isSettled(status));
