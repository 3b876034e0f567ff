import type * as contract from '@holdpoint/contract';
import * as model from '../model.ts';
import { parkedChange } from './ask-question.ts';
import { mayWrite } from './gate-steps.ts';
import { snapshotted, type TakenSnapshot, unchanged } from './snapshotted.ts';

/**
 * Starts attempt n on the tree named by the log. From now on every write of an earlier attempt fails its condition. An attempt with
 * permission to change the tree becomes its only writer.
 */
export function startAttempt(run: model.RunState, step: model.StepState, worker: string): model.Transition {
  const writes = mayWrite(step);
  const approvedOn = writes ? step.approved_snapshot : undefined;
  return {
    if: [
      model.runIs('running', 'waiting'),
      model.stepIs(step.id, step.status),
      model.attemptIs(step.id, step.attempt),
      model.leaseIs(run.lease),
      model.isRestored,
      ...(writes ? [model.writerIs('', step.id), model.headIs(run.head), model.noMerge] : []),
      ...(approvedOn === undefined ? [] : [model.snapshotIs(approvedOn)]),
    ],
    events: [
      {
        type: 'step.started',
        step_id: step.id,
        data: {
          ...{ attempt: step.attempt + 1, worker, epoch: run.lease, writes: writes || undefined },
          began_at: step.began_at ?? step.started_at,
          waited: step.status === 'deferred' || undefined,
        },
      },
    ],
  };
}

/** The running attempt waits for a task and holds no worker until then. `created` is the `task.created` event of a new task. */
export const deferAttempt = (
  stepId: string,
  attempt: number,
  {
    until,
    taskId,
    created,
    begins,
  }: { until: string; taskId: string; created?: contract.NewEvent; begins?: contract.Begins },
): model.Transition => ({
  if: model.attemptRuns(stepId, attempt),
  events: [
    ...(created === undefined ? [] : [created]),
    {
      type: 'step.deferred',
      step_id: stepId,
      data: { attempt, until, task_id: taskId, begins },
    },
  ],
});

/** The approved background command has started, or never will: its call settles, and other calls may change the tree again. */
export function settleBegun(
  run: model.RunState,
  step: model.StepState,
  { skipped, ...outcome }: contract.Begins,
): model.Transition {
  const { id: step_id, attempt } = step;
  return {
    if: [
      ...[model.stepIs(step_id, 'deferred'), model.attemptIs(step_id, attempt), model.notCanceled(step_id)],
      ...[model.leaseIs(run.lease), model.snapshotIs(run.snapshot ?? '')],
    ],
    events: [...unchanged(run, step, skipped), { type: 'step.succeeded', step_id, data: { attempt, ...outcome } }],
  };
}

export interface AttemptResult {
  attempt: number;
  status: 'succeeded' | 'failed' | 'timed_out' | 'killed';
  value?: contract.Payload;
  error?: contract.Problem;
  duration_ms: number;
  /** The tool did not return the value. */
  instead?: 'dry_run' | undefined;
  /** The parts of a long result for the model, and the file with its whole text. */
  long?: contract.Payload | undefined;
  capabilities?: contract.CapabilityReport | undefined;
  /** The usage of models by the tool, as far as no event has recorded the usage. */
  usage?: contract.ModelUsage | undefined;
  /** The tool asked a model. */
  askedModel?: true | undefined;
  command?: contract.CommandUse | undefined;
  /** The contents named by the value. */
  contents?: { sha256: string; bytes: number }[] | undefined;
  snapshot?: TakenSnapshot;
  /** A new tree is due: the changes of the attempt are dropped. */
  restore?: true;
  /** `task.created`, when a task starts with this outcome. */
  created?: contract.NewEvent;
  let_go?: true | undefined;
}

/** Records the outcome of the running attempt with its snapshot, in one append. */
export function settleAttempt(stepId: string, result: AttemptResult): model.Transition {
  const { attempt, status, snapshot, created, askedModel: _, ...rest } = result;
  return {
    if: [model.stepIs(stepId, 'running'), model.attemptIs(stepId, attempt)],
    events: [
      ...(created === undefined ? [] : [created]),
      ...snapshotted({ id: stepId, attempt }, snapshot),
      { type: `step.${status}`, step_id: stepId, data: { attempt, ...rest } },
    ],
  };
}

/** The usage of a tool's request to a model. The tokens are spent even when another worker already makes the next attempt. */
export const recordModelUse = (
  stepId: string,
  {
    attempt,
    status,
    ...use
  }: { attempt: number; status: 'pending' | 'running'; model: string; usage: contract.ModelUsage },
): model.Transition => ({
  if: [model.stepIs(stepId, status)],
  events: [{ type: 'step.model_used', step_id: stepId, data: { attempt, ...use } }],
});

/** A connection of the running attempt: only recorded. */
export const recordConnection = (
  stepId: string,
  attempt: number,
  connection: contract.Connection,
): model.Transition => ({
  if: [model.attemptIs(stepId, attempt)],
  events: [{ type: 'network.connected', step_id: stepId, data: { attempt, ...connection } }],
});

/** Connections without events of their own. */
export const countConnections = (stepId: string, attempt: number, counts: Counts): model.Transition => ({
  if: [model.attemptIs(stepId, attempt)],
  events: [{ type: 'network.counted', step_id: stepId, data: { attempt, counts } }],
});

/** The files read by the graph of the code for a query of the running attempt. */
export const recordGraphProgress = (
  stepId: string,
  attempt: number,
  progress: { files: number; total: number },
): model.Transition => ({
  if: [model.attemptIs(stepId, attempt)],
  events: [{ type: 'graph.progress', step_id: stepId, data: { attempt, ...progress } }],
});

type Counts = contract.EventOf<'network.counted'>['data']['counts'];

/** The attempt ended without an outcome. The step may run again: its changes are undone first, or the attempt made none. */
export function retryAttempt(
  run: model.RunState,
  step: model.StepState,
  reason: contract.Problem,
  options: { pause: boolean },
): model.Transition {
  const events: contract.NewEvent[] = [
    { type: 'step.retried', step_id: step.id, data: { attempt: step.attempt, reason, ...restoreAfter(step) } },
  ];
  if (options.pause) events.push({ type: 'run.paused', data: { reason, from: run.status } });
  return {
    if: [...model.attemptRuns(step.id, step.attempt), ...(options.pause ? [model.runIs(run.status)] : [])],
    events,
  };
}

/**
 * The attempt ended, and nothing shows whether its external effect happened. A person decides; the step never runs again without a
 * decision.
 */
export function recordIndeterminate(
  run: model.RunState,
  step: model.StepState,
  approval: {
    id: string;
    expiresAt: string;
    reason: contract.Problem;
    preview: contract.Payload<contract.Shown>;
    /** The deciders of the call also decide whether the call runs again. */
    deciders?: contract.Deciders[] | undefined;
    confirm?: 'passkey' | undefined;
    edited_by?: string[] | undefined;
  },
): model.Transition {
  const waiting = parkedChange(run, 1);
  return {
    if: [...waiting.if, ...model.attemptRuns(step.id, step.attempt)],
    events: [
      {
        type: 'step.indeterminate',
        step_id: step.id,
        data: { attempt: step.attempt, reason: approval.reason, ...restoreAfter(step) },
      },
      {
        type: 'approval.requested',
        step_id: step.id,
        data: {
          approval_id: approval.id,
          kind: 'indeterminate',
          snapshot: run.snapshot ?? '',
          reason: approval.reason.message,
          risk: 'high',
          preview: approval.preview,
          deciders: approval.deciders,
          confirm: approval.confirm,
          edited_by: approval.edited_by,
          allowed_decisions: ['approve', 'respond', 'reject'],
          expires_at: approval.expiresAt,
        },
      },
      ...waiting.events,
    ],
  };
}

/** The worker of the attempt may only be frozen. If the attempt may have changed the tree, a new tree replaces the present tree. */
export const restoreAfter = (step: model.StepState): { restore?: true } => ({ restore: mayWrite(step) || undefined });
