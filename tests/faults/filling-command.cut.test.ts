import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient } from '@holdpoint/client/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { whyNoDisk } from '../harness/disk.ts';
import { projectDir } from '../harness/processes.ts';
import { bash, finished, plan } from '../harness/runs.ts';
import { mountSmallDisk, type SmallDisk } from '../harness/small-disk.ts';
import { until } from '../harness/until.ts';

const mebibyte = 1024 * 1024;
const floor = 96 * mebibyte;
const program = readFileSync(new URL('../harness/fill-disk.py', import.meta.url), 'utf8');

let disk: SmallDisk | undefined;
let up: ChildProcess | undefined;
beforeEach(async () => {
  disk = await mountSmallDisk(300);
});
afterEach(async () => {
  if (up !== undefined && up.exitCode === null) {
    const gone = once(up, 'exit');
    up.kill('SIGTERM');
    await gone;
  }
  up = undefined;
  await disk?.[Symbol.asyncDispose]();
});

async function startUp(dataDir: string) {
  up = spawn(process.execPath, [join(projectDir, 'apps/cli/src/main.ts'), 'up', '--json'], {
    // Settings of a user reach no test.
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      NODE_COMPILE_CACHE: join(projectDir, '.cache/compiled'),
      HOLDPOINT_DATA: dataDir,
      HOLDPOINT_PORT: '0',
      HOLDPOINT_FREE_BYTES: String(floor),
      HOLDPOINT_RESERVE_BYTES: String(16 * mebibyte),
      HOLDPOINT_SWEEP_MS: '1000',
      HOLDPOINT_DRAIN_MS: '500',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(createInterface({ input: up.stdout as NonNullable<typeof up.stdout> }), 'line');
  const { address, key_file } = JSON.parse(String(line)) as { address: string; key_file: string };
  return createClient({ baseUrl: address, key: readFileSync(key_file, 'utf8').trim() });
}

/** Another start of it would change this. */
const redisPid = (dataDir: string): number => Number(readFileSync(join(dataDir, 'redis/server.pid'), 'utf8').trim());

const whyNot = await whyNoDisk();

test.skipIf(whyNot !== undefined).each(['mapped', 'in-flight', 'reserved', 'closed', 'named'])(
  `a command that fills the disk is killed before Redis meets a full one: %s${whyNot === undefined ? '' : ` (not run: ${whyNot})`}`,
  async (way) => {
    if (disk === undefined) throw new Error('no disk');
    const dataDir = join(disk.directory, 'data');
    const client = await startUp(dataDir);
    const before = redisPid(dataDir);
    let least = disk.free();
    const looking = setInterval(() => {
      least = Math.min(least, disk?.free() ?? 0);
    }, 1);
    const fill = bash(`exec /usr/bin/python3 -c '${program}' ${way}`);
    const { run } = await client.createRun({ plan: plan([fill]) });
    const ended = await finished(client, run.id);
    clearInterval(looking);
    expect(ended).toMatchObject({ status: 'failed' });
    const [step] = (await client.listSteps(run.id)).data;
    expect(step).toMatchObject({
      status: 'failed',
      error: { code: 'EQUOTA', message: expect.stringContaining(`fell towards ${floor} bytes`) },
    });
    // Where the files have names, their snapshot may find too little room, and then the command is run again.
    if (way !== 'named' && way !== 'closed') expect(step?.attempts).toBe(1);
    expect(least).toBeGreaterThan(0);
    expect(redisPid(dataDir)).toBe(before);

    // What it wrote under a name is still there, and a person removes it.
    await client.discard(run.id);
    await until('work is taken again', () =>
      client.ready().then(
        () => true,
        () => false,
      ),
    );
    const next = await client.createRun({ plan: plan([bash('echo well')]) });
    expect(await finished(client, next.run.id)).toMatchObject({ status: 'succeeded' });
    expect(redisPid(dataDir)).toBe(before);
    await client.close();
  },
);
