import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readTree, writeTree } from '../../fixtures/file-tree.ts';
import { publishNow } from '../../fixtures/publish-now.ts';
import { runUntilKilled } from '../../fixtures/run-until-killed.ts';
import { owner, type Temporary, temporary } from '../../fixtures/temporary-workspaces.ts';
import type { PublishRequest, Resolution } from '../../port.ts';
import { withSourceLock } from './source-lock.ts';

const runId = 'run_1';

async function start(t: Temporary, id = runId, text = 'run\n') {
  const source = join(t.path, 'source');
  if (!existsSync(source)) {
    mkdirSync(source);
    writeTree(source, { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'd.txt': 'd\n', 'same.txt': 'same\n' });
  }
  const base = await t.workspaces.materialise({ runId: id, source: { type: 'directory', path: source } });
  const { path } = await t.workspaces.locate(id);
  writeTree(path, { 'a.txt': text, 'b.txt': text, 'new.txt': text });
  rmSync(join(path, 'c.txt'), { force: true });
  const final = await t.workspaces.snapshot({ runId: id, parent: base.id, message: 'work' });
  return { source, base, final, path };
}

const request = (snapshot: string, resolutions: Resolution[] = []): PublishRequest => ({
  ...{ runId, snapshot, resolutions, target: { message: 'm' } },
});

/** The source as its user left it: three of the run's files changed, one of them removed. */
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
  test('shows the three versions, and changes nothing', async () => {
    using t = temporary();
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

  test('is settled file by file, and validators would see exactly that', async () => {
    using t = temporary();
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
    await t.workspaces.restore({ runId, snapshot: plan.candidate });
    const settled = {
      ...{ 'a.txt': 'file run\n', 'b.txt': 'file run\n', 'c.txt': 'file theirs too\n', 'd.txt': 'file d\n' },
      ...{ 'new.txt': 'file both\n', 'same.txt': 'file same\n' },
    };
    expect(readTree(path)).toEqual(settled);
    await t.workspaces.restore({ runId, snapshot: final.id });
    const whole = { ...request(final.id, resolutions), expect: plan.digest };
    expect(await t.workspaces.publish(whole)).toMatchObject({ status: 'published' });
    expect(readTree(source)).toEqual(settled);
    // The user goes on; a call that died before its answer does not take that for a conflict, nor undo it.
    writeFileSync(join(source, 'a.txt'), 'later\n');
    writeFileSync(join(source, 'c.txt'), 'later\n');
    expect(await publishNow(t.reopen(), { runId, snapshot: final.id, resolutions })).toMatchObject({
      status: 'published',
    });
    expect(readTree(source)).toEqual({ ...settled, 'a.txt': 'file later\n', 'c.txt': 'file later\n' });
  });

  test('what was said of one version of a file does not hold for the next', async () => {
    using t = temporary();
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

  test('settled, it dies at any moment as exactly the old or exactly the new', async () => {
    using t = temporary();
    const { source, final } = await start(t);
    edit(source);
    const resolutions = await settle(t, final.id);
    const copy = join(t.path, 'copy');
    cpSync(source, copy, { recursive: true });
    const act = { verb: 'publish', snapshot: final.id, resolutions };
    let killed = 0;
    for (let dieAt = 1; runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act }); dieAt++) {
      killed += 1;
      expect(await publishNow(t.workspaces, { runId, snapshot: final.id, resolutions })).toMatchObject({
        status: 'published',
      });
      expect(readTree(source)).toMatchObject({
        'a.txt': 'file run\n',
        'c.txt': 'file theirs too\n',
        'new.txt': 'file both\n',
      });
      rmSync(source, { recursive: true });
      cpSync(copy, source, { recursive: true });
      rmSync(join(t.dataDir, 'runs', runId, 'publish'), { recursive: true, force: true });
    }
    expect(killed).toBeGreaterThan(8);
  });
});

test('of two processes that publish to one directory at once one wins, and the files are of one of them', async () => {
  using t = temporary();
  const ids = ['run_1', 'run_2'];
  const finals = [await start(t, 'run_1', 'one\n'), await start(t, 'run_2', 'two\n')];
  const source = finals[0]?.source ?? '';
  const script = fileURLToPath(new URL('../../fixtures/die-at-point.ts', import.meta.url));
  const publish = (id: string, snapshot: string) =>
    new Promise<void>((resolve) => {
      const input = { dataDir: t.dataDir, owner, runId: id, dieAt: 0, act: { verb: 'publish', snapshot } };
      spawn(process.execPath, [script, JSON.stringify(input)], { stdio: 'ignore' }).once('exit', () => resolve());
    });
  await Promise.all(ids.map((id, index) => publish(id, finals[index]?.final.id ?? '')));
  const tree = readTree(source);
  const texts = new Set([tree['a.txt'], tree['b.txt'], tree['new.txt']]);
  expect(texts.size).toBe(1);
  expect(['file one\n', 'file two\n']).toContain([...texts][0]);
  expect(tree['c.txt']).toBeUndefined();
  for (const id of ids) expect(existsSync(join(t.dataDir, 'runs', id, 'publish/journal.json'))).toBe(false);
});

test('a publish waits while another one has the source', async () => {
  using t = temporary();
  const { source, final } = await start(t);
  const held = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const holder = withSourceLock(t.dataDir, source, async () => {
    reached.resolve();
    await held.promise;
  });
  await reached.promise;
  let isDone = false;
  const publishing = publishNow(t.workspaces, { runId, snapshot: final.id }).then((result) => {
    isDone = true;
    return result;
  });
  await t.workspaces.locate(runId);
  expect(isDone).toBe(false);
  expect(readTree(source)['a.txt']).toBe('file a\n');
  held.resolve();
  await holder;
  expect(await publishing).toMatchObject({ status: 'published' });
});
