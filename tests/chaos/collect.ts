import type { Client } from '@holdpoint/client';
import type { LoggedEvent } from '@holdpoint/contract';
import type { ApprovalState, Queues, RunState, StepState, TaskState } from '@holdpoint/engine';
import {
  activeIndex,
  approvalIndex,
  idsAfter,
  parseAllApprovals,
  parseAllSteps,
  parseAllTasks,
  parseRun,
  readAll,
  readRun,
  readWholeLog,
  runIndex,
} from '@holdpoint/engine/testing';
import type { Redis } from 'ioredis';

/** A run after all faults. */
export interface FoundRun {
  run: RunState;
  events: LoggedEvent[];
  /** The state hash in Redis. */
  hash: Record<string, string>;
  steps: StepState[];
  approvals: ApprovalState[];
  tasks: TaskState[];
  /** Arguments of each step, large ones included. */
  args: Map<string, unknown>;
  /** The count of each mark in the files of the final snapshot. */
  marks: Map<string, number>;
  /** Why these files cannot be read. */
  unreadable?: string;
}

export interface Found {
  runs: Map<string, FoundRun>;
  /** Remaining jobs. */
  jobs: { queue: string; id: string; runId: string | undefined; state: string }[];
  active: string[];
  /** Ids in the list of open approvals. */
  listed: string[];
}

interface Deps {
  client: Client;
  redis: Redis;
  queues: Queues;
}

const mostTimes = 5;

/**
 * Reads every run, the jobs and the indexes. They belong to the same moment only when no run has moved during the read, so the read is
 * repeated until none has.
 */
export async function collect(deps: Deps): Promise<Found> {
  for (let times = 1; ; times++) {
    const found = await collectOnce(deps);
    if (times === mostTimes || (await isStill(deps, found))) return found;
  }
}

async function isStill({ redis }: Deps, { runs }: Found): Promise<boolean> {
  const now = await Promise.all([...runs].map(([id]) => readRun(redis, id)));
  return [...runs.values()].every(({ run }, place) => now[place]?.seq === run.seq);
}

async function collectOnce(deps: Deps): Promise<Found> {
  const runs = new Map<string, FoundRun>();
  for (const id of await idsAfter(deps.redis, runIndex, undefined, 100_000)) {
    const found = await collectRun(deps, id);
    if (found) runs.set(id, found);
  }
  const idsIn = (index: string): Promise<string[]> => idsAfter(deps.redis, index, undefined, 100_000);
  return {
    runs,
    jobs: await jobsOf(deps.queues),
    active: await idsIn(activeIndex),
    listed: await idsIn(approvalIndex),
  };
}

async function collectRun({ client, redis }: Deps, id: string): Promise<FoundRun | undefined> {
  const hash = await readAll(redis, id);
  const run = parseRun(id, hash);
  if (!run) return undefined;
  const events: LoggedEvent[] = [];
  for await (const event of readWholeLog(redis, id)) events.push(event);
  const steps = parseAllSteps(hash);
  const args = new Map<string, unknown>();
  for (const step of steps) {
    args.set(step.id, 'json' in step.args ? step.args.json : (await client.getStep(step.id)).args);
  }
  const files = run.snapshot === undefined ? { marks: new Map() } : await readMarks(client, id);
  return { run, events, hash, steps, args, approvals: parseAllApprovals(hash), tasks: parseAllTasks(hash), ...files };
}

const readMarks = (client: Client, id: string): Promise<Pick<FoundRun, 'marks' | 'unreadable'>> =>
  marksOf(client, id).then(
    (marks) => ({ marks }),
    (error: unknown) => ({ marks: new Map(), unreadable: error instanceof Error ? error.message : String(error) }),
  );

async function marksOf(client: Client, runId: string): Promise<Map<string, number>> {
  const marks = new Map<string, number>();
  const add = (mark: string): void => void marks.set(mark, (marks.get(mark) ?? 0) + 1);
  for (const { path } of await client.listFiles(runId)) {
    const [, written] = /^file_(m\d+-\d+)$/.exec(path) ?? [];
    if (written !== undefined) add(written);
    if (!/^(counter|background|merged)_/.test(path)) continue;
    const chunks: Uint8Array[] = [];
    for await (const chunk of await client.readFile(runId, { path })) chunks.push(chunk);
    for (const line of Buffer.concat(chunks).toString().split('\n')) if (line !== '') add(line);
  }
  return marks;
}

async function jobsOf(queues: Queues): Promise<Found['jobs']> {
  const found: Found['jobs'] = [];
  for (const queue of [queues.turns, queues.steps, queues.workspaces, queues.tasks]) {
    for (const job of await queue.getJobs(['waiting', 'prioritized', 'active', 'delayed', 'failed', 'completed'])) {
      if (!job) continue;
      found.push({ queue: queue.name, id: String(job.id), runId: job.data.run_id, state: await job.getState() });
    }
  }
  return found;
}
