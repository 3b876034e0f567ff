import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startTestRedis } from '@holdpoint/embedded-redis/testing';
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { submitRun } from '../../commands/submit-run.ts';
import { formatKey, idleFactsKey, installationKey, lookIndex, stateKey } from '../../log/keys.ts';
import { readAll } from '../../log/read-state.ts';
import { asFormat1 } from '../../testing/as-format-1.ts';
import { deliverAll, inMemoryWorker, specOf } from '../../testing/index.ts';
import { useTestEngine } from '../../testing/use-test-engine.ts';
import { checkFormat } from '../check-format.ts';
import { readInstallation } from '../record.ts';
import { dataFormat } from './migrations.ts';

const program = fileURLToPath(new URL('../../testing/migrate-until-killed.ts', import.meta.url));
const engine = useTestEngine();
const id = '0123abcd-0000-4000-8000-000000000000';
const write = { args: { effect: 'workspace' } };
type Image = Map<string, Buffer>;

async function imageOf(redis: Redis): Promise<Image> {
  const image: Image = new Map();
  for (const key of (await redis.keys('*')).sort()) {
    const value = await redis.dumpBuffer(key);
    if (value !== null) image.set(key, value);
  }
  return image;
}

async function restore(redis: Redis, image: Image): Promise<void> {
  await redis.flushall();
  for (const [key, value] of image) await redis.restore(key, 0, value);
}

/** Two runs in format 1, one of them with a held call. */
async function writeFormat1(): Promise<{ runs: string[]; states: Record<string, string>[] }> {
  const { deps } = inMemoryWorker(engine);
  const { redis } = deps;
  const policy = { rules: [{ match: { tool: 'count' }, action: 'hold' as const }] };
  const submitted = [
    await submitRun(deps, { spec: specOf([[write, write], [write]]), by: 'test' }),
    await submitRun(deps, { spec: specOf([[write]], { policy }), by: 'test' }),
  ];
  await deliverAll(deps);
  const runs = submitted.map(({ runId }) => runId);
  const states = await Promise.all(runs.map((run) => readAll(redis, run)));
  for (const [at, run] of runs.entries()) {
    await redis.del(stateKey(run));
    await redis.hset(stateKey(run), asFormat1(states[at] ?? {}));
  }
  await redis.del(
    ...(await redis.keys('hp:{runs:*')),
    ...(await redis.keys('hp:{approvals:*')),
    lookIndex,
    idleFactsKey,
  );
  await redis.mset(installationKey, id, formatKey, '{"data_format":1}');
  return { runs, states };
}

test('a migration that is killed before any of its writes continues, and the data is whole', async () => {
  const { runs, states } = await writeFormat1();
  const dataDir = mkdtempSync(join(tmpdir(), 'hp-killed-'));
  const server = await startTestRedis(dataDir);
  const redis = new Redis(server.path);
  const before = await imageOf(engine.deps.redis);
  const state = () => readInstallation({ redis, dataDir });
  /** @param n the process dies before this write; 0: never */
  const migrateUntil = async (n: number): Promise<string> => {
    const child = spawn(process.execPath, [program, server.path, dataDir, String(n)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code, signal] = await once(child, 'exit');
    const left = async () => String(await redis.client('LIST'));
    await expect.poll(left, { timeout: 30_000 }).not.toContain(' name=holdpoint:');
    return signal ?? String(code);
  };
  const begin = async (): Promise<void> => {
    await restore(redis, before);
    writeFileSync(join(dataDir, 'installation'), JSON.stringify({ id, data_format: 1 }));
  };
  try {
    await begin();
    expect(await migrateUntil(0)).toBe('0');
    const whole = await imageOf(redis);
    expect(await Promise.all(runs.map((run) => readAll(redis, run)))).toEqual(states);

    let kills = 0;
    for (let n = 1; ; n += process.env.HOLDPOINT_CRASH === 'full' ? 1 : 3) {
      await begin();
      if ((await migrateUntil(n)) !== 'SIGKILL') break;
      kills += 1;
      const found = await state();
      expect(() => checkFormat(found)).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^format_(older|unfinished)$/) }),
      );
      expect(await migrateUntil(0)).toBe('0');
      checkFormat(await state());
      expect((await state()).dataDir).toMatchObject({ id, format: { data_format: dataFormat } });
      const after = await imageOf(redis);
      expect([...after.keys()]).toEqual([...whole.keys()]);
      expect(await Promise.all(runs.map((run) => readAll(redis, run)))).toEqual(states);
    }
    expect(kills).toBeGreaterThan(5);
  } finally {
    redis.disconnect();
    await server.stop();
    rmSync(dataDir, { recursive: true });
  }
}, 600_000);
