import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { type Disk, openDisk, whyNoDisk } from '../harness/disk.ts';
import type { Verdict } from '../harness/verdict.ts';
import { acknowledgedEvents, nextStepSees, publishedResults, recordedSnapshots, results } from './checks/kept.ts';
import { freeze, killAll } from './freeze.ts';
import { recover } from './recover.ts';
import { makeSources } from './sources.ts';
import { bringToStages, firstRun } from './stages.ts';
import { type Starting, startUp, type Up } from './up.ts';
import type { Cut, Witness } from './witness.ts';

const isFull = process.env.HOLDPOINT_POWER === 'full';
const reason = await whyNoDisk();
const where = reason === undefined ? '' : ` [not run: ${reason}]`;

test.skipIf(reason !== undefined)(
  `the power is cut while runs are at every stage: nothing acknowledged is lost, and each finishes right${where}`,
  async () => {
    const { disk, dataDir } = await openMachine();
    const sources = await makeSources(join(disk.path, 'user'));
    await disk.sync();
    let up = await boot(dataDir);
    const witnesses: Witness[] = [];
    // The second cut meets a system that has recovered from the first.
    for (let round = 1; round <= (isFull ? 4 : 1); round++) {
      const stop = new AbortController();
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(60_000)]);
      const made = round === 1 ? sources : await makeSources(join(disk.path, `user-${round}`));
      if (round > 1) await disk.sync();
      const brought = await bringToStages({ client: up.client, sources: made, dataDir, signal });
      await cutPower(disk, up.pid);
      stop.abort();
      await up.client.close();
      witnesses.push(...brought);
      up = await boot(dataDir);
      const after = await recover(up.client, brought);
      expectAll({ witnesses: brought, after });
    }
    await up.stop();
  },
  isFull ? 600_000 : 180_000,
);

test.skipIf(reason !== undefined)(
  `the power is cut within a second of the very first start: the system starts, and its first run finishes${where}`,
  async () => {
    const { disk, dataDir } = await openMachine();
    const sources = await makeSources(join(disk.path, 'user'));
    await disk.sync();
    const first = await boot(dataDir);
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(60_000)]);
    const witness = await firstRun({ client: first.client, sources, dataDir, signal });
    await cutPower(disk, first.pid);
    stop.abort();
    await first.client.close();
    const up = await boot(dataDir);
    expectAll({ witnesses: [witness], after: await recover(up.client, [witness]) });
    await up.stop();
  },
);

test.skipIf(reason !== undefined).each(isFull ? [100, 200, 300, 400, 600, 800, 1000, 1300, 1600, 2000, 2500] : [700])(
  `the power is cut %i ms into the very first start: the next start succeeds${where}`,
  async (ms) => {
    const { disk, dataDir } = await openMachine();
    await disk.sync();
    const starting = startUp({ dataDir, bootId: randomUUID() });
    await pause(ms);
    await cutPower(disk, starting.pid);
    const up = await boot(dataDir);
    const { run } = await up.client.createRun({
      plan: { groups: [{ steps: [{ tool: 'bash', args: { command: 'true' } }] }] },
    });
    expect(await up.client.waitForRun(run.id, { signal: AbortSignal.timeout(30_000) })).toMatchObject({
      status: 'succeeded',
    });
    await up.stop();
  },
);

/** What must be ended when a test ends early. */
let alive: Starting | undefined;

async function openMachine(): Promise<{ disk: Disk; dataDir: string }> {
  const disk = await openDisk();
  onTestFinished(async () => {
    if (alive !== undefined) await killAll(freeze(alive.pid));
    alive = undefined;
    await disk[Symbol.asyncDispose]();
  });
  return { disk, dataDir: join(disk.path, 'data') };
}

async function boot(dataDir: string): Promise<Up> {
  alive = startUp({ dataDir, bootId: randomUUID() });
  return alive.ready;
}

/** All processes stand still, the disk is copied at one instant, and the machine is gone. */
async function cutPower(disk: Disk, pid: number): Promise<void> {
  const frozen = freeze(pid);
  await disk.photograph();
  await killAll(frozen);
  alive = undefined;
  await disk.becomePhotograph();
}

function expectAll(cut: Cut): void {
  const checks = [acknowledgedEvents, recordedSnapshots, nextStepSees, results, publishedResults];
  for (const { name, wrong } of checks.map((check): Verdict => check(cut))) expect.soft(wrong, name).toEqual([]);
}
