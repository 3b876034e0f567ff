import type * as contract from '@holdpoint/contract';
import { isSameBlockage, replaceReport } from '../agent-report.ts';
import * as model from '../model.ts';
import { totalChange } from './ask-question.ts';

type Ended = Extract<contract.TaskStatus, 'completed' | 'failed' | 'killed' | 'timed_out' | 'lost'>;
export type TaskResult = contract.TaskOutcome & { status: Exclude<Ended, 'lost'> };

/** From now on the command may run, on this tree. */
export const startTask = (run: model.RunState, task: model.TaskState, worker: string): model.Transition => ({
  if: [
    model.runIs('running', 'waiting'),
    model.taskIs(task.id, 'queued'),
    model.leaseIs(run.lease),
    model.headIs(run.head),
    model.isRestored,
    ...(task.about.approved_snapshot === undefined
      ? []
      : [model.snapshotIs(task.about.approved_snapshot), model.writerIs('', task.about.step_id)]),
  ],
  events: [{ type: 'task.started', data: { task_id: task.id, worker, epoch: run.lease } }],
});

/** The run of a sub-agent exists. */
export const startAgent = (task: model.TaskState, worker: string): model.Transition => ({
  if: [model.taskIs(task.id, 'queued')],
  events: [{ type: 'task.started', data: { task_id: task.id, worker } }],
});

/** Records the usage of a sub-agent, and whether the sub-agent waits. */
export function reportAgent(
  run: model.RunState,
  task: model.TaskState,
  report: contract.AgentReport,
): model.Transition {
  const total = replaceReport(run.agents_total, task.report, report, { isRunning: run.status === 'running' });
  const change = totalChange(run, total);
  return {
    if: [...change.if, model.taskIs(task.id, task.status)],
    events: [{ type: reportType(task, report), data: { task_id: task.id, report, total } }, ...change.events],
  };
}

/**
 * Records a report with one sub-agent more: a step of the reporting sub-agent is about to start the new sub-agent. The new sub-agent is
 * counted once, however often the step tries. The condition on `agents` fails when this run starts a sub-agent in the same moment.
 */
export function reserveAgentFor(
  stepId: string,
  run: model.RunState,
  task: model.TaskState,
  report: contract.AgentReport,
): model.Transition {
  const used = { ...report.used, agents: report.used.agents + 1 };
  const { if: conditions, events } = reportAgent(run, task, { ...report, used });
  const reservation: contract.NewEvent = { type: 'task.reserved', data: { task_id: task.id, for_step: stepId } };
  return {
    if: [...conditions, model.agentsAre(run.agents), model.isAbsent(model.reservedField(stepId))],
    events: [reservation, ...events],
  };
}

function reportType(
  task: model.TaskState,
  report: contract.AgentReport,
): 'task.used' | 'task.waiting' | 'task.resumed' {
  if (isSameBlockage(task.report, report)) return 'task.used';
  return report.waiting || report.approvals > 0 || report.paused > 0 ? 'task.waiting' : 'task.resumed';
}

/** The run of a sub-agent has ended. @param last its last report */
export function endAgent(
  run: model.RunState,
  task: model.TaskState,
  outcome: contract.TaskOutcome & { status: Ended },
  last: contract.AgentReport,
): model.Transition {
  const total = replaceReport(run.agents_total, task.report, last, { isRunning: run.status === 'running' });
  const change = totalChange(run, total);
  const { status, ...rest } = outcome;
  return {
    if: [...change.if, model.taskIs(task.id, task.status)],
    events: [{ type: 'task.ended', data: { task_id: task.id, status, ...rest, total } }, ...change.events],
  };
}

/** The sub-agent succeeded, and its changes are to be merged. @param last its last report */
export function exitAgent(
  run: model.RunState,
  task: model.TaskState,
  outcome: TaskResult,
  last: contract.AgentReport,
): model.Transition {
  const { if: conditions, events } = reportAgent(run, task, last);
  const { status, ...rest } = outcome;
  return { if: conditions, events: [...events, { type: 'task.exited', data: { task_id: task.id, status, ...rest } }] };
}

/** From now on the task alone changes the tree, until the merge is recorded or a new tree is due. */
export const holdForMerge = (run: model.RunState, task: model.TaskState): model.Transition => ({
  if: [
    model.runIs('running', 'waiting', 'paused'),
    model.taskIs(task.id, 'capturing'),
    model.leaseIs(run.lease),
    model.headIs(run.head),
    model.snapshotIs(run.snapshot ?? ''),
    model.isRestored,
    model.noMerge,
    model.writerIs(''),
  ],
  events: [{ type: 'workspace.held', data: { task_id: task.id, merges: true } }],
});

/** The merge is in the tree, or refused with the tree unchanged. A decision may have taken the place of the writer: its call waits. */
export const recordMerge = (
  run: model.RunState,
  task: model.TaskState,
  snapshot: { snapshot: string; files_changed: number; skipped: number },
): model.Transition => ({
  if: [
    model.taskIs(task.id, 'capturing'),
    model.leaseIs(run.lease),
    model.isRestored,
    mergingIs(task.id),
    model.snapshotIs(run.snapshot ?? ''),
  ],
  events: [
    { type: 'workspace.captured', data: { task_id: task.id, parent: run.snapshot ?? '', ...snapshot } },
    ended(task, task.outcome ?? lostOutcome('its outcome is not recorded')),
  ],
});

/** The merge failed: the task fails, and a new tree without the merged parts is due. */
export const failMerge = (run: model.RunState, task: model.TaskState, reason: contract.Problem): model.Transition => ({
  if: [model.taskIs(task.id, 'capturing'), model.leaseIs(run.lease), mergingIs(task.id)],
  events: [ended(task, { ...task.outcome, status: 'failed', exit_code: 1, reason }, true)],
});

const mergingIs = (taskId: string) => model.fieldIs(model.runField.merging, taskId);

export const requestKill = (task: model.TaskState, by: string): model.Transition => ({
  if: [model.taskIs(task.id, task.status)],
  events: [{ type: 'task.kill_requested', data: { task_id: task.id, by } }],
});

/** The worker of the command writes the input once. A repeated attempt of the step finds the step's own input. */
export function sendInput(
  task: model.TaskState,
  {
    step,
    last,
    input,
  }: { step: model.StepState; last: contract.LastInput; input: contract.Payload<contract.TaskInput> },
): model.Transition {
  const { step_id, ...rest } = last;
  return {
    if: [
      model.taskIs(task.id, 'running'),
      model.attemptIs(step.id, step.attempt),
      model.fieldIs(model.taskField.input(task.id), task.input),
    ],
    events: [{ type: 'task.input_sent', step_id, data: { task_id: task.id, input, ...rest } }],
  };
}

/** The command has ended; its changes are not in a snapshot yet. */
export const exitTask = (task: model.TaskState, { status, ...outcome }: TaskResult): model.Transition => ({
  if: [model.taskIs(task.id, 'running')],
  events: [{ type: 'task.exited', data: { task_id: task.id, status, ...outcome } }],
});

/** The task is the only writer while its changes are taken into a snapshot. */
export const holdForCapture = (run: model.RunState, task: model.TaskState): model.Transition => ({
  if: [
    model.taskIs(task.id, 'capturing'),
    model.leaseIs(run.lease),
    model.isRestored,
    model.noMerge,
    model.writerIs('', task.id),
  ],
  events: [{ type: 'workspace.held', data: { task_id: task.id } }],
});

export function captureTask(
  run: model.RunState,
  task: model.TaskState,
  snapshot: { snapshot: string; files_changed: number; skipped: number },
): model.Transition {
  const parent = run.snapshot ?? '';
  return {
    if: [
      model.taskIs(task.id, 'capturing'),
      model.leaseIs(run.lease),
      model.isRestored,
      model.writerIs(task.id),
      model.snapshotIs(parent),
    ],
    events: [
      { type: 'workspace.captured', data: { task_id: task.id, parent, ...snapshot } },
      ended(task, task.outcome ?? lostOutcome('its outcome is not recorded')),
    ],
  };
}

/** The command changed paths forbidden to its run: the task fails, and the tree is rebuilt without the command's changes. */
export const dropCapture = (
  run: model.RunState,
  task: model.TaskState,
  reason: contract.Problem,
): model.Transition => ({
  if: [model.taskIs(task.id, 'capturing'), model.leaseIs(run.lease), model.writerIs(task.id)],
  events: [ended(task, { status: 'failed', exit_code: task.outcome?.exit_code ?? null, reason }, true)],
});

/** The task is over, and the tree is unchanged. */
export const endTask = (
  task: model.TaskState,
  outcome: contract.TaskOutcome & { status: Ended },
): model.Transition => ({
  if: [model.taskIs(task.id, task.status)],
  events: [ended(task, outcome)],
});

/**
 * The worker of the command is presumed dead, and the command, too. The worker may only be frozen, so the tree is rebuilt: no other step or
 * task may be changing the tree now.
 */
export const loseTask = (run: model.RunState, task: model.TaskState, message: string): model.Transition => ({
  // The call of an approved command stays the writer until the command has started.
  if: [model.taskIs(task.id, 'running'), model.writerIs('', task.about.step_id), model.leaseIs(run.lease)],
  events: [ended(task, lostOutcome(message), true)],
});

export const lostOutcome = (message: string): contract.TaskOutcome & { status: 'lost' } => ({
  status: 'lost',
  exit_code: null,
  reason: { code: 'ETASKLOST', message, next: 'Check what it left, and start it again if it is still needed.' },
});

export const killedOutcome = (reason: contract.Problem): TaskResult => ({ status: 'killed', exit_code: null, reason });

function ended(
  task: model.TaskState,
  outcome: contract.TaskOutcome & { status: contract.TaskStatus },
  restore?: true,
): contract.NewEvent {
  const { status, ...rest } = outcome;
  return {
    type: 'task.ended',
    data: { task_id: task.id, status: status as Ended, ...rest, restore },
  };
}
