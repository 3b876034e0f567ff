import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient } from '@holdpoint/client/client';
import { afterEach, beforeEach, expect, test } from 'vitest';
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

test.each(['unlinked', 'mapped', 'in-flight', 'reserved', 'closed', 'named'])(
  'a command that fills the disk is killed before Redis meets a full one: %s',
  async (way) => {
    if (disk === undefined) return;
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
    const [step] = (await client.listSteps(run.id)).data;
    console.log(way, ended.status, ended.reason, step?.status, step?.error, Math.round(least / mebibyte), Math.round(disk.free()/mebibyte), before, redisPid(dataDir));
    await client.close();
  },
);
