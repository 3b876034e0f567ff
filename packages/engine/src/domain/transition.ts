import type * as contract from '@holdpoint/contract';
import { approvalField, type Cell } from './fields/field.ts';
import { runField } from './fields/run.ts';
import { stepField } from './fields/step.ts';
import { taskField } from './fields/task.ts';

/** A field must have any of these values now. An absent field is the same as an empty field. */
export interface Condition {
  field: string;
  is: readonly string[];
}

/** The events to append if every condition holds. The state changes follow from the events (`changesOf`). */
export interface Transition {
  if: Condition[];
  /** Refused, as the field `deadline`, from this time on by the clock of Redis: milliseconds since the epoch. */
  before?: number;
  /** The time of its events, ISO 8601. @default when they are appended */
  time?: string | undefined;
  events: contract.NewEvent[];
}

/** Undefined means an absent field. A default value, for example 0, holds for an absent field, too. */
export function fieldIs<Value>(cell: Cell<Value>, ...values: readonly (NoInfer<Value> | undefined)[]): Condition {
  const is = values.map((value) => (value === undefined ? '' : cell.encode(value)));
  return { field: cell.name, is: is.includes(cell.absent) && !is.includes('') ? [...is, ''] : is };
}
export const isAbsent = ({ name }: Cell<never>): Condition => ({ field: name, is: [''] });

export const runIs = (...status: contract.RunStatus[]) => fieldIs(runField.status, ...status);
/** Nothing was appended since the caller read the run. */
export const seqIs = (seq: number) => fieldIs(runField.seq, seq);
export const parkedIs = (parked: number) => fieldIs(runField.parked, parked);
export const openIs = (open: number) => fieldIs(runField.open, open);
export const turnIs = (turn: number) => fieldIs(runField.turn, turn);
export const stepIs = (id: string, ...status: contract.StepStatus[]) => fieldIs(stepField.status(id), ...status);
/** No caller asked for the end of the step. */
export const notCanceled = (id: string) => isAbsent(stepField.cancel(id));
export const attemptIs = (id: string, attempt: number) => fieldIs(stepField.attempt(id), attempt);
/** The attempt still runs, and no caller asked for its end. */
export const attemptRuns = (id: string, attempt: number) => [
  ...[stepIs(id, 'running'), attemptIs(id, attempt), notCanceled(id)],
];
export const approvalIs = (id: string, ...status: contract.ApprovalStatus[]) =>
  fieldIs(approvalField.status(id), ...status);
export const taskIs = (id: string, ...status: contract.TaskStatus[]) => fieldIs(taskField.status(id), ...status);
export const openTasksAre = (count: number) => fieldIs(runField.open_tasks, count);
export const noOpenTasks = openTasksAre(0);
export const agentsAre = (count: number) => fieldIs(runField.agents, count);
/** The tree has not changed since the caller read the run: no worker took the workspace over. */
export const leaseIs = (epoch: number) => fieldIs(runField.lease, epoch);
/** No other writer was admitted to the tree since the caller read the run. */
export const headIs = (head: string) => fieldIs(runField.head, head);
/** The open run received no other calls. */
export const receivedIs = (count: number) => fieldIs(runField.received, count);
/** No other calls became a turn, or were dropped. */
export const takenIs = (count: number) => fieldIs(runField.taken, count);
/** No other step or task may change the tree now. */
export const writerIs = (...ids: string[]) => fieldIs(runField.writer, ...ids);
/** The tree matches the log. */
export const isRestored = isAbsent(runField.restore);
/** The changes of no sub-agent are being merged into the tree. */
export const noMerge = isAbsent(runField.merging);
export const snapshotIs = (snapshot: string) => fieldIs(runField.snapshot, snapshot);
export const publicationIs = (...status: contract.PublicationStatus[]) => fieldIs(runField.publication, ...status);

/** The names, in the log and in the tree, of the last writer admitted to the tree. */
export const heads = {
  attempt: (stepId: string, attempt: number): string => `${stepId}.${attempt}`,
  task: (taskId: string): string => taskId,
  prepare: (number: number): string => `prepare.${number}`,
  validators: (snapshot: string): string => `validators.${snapshot}`,
};
