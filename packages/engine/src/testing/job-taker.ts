import { type Job, type Queue, Worker } from 'bullmq';
import type { WorkerDeps } from '../deps.ts';
import { handleStep } from '../handlers/handle-step.ts';
import { handleTask } from '../handlers/handle-task.ts';
import { handleTurn } from '../handlers/handle-turn.ts';
import { handleWorkspace } from '../handlers/handle-workspace.ts';
import { wakeMissed } from '../handlers/wake-missed.ts';
import type { JobContext, JobEnd } from '../jobs/job.ts';
import { queuePrefix } from '../queues/queues.ts';
import { mayPublicationSleep, mayStillSleep, mayTurnSleep } from '../reconcile/may-still-sleep.ts';
import { calm, inOrder } from './deliver-all.ts';

export const queuesInOrder = ['turns', 'steps', 'workspaces', 'tasks'] as const;
export type QueueName = (typeof queuesInOrder)[number];

/** A job that a worker has: an add with its id is ignored until `end` is over. */
interface TakenJob {
  queue: QueueName;
  handle(deps: WorkerDeps): Promise<JobEnd>;
  end(deps: WorkerDeps, end: JobEnd): Promise<void>;
}

export interface JobTaker {
  /** Makes the next job of a queue active, or the next of any. */
  take(queue?: QueueName): Promise<TakenJob | undefined>;
  /** Delivers one job after the other until each has ended, or sleeps for long. */
  deliverRest(deps: WorkerDeps): Promise<void>;
  /** The same, until a job of this queue is next. */
  deliverUntil(deps: WorkerDeps, queue: QueueName): Promise<void>;
  close(): Promise<void>;
}

const token = 'test';
const longSleepMs = 60_000;
const mostDeliveries = 200;
/** A job that waits for what the test has stopped sleeps again and again. */
const mostNaps = 5;
const kindOf = { turns: 'turn', steps: 'step', workspaces: 'workspace', tasks: 'task' } as const;

/** Takes jobs from the queues as a worker does, and lets a test stop between the parts of a delivery. */
export function openJobTaker({ queues, redis }: Pick<WorkerDeps, 'queues' | 'redis'>): JobTaker {
  const options = { connection: redis, prefix: queuePrefix, autorun: false };
  const workers = queuesInOrder.map((name) => [name, new Worker(queues[name].name, null, options)] as const);

  const take = async (wanted?: QueueName): Promise<TakenJob | undefined> => {
    for (const [queue, worker] of workers) {
      if (wanted !== undefined && wanted !== queue) continue;
      const job = await worker.getNextJob(token, { block: false });
      if (job) return taken(queue, job);
    }
    return undefined;
  };
  return {
    take,
    async deliverRest(deps) {
      for (let [deliveries, naps] = [0, 0]; ; deliveries++) {
        if (deliveries > mostDeliveries) throw new Error('the run does not come to rest');
        const job = await take();
        if (job) await job.end(deps, await job.handle(deps));
        else if (naps++ === mostNaps || !(await wakeShortSleepers(queues))) return;
      }
    },
    async deliverUntil(deps, queue) {
      while ((await queues[queue].getWaitingCount()) + (await queues[queue].getPrioritizedCount()) === 0) {
        const job = await take();
        if (!job) return;
        await job.end(deps, await job.handle(deps));
      }
    },
    async close() {
      await Promise.all(workers.map(([, worker]) => worker.close()));
    },
  };
}

async function wakeShortSleepers(queues: WorkerDeps['queues']): Promise<boolean> {
  const all = await Promise.all(queuesInOrder.map((name) => (queues[name] as Queue).getDelayed()));
  const short = all.flat().filter((job) => job.delay < longSleepMs);
  await Promise.all(short.map((job) => job.promote()));
  return short.length > 0;
}

function taken(queue: QueueName, job: Job): TakenJob {
  let finishing: Promise<unknown> | undefined;
  return {
    queue,
    handle(deps) {
      const finish = () => {
        finishing ??= inOrder(deps, () => job.moveToCompleted(undefined, token, false));
      };
      return handle(deps, queue, job, { ...calm(), finish });
    },
    async end(deps, end) {
      if (end.kind === 'done') {
        await (finishing ?? job.moveToCompleted(undefined, token, false));
        if (end.seen !== undefined) await wakeMissed[kindOf[queue]](deps, job.data, end.seen);
        return;
      }
      await job.moveToDelayed(end.until, token);
      if (!(await maySleep(deps, queue, job, end))) await job.promote();
    },
  };
}

function handle(deps: WorkerDeps, queue: QueueName, { data }: Job, context: JobContext): Promise<JobEnd> {
  switch (queue) {
    case 'turns':
      return handleTurn(deps, data, context);
    case 'steps':
      return handleStep(deps, data, context);
    case 'workspaces':
      return handleWorkspace(deps, data, context);
    case 'tasks':
      return handleTask(deps, data, context);
    default:
      return queue satisfies never;
  }
}

async function maySleep(deps: WorkerDeps, queue: QueueName, { data }: Job, end: { seen?: number }): Promise<boolean> {
  if (queue === 'turns') return mayTurnSleep(deps, data, end);
  if (queue === 'steps') return mayStillSleep(deps, data);
  return queue !== 'workspaces' || mayPublicationSleep(deps, data);
}
