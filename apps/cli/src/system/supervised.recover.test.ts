import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { waitForLine } from './log-lines.ts';
import { isAlive, type ProcessIdentity } from './processes.ts';
import { realPause, Supervised } from './supervised.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hp-supervised-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A part with the given program, and what its supervisor reports. */
function part(program: string, pause = realPause) {
  const script = join(directory, 'part.mjs');
  writeFileSync(script, program);
  const spawned: ProcessIdentity[] = [];
  const reports: string[] = [];
  const supervised: Supervised = new Supervised(
    {
      onSpawn: () => void spawned.push(...(supervised.child ? [supervised.child.identity] : [])),
      report: (text) => void reports.push(text),
      now: () => performance.now(),
      pause,
    },
    { name: 'part', script, environment: { PATH: '/usr/bin:/bin' }, logFile: join(directory, 'logs/part.log') },
  );
  return { supervised, spawned, reports };
}

const ready = { find: ({ event }: { event?: string | undefined }) => event, timeoutMs: 20_000 };
const never = new AbortController().signal;
const stays = `process.on('SIGTERM', () => process.exit(0)); process.stdout.write('{"event":"ready"}\\n'); setInterval(() => {}, 1000);`;

it('restarts a killed part and stops the new process', async () => {
  const { supervised, spawned } = part(stays);
  const first = supervised.start();
  await waitForLine(first, { ...ready, signal: never });
  supervised.watch({ PATH: '/usr/bin:/bin' });
  process.kill(first.identity.pid, 'SIGKILL');
  await expect.poll(() => spawned.length, { timeout: 20_000 }).toBe(2);
  const second = supervised.child;
  if (second === undefined) throw new Error('no child');
  await waitForLine(second, { ...ready, signal: never });
  expect(second.identity.pid).not.toBe(first.identity.pid);
  await supervised.stop({ graceMs: 20_000 });
  expect(spawned.filter(isAlive)).toEqual([]);
  expect(spawned).toHaveLength(2);
});

it('kills a part that ignores SIGTERM', async () => {
  const { supervised, reports } = part(stays.replace('process.exit(0)', 'undefined'));
  const child = supervised.start();
  await waitForLine(child, { ...ready, signal: never });
  supervised.watch({});
  await supervised.stop({ graceMs: 100 });
  expect(isAlive(child.identity)).toBe(false);
  expect(reports).toContain('part had to be killed');
});

it('backs off when a part keeps ending, and reports it', async () => {
  const pauses: number[] = [];
  const enough = Promise.withResolvers<void>();
  const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
    if (pauses.push(ms) < 12) return;
    enough.resolve();
    await realPause(60_000, signal);
  };
  const { supervised, spawned, reports } = part('process.exitCode = 3;', pause);
  supervised.start();
  supervised.watch({});
  await enough.promise;
  expect(pauses.slice(0, 4)).toEqual([250, 500, 1000, 2000]);
  expect(pauses.slice(-3)).toEqual([60_000, 60_000, 60_000]);
  expect(spawned).toHaveLength(12);
  expect(reports.at(-1)).toContain('part ended 12 times in a row (last: exit 3); restart in 60 s');
  expect(reports.at(-1)).toContain('part.log');
  await supervised.stop({ graceMs: 1000 });
});

it('reports why a part ended before it was ready', async () => {
  const { supervised } = part(`process.stderr.write('part: the reason\\n'); process.exitCode = 1;`);
  const failed = waitForLine(supervised.start(), { ...ready, signal: never });
  await expect(failed).rejects.toMatchObject({
    code: 'child_failed',
    message: 'part ended while starting (exit 1). part: the reason',
    next: expect.stringContaining('part.log'),
  });
});
