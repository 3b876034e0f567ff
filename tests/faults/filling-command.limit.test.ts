import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  bash,
  finished,
  mountSmallDisk,
  plan,
  readiness,
  type SmallDisk,
  startUp,
  type Up,
  until,
  whyNoDisk,
} from '../harness/index.ts';

const mebibyte = 1024 * 1024;
const floor = 96 * mebibyte;
const program = readFileSync(new URL('../harness/fill-disk.py', import.meta.url), 'utf8');

let disk: SmallDisk | undefined;
let up: Up | undefined;
let sampling: NodeJS.Timeout | undefined;
beforeEach(async () => {
  disk = await mountSmallDisk(300);
});
afterEach(async () => {
  clearInterval(sampling);
  await up?.[Symbol.asyncDispose]();
  up = undefined;
  await disk?.[Symbol.asyncDispose]();
});

/** A restart of Redis changes this. */
const redisPid = (dataDir: string): number => Number(readFileSync(join(dataDir, 'redis/server.pid'), 'utf8').trim());

const whyNot = await whyNoDisk();

test.skipIf(whyNot !== undefined).each(['mapped', 'in-flight', 'reserved', 'closed', 'named'])(
  `a command that fills the disk is killed before the disk is full: %s${whyNot === undefined ? '' : ` (not run: ${whyNot})`}`,
  async (way) => {
    if (disk === undefined) throw new Error('no disk');
    const dataDir = join(disk.directory, 'data');
    up = await startUp(dataDir, {
      HOLDPOINT_FREE_BYTES: String(floor),
      HOLDPOINT_RESERVE_BYTES: String(16 * mebibyte),
    });
    const { client } = up;
    const before = redisPid(dataDir);
    let least = disk.free();
    sampling = setInterval(() => {
      least = Math.min(least, disk?.free() ?? 0);
    }, 1);
    const fill = bash(`exec /usr/bin/python3 -c '${program}' ${way}`);
    const { run } = await client.createRun({ plan: plan([fill]) });
    const ended = await finished(client, run.id);
    clearInterval(sampling);
    expect(ended).toMatchObject({ status: 'failed' });
    const [step] = (await client.listSteps(run.id)).data;
    expect(step).toMatchObject({
      status: 'failed',
      error: { code: 'EQUOTA', message: expect.stringContaining(`fell towards ${floor} bytes`) },
    });
    // With named files the snapshot may lack space, and then the command runs again.
    if (way !== 'named' && way !== 'closed') expect(step?.attempts).toBe(1);
    expect(least).toBeGreaterThan(0);
    expect(redisPid(dataDir)).toBe(before);

    // The named files are still there; a person removes them.
    await client.discard(run.id);
    await until('the API is ready', async () => (await readiness(client)) === 'ready');
    const next = await client.createRun({ plan: plan([bash('echo well')]) });
    expect(await finished(client, next.run.id)).toMatchObject({ status: 'succeeded' });
    expect(redisPid(dataDir)).toBe(before);
    await client.close();
  },
);
