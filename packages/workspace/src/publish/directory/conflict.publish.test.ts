import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Resolution } from '@holdpoint/contract';
import { describe, expect } from 'vitest';
import type { PublishRequest } from '../../port/workspaces.ts';
import { readTree, writeTree } from '../../testing/file-tree.ts';
import { test } from '../../testing/fixture.ts';
import {
  owner,
  publishNow,
  runId,
  runUntilKilled,
  stride,
  type Temporary,
  temporary,
  tried,
} from '../../testing/index.ts';
import { withSourceLock } from './publish-directory.ts';

async function start(t: Temporary, id = runId, text = 'run\n') {
  const source = join(t.path, 'source');
  if (!existsSync(source)) {
    mkdirSync(source);
    writeTree(source, { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'd.txt': 'd\n', 'same.txt': 'same\n' });
  }
  const base = await t.workspaces.materialise({ runId: id, source: { type: 'directory', path: source } });
  const path = await t.tree(id);
  writeTree(path, { 'a.txt': text, 'b.txt': text, 'new.txt': text });
  rmSync(join(path, 'c.txt'), { force: true });
  const final = await t.snapshot(base.id, id);
  return { source, base, final, path };
}

const request = (snapshot: string, resolutions: Resolution[] = []): PublishRequest => ({
  ...{ runId, snapshot, resolutions, target: { message: 'm' } },
});

/** Edits of the user: three of the run's files changed, one removed. */
function edit(source: string): void {
  writeTree(source, { 'a.txt': 'theirs\n', 'c.txt': 'theirs too\n', 'new.txt': 'their own\n' });
  rmSync(join(source, 'b.txt'));
}

async function settle(t: Temporary, snapshot: string): Promise<Resolution[]> {
  const { conflicts } = await t.workspaces.planPublish(request(snapshot));
  const seen = (path: string) => conflicts.find((one) => one.path === path)?.versions?.source?.oid ?? null;
  return [
    { path: 'a.txt', take: 'run', seen: seen('a.txt') },
    { path: 'b.txt', take: 'run', seen: null },
    { path: 'c.txt', take: 'source', seen: seen('c.txt') },
    { path: 'new.txt', take: 'text', text: 'both\n', seen: seen('new.txt') },
  ];
}

describe('a conflict with a directory', () => {
  test('shows the three versions and changes nothing', async ({ t }) => {
    const { source, final } = await start(t);
    edit(source);
    const before = readTree(source);
    const { conflicts } = await t.workspaces.planPublish(request(final.id));
    const text = (path: string) => {
      const { versions } = conflicts.find((one) => one.path === path) ?? {};
      return [versions?.base, versions?.source, versions?.run].map((version) => version && (version.text ?? 'binary'));
    };
    expect(conflicts.map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'c.txt', 'new.txt']);
    expect(text('a.txt')).toEqual(['a\n', 'theirs\n', 'run\n']);
    expect(text('b.txt')).toEqual(['b\n', null, 'run\n']);
    expect(text('c.txt')).toEqual(['c\n', 'theirs too\n', null]);
    expect(text('new.txt')).toEqual([null, 'their own\n', 'run\n']);
    expect(readTree(source)).toEqual(before);
  });

  test('is resolved file by file, and validators see exactly the result', async ({ t }) => {
    const { source, final, path } = await start(t);
    edit(source);
    const resolutions = await settle(t, final.id);
    const plan = await t.workspaces.planPublish(request(final.id, resolutions));
    expect(plan.conflicts).toEqual([]);
    expect(plan.files.map((file) => `${file.status} ${file.path}`).sort()).toEqual([
      'added b.txt',
      'modified a.txt',
      'modified new.txt',
    ]);
    await t.workspaces.restore({ epoch: 1, runId, snapshot: plan.candidate });
    const settled = {
      ...{ 'a.txt': 'file run\n', 'b.txt': 'file run\n', 'c.txt': 'file theirs too\n', 'd.txt': 'file d\n' },
      ...{ 'new.txt': 'file both\n', 'same.txt': 'file same\n' },
    };
    expect(readTree(path)).toEqual(settled);
    await t.workspaces.restore({ epoch: 1, runId, snapshot: final.id });
    const whole = { ...request(final.id, resolutions), expect: plan.digest };
    expect(await t.workspaces.publish(whole)).toMatchObject({ status: 'published' });
    expect(readTree(source)).toEqual(settled);
    // A repeated call after a crash neither reports nor undoes the user's next edits.
    writeFileSync(join(source, 'a.txt'), 'later\n');
    writeFileSync(join(source, 'c.txt'), 'later\n');
    expect(await publishNow(t.reopen(), { runId, snapshot: final.id, resolutions })).toMatchObject({
      status: 'published',
    });
    expect(readTree(source)).toEqual({ ...settled, 'a.txt': 'file later\n', 'c.txt': 'file later\n' });
  });

  test('a resolution for one version of a file does not hold for the next', async ({ t }) => {
    const { source, final } = await start(t);
    edit(source);
    const resolutions = await settle(t, final.id);
    const plan = await t.workspaces.planPublish(request(final.id, resolutions));
    writeFileSync(join(source, 'a.txt'), 'theirs again\n');
    const before = readTree(source);
    const whole = { ...request(final.id, resolutions), expect: plan.digest };
    expect(await t.workspaces.publish(whole)).toEqual({ status: 'moved' });
    const { conflicts } = await t.workspaces.planPublish(request(final.id, resolutions));
    expect(conflicts.map(({ path }) => path)).toEqual(['a.txt']);
    expect(readTree(source)).toEqual(before);
  });

  test('resolved and killed at any point ends as exactly the old or the new', async ({ t }) => {
    const { source, final } = await start(t);
    edit(source);
    const resolutions = await settle(t, final.id);
    const copy = join(t.path, 'copy');
    cpSync(source, copy, { recursive: true });
    const act = { verb: 'publish', snapshot: final.id, resolutions };
    let killed = 0;
    for (let dieAt = 1; runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act }); dieAt += stride) {
      killed += 1;
      expect(await t.publish({ snapshot: final.id, resolutions })).toMatchObject({ status: 'published' });
      expect(readTree(source)).toMatchObject({
        'a.txt': 'file run\n',
        'c.txt': 'file theirs too\n',
        'new.txt': 'file both\n',
      });
      rmSync(source, { recursive: true });
      cpSync(copy, source, { recursive: true });
      rmSync(join(t.dataDir, 'runs', runId, 'publish'), { recursive: true, force: true });
    }
    expect(killed).toBeGreaterThanOrEqual(tried(9));
  });
});

test('a second publish keeps the resolutions of the first', async ({ t }) => {
  const { source, final, path } = await start(t);
  edit(source);
  const resolutions = await settle(t, final.id);
  await t.publish({ snapshot: final.id, resolutions });
  writeTree(path, { 'd.txt': 'later work\n' });
  const next = await t.snapshot(final.id);
  const plan = await t.workspaces.planPublish(request(next.id));
  expect(plan.files.map((file) => `${file.status} ${file.path}`)).toEqual(['modified d.txt']);
  await t.workspaces.publish({ ...request(next.id), expect: plan.digest });
  const settled = {
    'a.txt': 'file run\n',
    'c.txt': 'file theirs too\n',
    'd.txt': 'file later work\n',
    'new.txt': 'file both\n',
  };
  expect(readTree(source)).toMatchObject(settled);
  await t.workspaces.restore({ epoch: 1, runId, snapshot: plan.candidate });
  expect(readTree(path)).toEqual(readTree(source));
  await t.workspaces.restore({ epoch: 1, runId, snapshot: next.id });
  // A person is asked again only when the run changes such a file again.
  writeTree(path, { 'new.txt': 'run once more\n' });
  const third = await t.snapshot(next.id);
  const { conflicts } = await t.workspaces.planPublish(request(third.id));
  expect(conflicts.map((conflict) => conflict.path)).toEqual(['new.txt']);
});

test('a published plan keeps its digest and its candidate', async ({ t }) => {
  const { source, final } = await start(t);
  edit(source);
  const resolutions = await settle(t, final.id);
  const plan = await t.workspaces.planPublish(request(final.id, resolutions));
  await t.workspaces.publish({ ...request(final.id, resolutions), expect: plan.digest });
  const again = await t.workspaces.planPublish(request(final.id, resolutions));
  expect(again).toMatchObject({ digest: plan.digest, candidate: plan.candidate, files: [], conflicts: [] });
});

describe('a kept file that blocks another one', () => {
  async function swap(t: Temporary) {
    const source = t.source({ 'folder/one': '1\n', 'folder/two': '2\n', file: 'file\n' });
    const { base, path } = await t.begin(source);
    for (const name of ['folder', 'file']) rmSync(join(path, name), { recursive: true });
    writeTree(path, { folder: 'a file now\n', 'file/inside': 'a folder now\n' });
    const final = await t.snapshot(base.id);
    writeTree(source, { 'folder/one': 'theirs\n', file: 'theirs\n' });
    const plan = (resolutions: Resolution[]) => t.workspaces.planPublish(request(final.id, resolutions));
    const { conflicts } = await plan([]);
    expect(conflicts.map((conflict) => conflict.path)).toEqual(['file', 'folder/one']);
    const seen = conflicts[0]?.versions?.source?.oid ?? null;
    return { source, path, final, plan, seen };
  }

  test('is a second conflict, resolved by leaving the other file out', async ({ t }) => {
    const { source, path, final, plan, seen } = await swap(t);
    const kept: Resolution[] = ['file', 'folder/one'].map((name) => ({ path: name, take: 'source', seen }));
    const { conflicts } = await plan(kept);
    expect(conflicts.map((conflict) => conflict.path)).toEqual(['file/inside', 'folder']);
    expect(conflicts[1]?.versions).toMatchObject({ base: null, source: null, run: { text: 'a file now\n' } });
    const left: Resolution[] = ['file/inside', 'folder'].map((name) => ({ path: name, take: 'source', seen: null }));
    const settled = await plan([...kept, ...left]);
    expect(settled).toMatchObject({ conflicts: [], files: [{ path: 'folder/two', status: 'deleted' }] });
    const whole = { ...request(final.id, [...kept, ...left]), expect: settled.digest };
    expect(await t.workspaces.publish(whole)).toMatchObject({ status: 'published' });
    expect(readTree(source)).toEqual({ file: 'file theirs\n', folder: 'folder', 'folder/one': 'file theirs\n' });
    await t.workspaces.restore({ epoch: 1, runId, snapshot: settled.candidate });
    expect(readTree(path)).toEqual(readTree(source));
  });

  test('is removed when the run is taken', async ({ t }) => {
    const { source, path, final, plan, seen } = await swap(t);
    const resolutions: Resolution[] = ['file', 'folder/one'].map((name) => ({ path: name, take: 'run', seen }));
    expect(await plan(resolutions)).toMatchObject({ conflicts: [], candidate: final.id });
    expect(await t.publish({ snapshot: final.id, resolutions })).toMatchObject({ status: 'published' });
    expect(readTree(source)).toEqual(readTree(path));
  });
});

test('a source file too large for a snapshot can be kept', async () => {
  using t = temporary({ limits: { fileBytes: 1000 } });
  const { source, final } = await start(t);
  writeFileSync(join(source, 'a.txt'), 'x'.repeat(5000));
  const { conflicts } = await t.workspaces.planPublish(request(final.id));
  expect(conflicts).toMatchObject([{ path: 'a.txt', versions: { source: { bytes: 5000, text: 'x'.repeat(5000) } } }]);
  const resolutions: Resolution[] = [
    { path: 'a.txt', take: 'source', seen: conflicts[0]?.versions?.source?.oid ?? null },
  ];
  const plan = await t.workspaces.planPublish(request(final.id, resolutions));
  expect(plan.conflicts).toEqual([]);
  // The candidate skips the large file, as any snapshot does.
  const held = await t.workspaces.files({ runId, snapshot: plan.candidate });
  expect(held.map((file) => file.path)).toEqual(['b.txt', 'd.txt', 'new.txt', 'same.txt']);
  const whole = { ...request(final.id, resolutions), expect: plan.digest };
  expect(await t.workspaces.publish(whole)).toMatchObject({ status: 'published' });
  expect(readTree(source)).toMatchObject({ 'a.txt': `file ${'x'.repeat(5000)}`, 'b.txt': 'file run\n' });
});

test('reads the last.json of an earlier version', async ({ t }) => {
  const { source, final, path } = await start(t);
  await t.publish({ snapshot: final.id });
  writeFileSync(join(t.dataDir, 'runs', runId, 'publish/last.json'), JSON.stringify({ format: 1, snapshot: final.id }));
  expect(await t.publish({ snapshot: final.id })).toMatchObject({ status: 'published' });
  writeTree(path, { 'a.txt': 'once more\n' });
  const next = await t.snapshot(final.id);
  expect(await t.publish({ snapshot: next.id })).toMatchObject({ status: 'published' });
  expect(readTree(source)['a.txt']).toBe('file once more\n');
});

describe('two processes publishing to one directory', () => {
  const script = fileURLToPath(new URL('../../testing/stop-at-point.ts', import.meta.url));
  function publish(t: Temporary, input: { runId: string; snapshot: string; stopAt?: string }) {
    const args = JSON.stringify({ dataDir: t.dataDir, owner, ...input });
    const child = spawn(process.execPath, [script, args], { stdio: ['ignore', 'pipe', 'ignore'] });
    const output = createInterface(child.stdout);
    const points: string[] = [];
    output.on('line', (point) => points.push(point));
    const reach = async (point: string) => {
      while (!points.includes(point)) await once(output, 'line');
    };
    return { child, reach, ended: once(child, 'exit') };
  }

  test('do not mix their files', async ({ t }) => {
    const [one, two] = [await start(t, 'run_1', 'one\n'), await start(t, 'run_2', 'two\n')];
    const both = [
      publish(t, { runId: 'run_1', snapshot: one.final.id }),
      publish(t, { runId: 'run_2', snapshot: two.final.id }),
    ];
    await Promise.all(both.map(({ ended }) => ended));
    const tree = readTree(one.source);
    expect(['file one\n', 'file two\n']).toContain(tree['a.txt']);
    expect(tree).toMatchObject({ 'b.txt': tree['a.txt'], 'new.txt': tree['a.txt'] });
    expect(tree['c.txt']).toBeUndefined();
    for (const id of ['run_1', 'run_2']) {
      expect(existsSync(join(t.dataDir, 'runs', id, 'publish/journal.json'))).toBe(false);
    }
  });

  test.runIf(process.platform === 'linux')('wait for each other, also for a stopped process', async ({ t }) => {
    const [one, two] = [await start(t, 'run_1', 'one\n'), await start(t, 'run_2', 'two\n')];
    const first = publish(t, { runId: 'run_1', snapshot: one.final.id, stopAt: 'publish.placed' });
    let second: ReturnType<typeof publish> | undefined;
    try {
      // The other process starts only now, so the order is fixed.
      await first.reach('publish.placed');
      await expect.poll(() => readFileSync(`/proc/${first.child.pid}/stat`, 'latin1')).toContain(') T ');
      const halfWay = readTree(one.source);
      second = publish(t, { runId: 'run_2', snapshot: two.final.id });
      await second.reach('publish.waiting');
      expect(readTree(one.source)).toEqual(halfWay);
    } finally {
      first.child.kill('SIGCONT');
    }
    await Promise.all([first.ended, second?.ended]);
    const all = { 'a.txt': 'file one\n', 'b.txt': 'file one\n', 'd.txt': 'file d\n', 'new.txt': 'file one\n' };
    expect(readTree(one.source)).toEqual({ ...all, 'same.txt': 'file same\n' });
  });
});

test('a publish waits while another one holds the source lock', async ({ t }) => {
  const { source, final } = await start(t);
  const waits = Promise.withResolvers<void>();
  const waiting = t.reopen({ onPoint: (point) => void (point === 'publish.waiting' && waits.resolve()) });
  let publishing: Promise<unknown> | undefined;
  await withSourceLock({ dataDir: t.dataDir, onPoint: () => {} }, source, async () => {
    publishing = publishNow(waiting, { runId, snapshot: final.id });
    await waits.promise;
    expect(readTree(source)['a.txt']).toBe('file a\n');
  });
  expect(await publishing).toMatchObject({ status: 'published' });
});
