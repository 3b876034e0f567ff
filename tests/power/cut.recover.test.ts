import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Disk, openDiskForCuts, whyNoDisk } from '../harness/disk.ts';
import { openForgetful, whyNotForgetful } from '../harness/forgetful/open-forgetful.ts';
import { bash, plan } from '../harness/runs.ts';
import type { Verdict } from '../harness/verdict.ts';
import { acknowledgedEvents, nextStepSees, publishedResults, recordedSnapshots, results } from './checks/durability.ts';
import type { Cut } from './cut.ts';
import { freeze, killAll } from './freeze.ts';
import { recover } from './recover.ts';
import { makeSources } from './sources.ts';
import { firstRun, reachStages } from './stages.ts';
import { type Starting, startUp, type Up } from './up.ts';

const isFull = process.env.HOLDPOINT_POWER === 'full';

interface Machine {
  name: string;
  open(): Promise<Disk>;
  /** Why this machine cannot run it; undefined when it can. */
  why: string | undefined;
}

const possible: Machine[] = [
  { name: 'a separate disk', open: openDiskForCuts, why: await whyNoDisk() },
  { name: 'writes without fsync are lost', open: openForgetful, why: await whyNotForgetful() },
];
const available = possible.filter(({ why }) => why === undefined);
const machines = isFull ? available : available.slice(0, 1);

for (const { name, why } of possible) {
  if (why !== undefined) test.skip(`power cuts with ${name} [not run: ${why}]`, () => undefined);
}

describe.each(machines)('$name', ({ open }) => {
  test('a power cut with runs at every stage loses nothing acknowledged', {
    timeout: isFull ? 600_000 : 240_000,
  }, async () => {
    const { disk, dataDir } = await openMachine(open);
    const sources = await makeSources(join(disk.path, 'user'));
    await disk.sync();
    let up = await boot(disk, dataDir);
    // Each later cut hits a system that has recovered from the previous one.
    for (let round = 1; round <= (isFull ? 4 : 1); round++) {
      const made = round === 1 ? sources : await makeSources(join(disk.path, `user-${round}`));
      if (round > 1) await disk.sync();
      const stop = new AbortController();
      const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(120_000)]);
      const expectedRuns = await reachStages({ client: up.client, sources: made, dataDir, signal });
      await cutPower(disk, up.pid);
      stop.abort();
      await up.client.close();
      up = await boot(disk, dataDir);
      expectAll({ expectedRuns, after: await recover(up.client, expectedRuns) });
    }
    await up.stop();
  });

  test('after a power cut within a second of the first start the first run finishes', async () => {
    const { disk, dataDir } = await openMachine(open);
    const sources = await makeSources(join(disk.path, 'user'));
    await disk.sync();
    const first = await boot(disk, dataDir);
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, AbortSignal.timeout(60_000)]);
    const expectedRun = await firstRun({ client: first.client, sources, dataDir, signal });
    await cutPower(disk, first.pid);
    stop.abort();
    await first.client.close();
    const up = await boot(disk, dataDir);
    expectAll({ expectedRuns: [expectedRun], after: await recover(up.client, [expectedRun]) });
    await up.stop();
  });

  test.each(isFull ? [100, 200, 300, 400, 600, 800, 1000, 1300, 1600, 2000, 2500] : [700])(
    'after a power cut %i ms into the first start the next start succeeds',
    async (ms) => {
      const { disk, dataDir } = await openMachine(open);
      await disk.sync();
      alive = startUp({ dataDir, bootId: randomUUID(), env: disk.env });
      await pause(ms);
      await cutPower(disk, alive.pid);
      const up = await boot(disk, dataDir);
      const { run } = await up.client.createRun({ plan: plan([bash('true')]) });
      const ended = await up.client.waitForRun(run.id, { signal: AbortSignal.timeout(30_000) });
      expect(ended).toMatchObject({ status: 'succeeded' });
      await up.stop();
    },
  );
});

/** Killed when a test ends early. */
let alive: Starting | undefined;

async function openMachine(open: Machine['open']): Promise<{ disk: Disk; dataDir: string }> {
  const disk = await open();
  onTestFinished(async () => {
    if (alive !== undefined) await killAll(freeze(alive.pid));
    alive = undefined;
    await disk[Symbol.asyncDispose]();
  });
  return { disk, dataDir: join(disk.path, 'data') };
}

async function boot({ env }: Disk, dataDir: string): Promise<Up> {
  alive = startUp({ dataDir, bootId: randomUUID(), env });
  return alive.ready;
}

/** Freezes all processes, copies the disk at one instant, and kills the processes. */
async function cutPower(disk: Disk, pid: number): Promise<void> {
  const frozen = freeze(pid);
  await disk.capture();
  await killAll(frozen);
  alive = undefined;
  await disk.restoreCapture();
}

function expectAll(cut: Cut): void {
  const checks = [acknowledgedEvents, recordedSnapshots, nextStepSees, results, publishedResults];
  for (const { name, wrong } of checks.map((check): Verdict => check(cut))) expect.soft(wrong, name).toEqual([]);
}
