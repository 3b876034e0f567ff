import { isTaskOver, type NewEvent, type Problem } from '@holdpoint/contract';
import * as model from '../model.ts';
import { parkedChange } from './ask-question.ts';
import { restoreAfter } from './attempt.ts';
import { unchanged } from './snapshotted.ts';

/** Who asks for the end of a step. */
interface StepCancel {
  by: string;
  message?: string | undefined;
}

/** The open parts of a step: the approval that the step waits for, and the task that the step began and waits for. */
interface Open {
  approval: model.ApprovalState | undefined;
  task: model.TaskState | undefined;
}

/**
 * A caller ends a step. A step without a process settles at once. A running attempt is ended by its worker, and a step waiting for its own
 * task settles when the task has ended: a settled step has no process.
 */
export function requestStepCancel(
  run: model.RunState,
  step: model.StepState,
  cancel: StepCancel,
  open: Open,
): model.Transition {
  const request: NewEvent = { type: 'step.cancel_requested', step_id: step.id, data: cancel };
  const still = [
    model.stepIs(step.id, step.status),
    model.attemptIs(step.id, step.attempt),
    model.notCanceled(step.id),
  ];
  if (step.status === 'running') return { if: [model.runIs(run.status), ...still], events: [request] };
  if (open.task !== undefined && !isTaskOver(open.task.status)) {
    const { id: task_id, status, kill } = open.task;
    const killing: NewEvent[] = kill ? [] : [{ type: 'task.kill_requested', data: { task_id, by: cancel.by } }];
    return { if: [model.runIs(run.status), ...still, model.taskIs(task_id, status)], events: [request, ...killing] };
  }
  const settled = settleStep(run, { ...step, cancel: { ...cancel, at: '' } }, open.approval);
  return { if: [...settled.if, ...still], events: [request, ...settled.events] };
}

/** A caller ends a call of an open run before its turn begins. The turn settles the call when the turn is recorded. */
export const cancelWaitingCall = (run: model.RunState, step_id: string, cancel: StepCancel): model.Transition => ({
  if: [model.runIs(run.status), model.takenIs(run.taken), model.notCanceled(step_id)],
  events: [{ type: 'step.cancel_requested', step_id, data: cancel }],
});

/** Settles a step with a requested end and without an outcome of its own. The changes of a running attempt in the tree are dropped. */
export const settleCanceled = (run: model.RunState, step: model.StepState): model.Transition => {
  const { if: conditions, events } = settleStep(run, step, undefined);
  return { if: [...conditions, model.stepIs(step.id, step.status), model.attemptIs(step.id, step.attempt)], events };
};

function settleStep(
  run: model.RunState,
  step: model.StepState,
  approval: model.ApprovalState | undefined,
): model.Transition {
  const waiting = approval === undefined ? { if: [model.runIs(run.status)], events: [] } : parkedChange(run, -1);
  const isWriter = run.writer === step.id;
  const isBeginning = step.status === 'deferred' && step.deferred?.begins !== undefined;
  return {
    if: [
      ...waiting.if,
      ...(approval === undefined ? [] : [model.approvalIs(approval.id, 'pending')]),
      ...(isWriter ? [model.writerIs(step.id)] : []),
      ...(isBeginning ? [model.leaseIs(run.lease), model.snapshotIs(run.snapshot ?? '')] : []),
    ],
    events: [
      ...(approval === undefined ? [] : [approvalCanceled(step, approval.id, reasonOf(step))]),
      // The snapshot of the tree as the command found the tree, or would have.
      ...(isBeginning ? unchanged(run, step) : []),
      stepEnded(step, hasRun(step), canceledError(step), {
        writes: isWriter || undefined,
        ...(leavesTree(step) && !isBeginning ? restoreAfter(step) : {}),
      }),
      ...waiting.events,
    ],
  };
}

/** An attempt admitted to the tree, which settles without a snapshot of the tree. */
const leavesTree = ({ status }: model.StepState): boolean => status === 'running' || status === 'deferred';

const reasonOf = ({ cancel }: model.StepState): string => `${cancel?.by} canceled the call`;

/** The planner reads this error for a call ended by a caller. */
export function canceledError(step: CanceledStep): Problem {
  const { cancel, effect } = step;
  const says = cancel?.message === undefined ? '' : ` They say: ${cancel.message}`;
  return {
    code: 'ECANCELED',
    message: `${cancel?.by} canceled this call ${whenCanceled(step)}.${says}`,
    next:
      hasRun(step) && effect === 'external'
        ? 'It is not known whether the call took effect: find out before you make it again.'
        : 'This was a decision, and no fault of the tool. Continue without the call, or find another way.',
  };
}

type CanceledStep = Pick<model.StepState, 'status' | 'attempt' | 'effect' | 'cancel' | 'started_at'>;

function whenCanceled(step: CanceledStep): string {
  if (step.status === 'running' || step.status === 'deferred') return 'while it ran';
  return hasRun(step) ? 'before it ran again' : 'before it ran';
}

/** The same error for a call without a step yet. */
export const waitingCallError = (cancel: NonNullable<model.StepState['cancel']>): Problem =>
  canceledError({ status: 'pending', attempt: 0, effect: 'read', cancel });

/** A held attempt did nothing, and leaves no start. */
const hasRun = ({ attempt, started_at }: CanceledStep): boolean => attempt > 0 && started_at !== undefined;

/**
 * A step of a canceling run settles; an open approval closes with the step.
 * @param let_go what worked outside for the call was asked to end
 */
export function cancelStep(step: model.StepState, approvalOpen: boolean, let_go?: true): model.Transition {
  const error: Problem = { code: 'ECANCELED', message: 'The run was canceled.' };
  const restore = step.status === 'running' ? restoreAfter(step) : {};
  return {
    if: [model.runIs('canceling'), model.stepIs(step.id, step.status), model.attemptIs(step.id, step.attempt)],
    events: [
      ...(approvalOpen && step.approval !== undefined
        ? [approvalCanceled(step, step.approval, 'the run was canceled')]
        : []),
      // A step waiting for a task or for another attempt has run before.
      stepEnded(step, step.attempt > 0, error, { ...restore, let_go }),
    ],
  };
}

const approvalCanceled = ({ id: step_id }: model.StepState, approval_id: string, reason: string): NewEvent => ({
  type: 'approval.canceled',
  step_id,
  data: { approval_id, reason },
});

function stepEnded(
  { id: step_id, attempt }: model.StepState,
  ran: boolean,
  error: Problem,
  more: Partial<Record<'restore' | 'writes' | 'let_go', true | undefined>>,
): NewEvent {
  if (ran) return { type: 'step.killed', step_id, data: { attempt, error, ...more } };
  return { type: 'step.canceled', step_id, data: { attempt: null, error, ...more } };
}
