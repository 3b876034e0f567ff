import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEngine, queueNames } from '@holdpoint/engine';
import { inMemoryWorker, listSteps, specOf, startTestEngine } from '@holdpoint/engine/testing';
import { queuePrefix, type WorkerDeps } from '@holdpoint/engine/worker';
import { expect, test } from 'vitest';
import { startQueueWorkers } from './queue-workers.ts';

test('the lock of a workspace job lives twice as long as the lock of a turn', async () => {
  const engine = await startTestEngine();
  const { deps } = inMemoryWorker(engine);
  const { redis } = deps;
  const lockMs = 100_000;
  /** Milliseconds for which the lock of the only job of a queue still lives. */
  const lockLeft = async (queue: string): Promise<number> => {
    const [lock = '', ...others] = await redis.keys(`${queuePrefix}:${queue}:*:lock`);
    expect(others).toEqual([]);
    return redis.pttl(lock);
  };
  const seen = Promise.withResolvers<{ turn: number; workspace: number }>();
  let turn = 0;
  const workspaces: WorkerDeps['workspaces'] = {
    ...deps.workspaces,
    materialise: async (input) => {
      turn = await lockLeft(queueNames.turns);
      return deps.workspaces.materialise(input);
    },
    discard: async (runId) => {
      seen.resolve({ turn, workspace: await lockLeft(queueNames.workspaces) });
      return deps.workspaces.discard(runId);
    },
  };
  const dataDir = mkdtempSync(join(tmpdir(), 'holdpoint-queue-workers-'));
  const opened = [redis.duplicate(), redis.duplicate({ maxRetriesPerRequest: null })] as const;
  const [subscriber, worker] = opened;
  const config = {
    ...{ steps: 1, turns: 1, runs: 2, tasks: 1, lockMs, stalledMs: 60_000 },
    sweepMs: 60_000,
    maintenanceMs: 60_000,
    dataDir,
  };
  const connections = { state: redis, subscriber, worker: () => worker, close: async () => {} };
  const workers = await startQueueWorkers({ deps: { ...deps, workspaces }, config, connections });
  try {
    const { runs, publications } = openEngine(deps).as({ name: 'ann', kind: 'person', tenant: 'default' });
    const { runId } = await runs.submit({ spec: specOf([[{ args: { effect: 'read' } }]]) });
    await expect.poll(async () => (await listSteps(deps, runId)).run.status, { timeout: 60_000 }).toBe('succeeded');
    await publications.discard(runId);
    const left = await seen.promise;
    expect(left.turn).toBeGreaterThan(0);
    expect(left.turn).toBeLessThanOrEqual(lockMs);
    expect(left.workspace).toBeGreaterThan(lockMs);
  } finally {
    await workers.drain(10_000);
    for (const connection of opened) connection.disconnect();
    await engine.stop();
    rmSync(dataDir, { recursive: true });
  }
});
