import { defaultTenant, isSettled, isTerminal } from '@holdpoint/contract';
import type { WorkerDeps } from '../deps.ts';
import { isWaitingForModel, type RunState, runField, type StepState } from '../domain/index.ts';
import * as runLog from '../log/index.ts';
import { jobIds } from '../queues/queues.ts';
import { isDue } from './ensure-tasks.ts';
import { isWorkspaceDue } from './release-run.ts';

/**
 * The values that stay the same while nothing happens to a run: its sequence number, its jobs, and the index entries of its pending
 * approvals.
 * While they hold and nothing is due, the sweeper skips the run.
 */
interface IdleFacts {
  seq: number;
  /** Keys of jobs. */
  jobs: string[];
  /** Approval ids. `index` is the key of the approval index. */
  approvals: string[];
  index: string;
}

export interface Outlook {
  /** Undefined: the run may change at any time. */
  facts?: IdleFacts;
  /** When to look at the run again, milliseconds since the epoch. */
  next: number;
}

/** The least time between an append and a look: a wake-up may still be under way. */
const graceMs = 5000;
/** Time between two full looks at a parked run. Between two looks `findChanged` compares the facts behind the run's wake-ups. */
const restMs = 3 * 3_600_000;
/** Each look at a run with work to do doubles the time to the next look, up to this cap. */
const mostMs = 10 * 60_000;

/** When to look at a run again, judged by its present state. Undefined: the run leaves the index of active runs. */
export async function readOutlook(deps: WorkerDeps, runId: string): Promise<Outlook | undefined> {
  const now = deps.now();
  const [run, changedAt = now] = await Promise.all([
    runLog.readRun(deps.redis, runId),
    runLog.lastEventAt(deps.redis, runId),
  ]);
  // An entry without its append: `isAbandoned` decides.
  if (run === undefined) return { next: now + graceMs };
  if (isTerminal(run.status) && !isWorkspaceDue(run)) return undefined;
  const age = now - changedAt;
  // A time in the future comes from a wrong clock.
  if (age < graceMs) return { next: now + Math.min(graceMs, graceMs - Math.max(0, age)) };
  const found = await findNeeds(deps, run);
  const next = Math.min(found.due + graceMs, now + pause(run, age));
  return { facts: found.facts, next: Math.max(next, now + graceMs) };
}

/** Jitter spreads runs that were parked at the same time. */
const pause = (run: RunState, age: number): number =>
  isParked(run) ? restMs * (0.75 + Math.random() / 2) : Math.min(Math.max(graceMs, age / 2), mostMs);

/** No part of the run is running or waiting for a worker. A sub-agent is never parked: it also has to report to the run above. */
const isParked = (run: RunState): boolean =>
  run.parent === undefined &&
  (run.status === 'waiting' || run.status === 'paused' || run.publication === 'parked') &&
  run.open_tasks === 0 &&
  run.restore !== 'due';

async function findNeeds(deps: WorkerDeps, run: RunState): Promise<{ facts: IdleFacts; due: number }> {
  const { turns, steps, tasks, workspaces } = deps.queues;
  const jobs: string[] = [];
  const asked: string[] = [];
  const isOpen = (run.status === 'running' || run.status === 'waiting') && run.restore !== 'due';
  const turnJob = turns.toKey(jobIds.turn(run.id, run.turn + 1));
  if (run.status === 'queued') jobs.push(turnJob);
  if (isWorkspaceDue(run)) jobs.push(workspaces.toKey(jobIds.workspace(run.id)));
  if (run.publication === 'parked' && run.publish_approval !== undefined) asked.push(run.publish_approval);
  const dues: number[] = [];
  if (isOpen && run.open === 0 && run.awaits_calls !== undefined && run.closing === undefined) {
    dues.push(Date.parse(run.awaits_calls) + (await runLog.readSpec(deps, run)).limits.idle_s * 1000);
  } else if (isOpen && run.open === 0 && run.closing === undefined) jobs.push(turnJob);
  if (isOpen && isWaitingForModel(run)) dues.push(Date.parse(run.model_wait?.until ?? ''));
  if (isOpen && run.open > 0) {
    for (const step of await runLog.readTurnSteps(deps.redis, run)) {
      if (isSettled(step.status) || step.status === 'pending') continue;
      jobs.push(steps.toKey(jobIds.step(step.id)));
      if (isAsked(step)) asked.push(step.approval);
      if (step.deferred !== undefined) dues.push(Date.parse(step.deferred.until));
    }
  }
  if (run.open_tasks > 0 && run.status !== 'paused') {
    const due = (await runLog.readTasks(deps.redis, run.id)).filter((task) => isDue(run, task));
    jobs.push(...due.map((task) => tasks.toKey(jobIds.task(task.id))));
  }
  const approvals = await Promise.all(asked.map((id) => runLog.readApproval(deps.redis, run.id, id)));
  const pending = approvals.filter((one) => one?.status === 'pending');
  dues.push(...pending.map((one) => Date.parse(one?.request.expires_at ?? '')));
  return {
    facts: {
      ...{ seq: run.seq, jobs, approvals: pending.map((one) => one?.id ?? '') },
      index: runLog.approvalIndexOf(run.tenant ?? defaultTenant),
    },
    due: Math.min(Number.POSITIVE_INFINITY, ...dues.filter((due) => !Number.isNaN(due))),
  };
}

const isAsked = (step: StepState): step is StepState & { approval: string } =>
  (step.status === 'parked' || step.status === 'indeterminate') && step.approval !== undefined;

/** @returns the runs that changed since their last look, or lost a job or an approval's index entry. Runs without facts are not judged */
export async function findChanged({ redis }: Pick<WorkerDeps, 'redis'>, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const texts = await redis.hmget(runLog.idleFactsKey, ...ids);
  const known = ids.flatMap((id, at) => {
    const text = texts[at];
    return text == null ? [] : [{ id, facts: JSON.parse(text) as IdleFacts }];
  });
  const commands = known.flatMap(({ id, facts }) => [
    ['hget', runLog.stateKey(id), runField.seq.name],
    ...facts.jobs.map((key) => ['exists', key]),
    ...facts.approvals.map((approval) => ['zscore', facts.index, approval]),
  ]);
  const replies = ((await redis.pipeline(commands).exec()) ?? []).map(([error, reply]) => {
    if (error) throw error;
    return reply;
  });
  let from = 0;
  return known.flatMap(({ id, facts }) => {
    const asked = facts.jobs.length;
    const [seq, ...found] = replies.slice(from, from + 1 + asked + facts.approvals.length);
    from += 1 + found.length;
    const hasJobs = found.slice(0, asked).every((one) => one === 1);
    const isListed = found.slice(asked).every((one) => one !== null);
    return Number(seq) === facts.seq && hasJobs && isListed ? [] : [id];
  });
}
