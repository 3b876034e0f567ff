import type { ApprovalStatus, NewEvent, RunStatus, StepStatus, TaskStatus } from '@holdpoint/contract';
import { approvalField, runField, stepField, taskField } from './fields.ts';

/** A field must have one of these values now. An absent field is the same as an empty one; an empty list: it must be absent. */
export interface Condition {
  field: string;
  is: readonly string[];
}

/** What to append, if every condition holds. The state changes follow from the events (`changesOf`). */
export interface Transition {
  if: Condition[];
  events: NewEvent[];
}

export const runIs = (...status: RunStatus[]): Condition => ({ field: runField.status, is: status });
/** Nothing was appended since. */
export const seqIs = (seq: number): Condition => ({ field: runField.seq, is: [String(seq)] });
export const parkedIs = (parked: number): Condition => ({ field: runField.parked, is: [String(parked)] });
export const openIs = (open: number): Condition => ({ field: runField.open, is: [String(open)] });
export const turnIs = (turn: number): Condition => ({ field: runField.turn, is: [String(turn)] });
export const stepIs = (id: string, ...status: StepStatus[]): Condition => ({
  field: stepField(id, 'status'),
  is: status,
});
export const attemptIs = (id: string, attempt: number): Condition => ({
  field: stepField(id, 'attempt'),
  is: [String(attempt)],
});
export const approvalIs = (id: string, ...status: ApprovalStatus[]): Condition => ({
  field: approvalField(id, 'status'),
  is: status,
});
export const taskIs = (id: string, ...status: TaskStatus[]): Condition => ({
  field: taskField(id, 'status'),
  is: status,
});
/** The tree is the one that the caller looked at: nobody took the workspace over since. */
export const leaseIs = (epoch: number): Condition => ({ field: runField.lease, is: [String(epoch)] });
/** No other writer was let at the tree since the caller looked. */
export const headIs = (head: string): Condition => ({ field: runField.head, is: [head] });
/** Nobody else changes the tree now. */
export const writerIs = (...ids: string[]): Condition => ({ field: runField.writer, is: ids });
/** The tree is what the log says. */
export const isRestored: Condition = { field: runField.restore, is: [''] };
export const snapshotIs = (snapshot: string): Condition => ({ field: runField.snapshot, is: [snapshot] });
