import type {
  AgentReport,
  LastInput,
  NewEvent,
  Payload,
  Problem,
  TaskInput,
  TaskOutcome,
  TaskStatus,
} from '@holdpoint/contract';
import { isSameBlockage, replaceReport } from '../agent-report.ts';
import {
  agentsAre,
  attemptIs,
  fieldIs,
  headIs,
  isAbsent,
  isRestored,
  leaseIs,
  noMerge,
  type RunState,
  reservedField,
  runField,
  runIs,
  type StepState,
  snapshotIs,
  type TaskState,
  type Transition,
  taskField,
  taskIs,
  writerIs,
} from '../model.ts';
import { totalChange } from './waiting.ts';

type Ended = Extract<TaskStatus, 'completed' | 'failed' | 'killed' | 'timed_out' | 'lost'>;
export type TaskResult = TaskOutcome & { status: Exclude<Ended, 'lost'> };

/** From now on the command may run, on this tree. */
export const startTask = (run: RunState, task: TaskState, worker: string): Transition => ({
  if: [
    runIs('running', 'waiting'),
    taskIs(task.id, 'queued'),
    leaseIs(run.lease),
    headIs(run.head),
    isRestored,
    ...(task.about.approved_snapshot === undefined
      ? []
      : [snapshotIs(task.about.approved_snapshot), writerIs('', task.about.step_id)]),
  ],
  events: [{ type: 'task.started', data: { task_id: task.id, worker, epoch: run.lease } }],
});

/** The run of a sub-agent exists. */
export const startAgent = (task: TaskState, worker: string): Transition => ({
  if: [taskIs(task.id, 'queued')],
  events: [{ type: 'task.started', data: { task_id: task.id, worker } }],
});

/** Records the usage of a sub-agent, and whether the sub-agent waits. */
export function reportAgent(run: RunState, task: TaskState, report: AgentReport): Transition {
  const total = replaceReport(run.agents_total, task.report, report, { isRunning: run.status === 'running' });
  const change = totalChange(run, total);
  return {
    if: [...change.if, taskIs(task.id, task.status)],
    events: [{ type: reportType(task, report), data: { task_id: task.id, report, total } }, ...change.events],
  };
}

/**
 * Records a report with one sub-agent more: a step of the reporting sub-agent is about to start the new sub-agent. The new sub-agent is
 * counted once, however often the step tries. The condition on `agents` fails when this run starts a sub-agent in the same moment.
 */
export function reserveAgentFor(stepId: string, run: RunState, task: TaskState, report: AgentReport): Transition {
  const used = { ...report.used, agents: report.used.agents + 1 };
  const { if: conditions, events } = reportAgent(run, task, { ...report, used });
  const reservation: NewEvent = { type: 'task.reserved', data: { task_id: task.id, for_step: stepId } };
  return {
    if: [...conditions, agentsAre(run.agents), isAbsent(reservedField(stepId))],
    events: [reservation, ...events],
  };
}

function reportType(task: TaskState, report: AgentReport): 'task.used' | 'task.waiting' | 'task.resumed' {
  if (isSameBlockage(task.report, report)) return 'task.used';
  return report.waiting || report.approvals > 0 || report.paused > 0 ? 'task.waiting' : 'task.resumed';
}

/** The run of a sub-agent has ended. @param last its last report */
export function endAgent(
  run: RunState,
  task: TaskState,
  outcome: TaskOutcome & { status: Ended },
  last: AgentReport,
): Transition {
  const total = replaceReport(run.agents_total, task.report, last, { isRunning: run.status === 'running' });
  const change = totalChange(run, total);
  const { status, ...rest } = outcome;
  return {
    if: [...change.if, taskIs(task.id, task.status)],
    events: [{ type: 'task.ended', data: { task_id: task.id, status, ...rest, total } }, ...change.events],
  };
}

/** The sub-agent succeeded, and its changes are to be merged. @param last its last report */
export function exitAgent(run: RunState, task: TaskState, outcome: TaskResult, last: AgentReport): Transition {
  const { if: conditions, events } = reportAgent(run, task, last);
  const { status, ...rest } = outcome;
  return { if: conditions, events: [...events, { type: 'task.exited', data: { task_id: task.id, status, ...rest } }] };
}

/** From now on the task alone changes the tree, until the merge is recorded or a new tree is due. */
export const holdForMerge = (run: RunState, task: TaskState): Transition => ({
  if: [
    runIs('running', 'waiting', 'paused'),
    taskIs(task.id, 'capturing'),
    leaseIs(run.lease),
    headIs(run.head),
    snapshotIs(run.snapshot ?? ''),
    isRestored,
    noMerge,
    writerIs(''),
  ],
  events: [{ type: 'workspace.held', data: { task_id: task.id, merges: true } }],
});

/** The merge is in the tree, or refused with the tree unchanged. A decision may have taken the place of the writer: its call waits. */
export const recordMerge = (
  run: RunState,
  task: TaskState,
  snapshot: { snapshot: string; files_changed: number; skipped: number },
): Transition => ({
  if: [
    taskIs(task.id, 'capturing'),
    leaseIs(run.lease),
    isRestored,
    mergingIs(task.id),
    snapshotIs(run.snapshot ?? ''),
  ],
  events: [
    { type: 'workspace.captured', data: { task_id: task.id, parent: run.snapshot ?? '', ...snapshot } },
    ended(task, task.outcome ?? lostOutcome('its outcome is not recorded')),
  ],
});

/** The merge failed: the task fails, and a new tree without the merged parts is due. */
export const failMerge = (run: RunState, task: TaskState, reason: Problem): Transition => ({
  if: [taskIs(task.id, 'capturing'), leaseIs(run.lease), mergingIs(task.id)],
  events: [ended(task, { ...task.outcome, status: 'failed', exit_code: 1, reason }, true)],
});

const mergingIs = (taskId: string) => fieldIs(runField.merging, taskId);

export const requestKill = (task: TaskState, by: string): Transition => ({
  if: [taskIs(task.id, task.status)],
  events: [{ type: 'task.kill_requested', data: { task_id: task.id, by } }],
});

/** The worker of the command writes the input once. A repeated attempt of the step finds the step's own input. */
export function sendInput(
  task: TaskState,
  { step, last, input }: { step: StepState; last: LastInput; input: Payload<TaskInput> },
): Transition {
  const { step_id, ...rest } = last;
  return {
    if: [taskIs(task.id, 'running'), attemptIs(step.id, step.attempt), fieldIs(taskField.input(task.id), task.input)],
    events: [{ type: 'task.input_sent', step_id, data: { task_id: task.id, input, ...rest } }],
  };
}

/** The command has ended; its changes are not in a snapshot yet. */
export const exitTask = (task: TaskState, { status, ...outcome }: TaskResult): Transition => ({
  if: [taskIs(task.id, 'running')],
  events: [{ type: 'task.exited', data: { task_id: task.id, status, ...outcome } }],
});

/** The task is the only writer while its changes are taken into a snapshot. */
export const holdForCapture = (run: RunState, task: TaskState): Transition => ({
  if: [taskIs(task.id, 'capturing'), leaseIs(run.lease), isRestored, noMerge, writerIs('', task.id)],
  events: [{ type: 'workspace.held', data: { task_id: task.id } }],
});

export function captureTask(
  run: RunState,
  task: TaskState,
  snapshot: { snapshot: string; files_changed: number; skipped: number },
): Transition {
  const parent = run.snapshot ?? '';
  return {
    if: [taskIs(task.id, 'capturing'), leaseIs(run.lease), isRestored, writerIs(task.id), snapshotIs(parent)],
    events: [
      { type: 'workspace.captured', data: { task_id: task.id, parent, ...snapshot } },
      ended(task, task.outcome ?? lostOutcome('its outcome is not recorded')),
    ],
  };
}

/** The command changed paths forbidden to its run: the task fails, and the tree is rebuilt without the command's changes. */
export const dropCapture = (run: RunState, task: TaskState, reason: Problem): Transition => ({
  if: [taskIs(task.id, 'capturing'), leaseIs(run.lease), writerIs(task.id)],
  events: [ended(task, { status: 'failed', exit_code: task.outcome?.exit_code ?? null, reason }, true)],
});

/** The task is over, and the tree is unchanged. */
export const endTask = (task: TaskState, outcome: TaskOutcome & { status: Ended }): Transition => ({
  if: [taskIs(task.id, task.status)],
  events: [ended(task, outcome)],
});

/**
 * The worker of the command is presumed dead, and the command, too. The worker may only be frozen, so the tree is rebuilt: no other step or
 * task may be changing the tree now.
 */
export const loseTask = (run: RunState, task: TaskState, message: string): Transition => ({
  // The call of an approved command stays the writer until the command has started.
  if: [taskIs(task.id, 'running'), writerIs('', task.about.step_id), leaseIs(run.lease)],
  events: [ended(task, lostOutcome(message), true)],
});

export const lostOutcome = (message: string): TaskOutcome & { status: 'lost' } => ({
  status: 'lost',
  exit_code: null,
  reason: { code: 'ETASKLOST', message, next: 'Check what it left, and start it again if it is still needed.' },
});

export const killedOutcome = (reason: Problem): TaskResult => ({ status: 'killed', exit_code: null, reason });

function ended(task: TaskState, outcome: TaskOutcome & { status: TaskStatus }, restore?: true): NewEvent {
  const { status, ...rest } = outcome;
  return {
    type: 'task.ended',
    data: { task_id: task.id, status: status as Ended, ...rest, restore },
  };
}
