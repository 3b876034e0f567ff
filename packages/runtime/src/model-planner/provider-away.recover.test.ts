import type { RunSpec } from '@holdpoint/contract';
import { inMemoryWorker, readLog, readRun, specOf, startTestEngine, submitRun } from '@holdpoint/engine/testing';
import { handleTurn, type Planner } from '@holdpoint/engine/worker';
import { type ModelAnswer, ModelError } from '@holdpoint/models';
import { expect, test } from 'vitest';
import { openModelGate } from '../model-gate/model-gate.ts';
import { openVirtualTime } from '../testing/virtual-time.ts';
import { askPatiently } from './after-failure.ts';

const second = 1000;
const hour = 3600 * second;
const runs = 100;
const spec: RunSpec = { ...specOf([[{ args: {} }]]), goal: { planner: 'model', model: 'openai/m', prompt: 'work' } };
const account = { provider: 'openai', digest: 'one' };

test('a provider that is away for six hours costs nothing, and 100 runs continue without a stampede', async () => {
  const engine = await startTestEngine();
  const start = Date.now();
  const time = openVirtualTime(start);
  const opensAt = start + 6 * hour;
  /** When the job of each run is due. */
  const schedule = new Map<string, number>();
  const wake = async ({ runId }: { runId: string }) => {
    if (schedule.has(runId)) schedule.set(runId, time.now());
  };
  // No jitter, so that a run comes back as early as it may.
  const random = () => 0;
  const gate = openModelGate({
    redis: engine.deps.redis,
    rates: {},
    wake,
    logger: engine.deps.logger,
    now: time.now,
    random,
  });
  const asked: { at: number; runId: string; atOnce: number }[] = [];
  let atOnce = 0;
  const request = async (runId: string): Promise<ModelAnswer> => {
    atOnce += 1;
    asked.push({ at: time.now(), runId, atOnce });
    await time.sleep(2 * second);
    atOnce -= 1;
    if (time.now() >= opensAt) return { text: 'done' } as ModelAnswer;
    throw new ModelError({ code: 'EMODELUNAVAILABLE', message: 'away', next: '', status: 503 });
  };
  const asking = { gate, accountOf: () => account, now: time.now, random };
  const model: Planner = {
    async next(input, signal) {
      const given = await askPatiently(asking, input, () => request(input.runId), signal);
      return 'decision' in given ? given.decision : { kind: 'finish', message: 'done', answer: 'done' };
    },
  };
  const { deps: inMemory } = inMemoryWorker(engine);
  const deps = { ...inMemory, now: time.now, planners: { ...inMemory.planners, model } };
  try {
    const ids: string[] = [];
    for (let n = 0; n < runs; n++) ids.push((await submitRun(deps, { spec, by: 'test' })).runId);
    for (const id of ids) schedule.set(id, start);
    const context = { signal: new AbortController().signal, lastTry: false };
    await time.run(
      () => (schedule.size === 0 ? undefined : Math.min(...schedule.values())),
      () => {
        for (const [run_id, at] of schedule) {
          if (at > time.now()) continue;
          // While the job runs it is not asleep: a wake-up of its own id is lost.
          schedule.delete(run_id);
          void time.during(async () => {
            const end = await handleTurn(deps, { run_id, turn: 1 }, context);
            if (end.kind === 'sleep') schedule.set(run_id, end.until);
          });
        }
      },
      () => false,
    );

    const all = await Promise.all(ids.map((id) => readRun(deps.redis, id)));
    expect(all.map((run) => run?.status)).toEqual(ids.map(() => 'succeeded'));
    const away = asked.filter(({ at }) => at < opensAt);
    // 100 that found out at once, and then one at a time, each five minutes at most.
    expect(away.filter(({ at }) => at > start).every(({ atOnce }) => atOnce === 1)).toBe(true);
    expect(away.length - runs).toBeLessThan(6 * 30);
    expect(away.length - runs).toBeGreaterThan(6 * 11);
    const active = all.map((run) => run?.active_ms ?? 0);
    expect(Math.max(...active)).toBeLessThan(10 * second);

    const after = asked.filter(({ at }) => at >= opensAt - 2 * second);
    const waves = [...Map.groupBy(after, ({ at }) => at).values()].map((wave) => wave.length);
    expect(waves.slice(0, 5)).toEqual([1, 2, 4, 8, 16]);
    expect(Math.max(...after.map((one) => one.atOnce))).toBeLessThanOrEqual(64);
    // It was over within minutes, most of them of waiting for the first.
    expect((asked.at(-1)?.at ?? 0) - opensAt).toBeLessThan(6 * 60 * second);
    const sizes = await Promise.all(ids.map(async (id) => (await readLog(deps.redis, id, { limit: 10_000 })).length));
    expect(Math.max(...sizes)).toBeLessThan(200);
  } finally {
    await engine.stop();
  }
});
