import { ApiError, type Client } from '@holdpoint/client';
import type { Queue, Worker } from '@holdpoint/contract/wire';

/** A present job of a worker. A null field belongs to another tenant, or is unknown. */
export interface RunningJob {
  host: string;
  worker: string;
  run_id: string;
  title: string | null;
  /** The cost of the run so far, its sub-agents included. */
  cost_usd: number | null;
  /** When the run began. */
  run_started_at: string | null;
  kind: 'step' | 'task' | 'turn' | 'workspace';
  /** The id of the step or task. */
  id: string | null;
  /** The tool of a step, the title of a task, the number of a turn. */
  what: string | null;
  attempt: number | null;
  started_at: string | null;
}

export interface Top {
  workers: {
    id: string;
    host: string;
    slots: { steps: number; tasks: number; turns: number };
    used: { steps: number; tasks: number; turns: number };
    loop_late_ms: number | null;
  }[];
  running: RunningJob[];
  /** Jobs in wait for a worker, and steps in wait for a decision or a time. */
  queues: { name: string; waiting: number; parked: number }[];
  /** Active runs by their status. */
  runs: Record<string, number>;
}

type Source = Pick<Client, 'listWorkers' | 'listQueues' | 'stuck' | 'getRun' | 'getStep' | 'getTask'>;

/** The present jobs. Each worker reports its jobs every five seconds. */
export async function readTop(client: Source): Promise<Top> {
  const [workers, queues, { runs }] = await Promise.all([client.listWorkers(), client.listQueues(), client.stuck()]);
  const all = workers.flatMap((worker) => (worker.running ?? []).map((job) => read(worker, job)));
  return {
    workers: workers.map(aboutWorker),
    running: await withRuns(client, await Promise.all(all.map((job) => describe(client, job)))),
    queues: queues.map(({ name, backlog, parked }: Queue) => ({ name, waiting: backlog, parked })),
    runs,
  };
}

function aboutWorker({ id, host, concurrency, slots, running = [], loop }: Worker): Top['workers'][number] {
  const used = (kind: RunningJob['kind']) => running.filter((job) => kindOf(job) === kind).length;
  return {
    ...{ id, host, slots: slots ?? { steps: concurrency, tasks: 0, turns: 0 } },
    used: { steps: used('step'), tasks: used('task'), turns: used('turn') },
    loop_late_ms: loop?.late_ms ?? null,
  };
}

const partOf = (job: string): string => job.slice(job.indexOf('/') + 1);

function kindOf(job: string): RunningJob['kind'] {
  const part = partOf(job);
  if (part.startsWith('step_')) return 'step';
  if (part.startsWith('task_')) return 'task';
  return part.startsWith('turn') ? 'turn' : 'workspace';
}

function read({ id: worker, host }: Worker, job: string): RunningJob {
  const [run_id = ''] = job.split('/', 1);
  const kind = kindOf(job);
  const part = partOf(job);
  const isNamed = kind === 'step' || kind === 'task';
  const rest = { attempt: null, started_at: null, title: null, cost_usd: null, run_started_at: null };
  return { host, worker, run_id, kind, id: isNamed ? part : null, what: isNamed ? null : part, ...rest };
}

async function describe(client: Source, job: RunningJob): Promise<RunningJob> {
  if (job.id === null) return job;
  try {
    if (job.kind === 'task') {
      const { title, started_at } = await client.getTask(job.id);
      return { ...job, what: title, started_at };
    }
    const { tool, attempts, started_at } = await client.getStep(job.id);
    return { ...job, what: tool, attempt: attempts, started_at };
  } catch (error) {
    // Steps of another tenant are unknown to this key.
    if (error instanceof ApiError) return job;
    throw error;
  }
}

/** Each run is read once. A run of another tenant keeps its id alone. */
async function withRuns(client: Source, jobs: readonly RunningJob[]): Promise<RunningJob[]> {
  const ids = [...new Set(jobs.map(({ run_id }) => run_id))];
  const runs = new Map(await Promise.all(ids.map(async (id) => [id, await readRun(client, id)] as const)));
  return jobs.map((job) => ({ ...job, ...runs.get(job.run_id) }));
}

async function readRun(client: Source, id: string) {
  try {
    const { title, usage, started_at } = await client.getRun(id);
    return { title, cost_usd: usage.cost_usd, run_started_at: started_at };
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
