import { chmodSync, lstatSync, lutimesSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { runId, type Temporary, temporary } from '../testing/index.ts';

const files = { 'package.json': '{}\n', 'src/a.py': 'a = 1\n', 'src/b.py': 'b = 1\n' };
const made = [
  'node_modules/dep/index.js',
  'node_modules/dep/cli.js',
  'src/new.py',
  'src/a.py',
  'node_modules/.bin/dep',
];

/** A run that made files with times in the past, one by one second apart. */
async function start(t: Temporary) {
  const source = t.source(files);
  const { id, path } = await t.begin(source);
  mkdirSync(join(path, 'node_modules/dep'), { recursive: true });
  mkdirSync(join(path, 'node_modules/.bin'));
  for (const name of made.slice(0, -1)) writeFileSync(join(path, name), `${name}\n`);
  chmodSync(join(path, 'node_modules/dep/cli.js'), 0o755);
  symlinkSync('../dep/cli.js', join(path, 'node_modules/.bin/dep'));
  for (const [index, name] of made.entries()) {
    const seconds = 1_600_000_000.123456 + index;
    lutimesSync(join(path, name), seconds, seconds);
  }
  // The status of a file that was changed within the tick of a walk is not kept.
  await sleep(20);
  const { id: snapshot } = await t.snapshot(id);
  return { source, base: id, snapshot, before: timesOf(path) };
}

/** Nanoseconds, without those of links: a snapshot reads them each time and keeps no status. */
const timesOf = (path: string): Record<string, bigint> =>
  Object.fromEntries(made.slice(0, -1).map((name) => [name, lstatSync(join(path, name), { bigint: true }).mtimeNs]));

/** Node sets times as numbers of seconds. */
function expectSame(actual: Record<string, bigint>, expected: Record<string, bigint>): void {
  for (const [name, time] of Object.entries(expected)) {
    const difference = (actual[name] ?? 0n) - time;
    expect(Math.abs(Number(difference)), `${name}, ns`).toBeLessThan(1000);
  }
}

describe.each(['copy', 'always'] as const)('files of a tree (%s)', (layers) => {
  test('keep their times in a take-over, in another process, and in a fork', async () => {
    using t = temporary({ layers });
    const { snapshot, before } = await start(t);
    const workspaces = t.reopen();
    await workspaces.takeOver({ runId, epoch: 2, snapshot });
    const { path } = await workspaces.locate({ runId, epoch: 2 });
    expectSame(timesOf(path), before);
    // And again, from a tree that was made so.
    await t.reopen().takeOver({ runId, epoch: 3, snapshot });
    expectSame(timesOf((await t.workspaces.locate({ runId, epoch: 3 })).path), before);
    await t.workspaces.fork({ runId: 'run_2', from: { runId, snapshot } });
    expectSame(timesOf((await t.workspaces.locate({ runId: 'run_2', epoch: 1 })).path), before);
    const again = await t.snapshot(snapshot, 'run_2');
    expect(again).toMatchObject({ id: snapshot, files_changed: 0 });
  });

  test('keep their times in what prepare left for another run', async () => {
    using t = temporary({ layers });
    const { source, base, snapshot, before } = await start(t);
    const place = { tenant: 'default', key: 'a'.repeat(64) };
    expect(await t.workspaces.keepPrepared({ runId, ...place, from: base, to: snapshot })).toBe(true);
    const next = await t.begin(source, 'run_2');
    const taken = await t.workspaces.applyPrepared({ runId: 'run_2', epoch: 1, ...place, parent: next.id });
    expect(taken?.files_changed).toBe(made.length);
    expectSame(timesOf(next.path), before);
    expect(await t.snapshot(taken?.id ?? '', 'run_2')).toMatchObject({ id: taken?.id, files_changed: 0 });
  });
});
