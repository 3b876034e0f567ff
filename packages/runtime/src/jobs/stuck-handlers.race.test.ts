import { openEngine, queueNames } from '@holdpoint/engine';
import { inMemoryWorker, specOf, startTestEngine } from '@holdpoint/engine/testing';
import { type handleTurn, queuePrefix, type TurnJob } from '@holdpoint/engine/worker';
import { expect, test } from 'vitest';
import { openWorker } from './open-worker.ts';
import { HandlerStuck, mostStuck, StuckHandlers } from './stuck-handlers.ts';

const soon = { ticks: 3, tickMs: 50 };

test.each(['canceled', 'lock-lost'] as const)(
  'a handler that ignores the abort "%s" gives its place back',
  async (reason) => {
    const engine = await startTestEngine();
    const { deps } = inMemoryWorker(engine);
    const logged: object[] = [];
    const logger = { ...deps.logger, error: (fields: object) => void logged.push(fields) };
    const { runs } = openEngine(deps).as({ name: 'ann', kind: 'person', tenant: 'default' });
    const spec = specOf([[{ args: { effect: 'read' } }]]);
    const { runId: first } = await runs.submit({ spec });
    const begun: string[] = [];
    const never = Promise.withResolvers<void>();
    const [entered, again, other] = [0, 1, 2].map(() => Promise.withResolvers<void>());
    const kind = {
      wakeMissed: async () => {},
      async handle(_deps: unknown, { run_id }: TurnJob, _context: Parameters<typeof handleTurn>[2]) {
        begun.push(run_id);
        if (begun.length === 1) {
          entered?.resolve();
          await never.promise;
        }
        if (run_id === first && begun.length > 1) again?.resolve();
        if (run_id !== first) other?.resolve();
        return { kind: 'done' } as const;
      },
    };
    const counts: number[] = [];
    const stuck = new StuckHandlers((count) => counts.push(count), soon);
    const connection = deps.redis.duplicate({ maxRetriesPerRequest: null });
    const options = { connection, prefix: queuePrefix, lockDuration: 400, stalledInterval: 100, maxStalledCount: 100 };
    const turns = openWorker<TurnJob>({ ...deps, logger }, queueNames.turns, kind, {
      ...options,
      concurrency: 1,
      stuck,
    });
    // The handler of a lost job ends with an error of the queue.
    turns.worker.on('error', () => {});
    try {
      await entered?.promise;
      // The only place is taken.
      await runs.submit({ spec });
      const [job] = turns.running;
      if (reason === 'lock-lost') await deps.redis.del(turns.worker.toKey(`${job?.id}:lock`));
      else turns.worker.cancelJob(String(job?.id), reason);
      if (reason === 'lock-lost')
        turns.worker.on('lockRenewalFailed', (ids) => ids.map((id) => turns.worker.cancelJob(id, reason)));
      await Promise.all([again?.promise, other?.promise]);
      expect(counts).toEqual([1]);
      expect(stuck.count).toBe(1);
      expect(logged).toMatchObject([{ event: 'handler_stuck', run_id: first, reason }]);
      never.resolve();
      await expect.poll(() => stuck.count).toBe(0);
      await expect.poll(() => deps.redis.exists(turns.worker.toKey(String(job?.id)))).toBe(0);
    } finally {
      await turns.worker.close();
      connection.disconnect();
      await engine.stop();
    }
  },
);

test('a handler that returns in time, or fails, or is not aborted, is not stuck', async () => {
  const stuck = new StuckHandlers(undefined, soon);
  const aborting = new AbortController();
  const gate = Promise.withResolvers<string>();
  const settled = stuck.settle(gate.promise, aborting.signal);
  aborting.abort('canceled');
  gate.resolve('returned');
  expect(await settled).toBe('returned');
  await expect(stuck.settle(Promise.reject(new Error('failed')), aborting.signal)).rejects.toThrow('failed');
  const slow = Promise.withResolvers<string>();
  const calm = stuck.settle(slow.promise, new AbortController().signal);
  await new Promise((resolve) => setTimeout(resolve, 2 * soon.ticks * soon.tickMs));
  slow.resolve('slow');
  expect(await calm).toBe('slow');
  expect(stuck.count).toBe(0);
});

test('a late failure of a stuck handler is no unhandled rejection', async () => {
  const stuck = new StuckHandlers(undefined, soon);
  const gate = Promise.withResolvers<void>();
  await expect(stuck.settle(gate.promise, AbortSignal.abort('canceled'))).rejects.toBeInstanceOf(HandlerStuck);
  gate.reject(new Error('late'));
  await expect.poll(() => stuck.count).toBe(0);
});

test('a worker bears a quarter of the places of a queue, and at least one stuck handler', () => {
  expect([1, 4, 16].map(mostStuck)).toEqual([2, 2, 4]);
});
