import type { CapabilityReport } from '@holdpoint/contract';
import { type Ceilings, type OperatorPolicyStatus, workerIndex, workerKey } from '@holdpoint/engine';
import type { WorkerDeps } from '@holdpoint/engine/worker';
import type { LoopWatch } from '@holdpoint/telemetry';
import type { LoadedModule } from '@holdpoint/tools';
import type { RunningWorkers } from './jobs/queue-workers.ts';

const every = 5000;
const lifetimeSeconds = 15;

interface Heartbeat {
  host: string;
  version: string;
  concurrency: number;
  /** Most jobs of each kind at once, and the worker's number of places for runs in progress. */
  slots: { steps: number; tasks: number; turns: number; runs: number };
  capabilities: CapabilityReport;
  /** As they are now: the operator's policy changes while the worker runs. */
  bounds(): OperatorPolicyStatus & {
    source_roots: string[];
    publish_roots: string[];
    git_hosts: string[];
    tool_modules: LoadedModule[];
  };
  retention: { days: number | null; runs: number | null };
  ceilings: Ceilings;
  /** Address for scraping the worker's metrics; null: the metrics are not scraped. */
  metrics: string | null;
  workers: RunningWorkers;
  loop: Pick<LoopWatch, 'worst'>;
}

/** Writes a heartbeat every five seconds. The worker counts as gone 15 s after its last heartbeat. */
export async function startHeartbeat(deps: WorkerDeps, about: Heartbeat): Promise<{ stop(): Promise<void> }> {
  const startedAt = new Date(deps.now()).toISOString();
  const beat = async (): Promise<void> => {
    const { workers, loop, bounds, ...rest } = about;
    const text = JSON.stringify({
      id: deps.workerId,
      pid: process.pid,
      started_at: startedAt,
      active: [...workers.active()],
      running: workers.running(),
      stuck: workers.slots().reduce((sum, { stuck }) => sum + stuck, 0),
      loop: loop.worst(),
      bounds: bounds(),
      ...rest,
    });
    await deps.redis.set(workerKey(deps.workerId), text, 'EX', lifetimeSeconds);
    await deps.redis.zadd(workerIndex, deps.now(), deps.workerId);
    await deps.redis.zremrangebyscore(workerIndex, '-inf', deps.now() - 3_600_000);
  };
  await beat();
  const timer = setInterval(() => {
    beat().catch((error: unknown) => deps.logger.warn({ err: error }, 'heartbeat not sent'));
  }, every);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await deps.redis.del(workerKey(deps.workerId));
      await deps.redis.zrem(workerIndex, deps.workerId);
    },
  };
}
