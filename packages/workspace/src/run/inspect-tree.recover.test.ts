import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { git, runId, type Temporary, unmountBelow, writeTree } from '../testing/index.ts';

const source = { 'a.txt': 'a\n', 'lib/b.txt': 'b\n', 'lib/empty': null };

async function start(t: Temporary) {
  writeTree(join(t.path, 'source'), source);
  const from = { type: 'directory' as const, path: join(t.path, 'source') };
  const { id: snapshot, path } = await t.begin(from);
  const head = join(t.dataDir, 'runs', runId, 'head');
  const input = { runId, epoch: 1, writer: '', snapshot, isShared: false };
  return { snapshot, path, head, input };
}

/** Pretends that the guarding process has ended: writes the id of a process that no longer exists. */
function endHolder(head: string): void {
  const pid = execFileSync('/bin/sh', ['-c', 'echo $$'], { encoding: 'utf8' }).trim();
  const [name = ''] = readdirSync(head);
  renameSync(join(head, name), join(head, name.replace(/-\d+-\d*$/, `-${pid}-1`)));
}

test('a tree is sound while the process that guards it is alive', async ({ t }) => {
  const { input } = await start(t);
  expect(await t.workspaces.inspect(input)).toEqual({ status: 'sound' });
  expect(await t.reopen().inspect(input)).toEqual({ status: 'sound' });
});

test('a tree is lost after a reboot', async ({ t }) => {
  const { input, snapshot } = await start(t);
  const rebooted = t.reopen({ bootId: 'another' });
  expect(await rebooted.inspect(input)).toMatchObject({ status: 'lost', reason: 'other_boot' });
  await rebooted.takeOver({ runId, epoch: 2, snapshot });
  expect(await rebooted.inspect({ ...input, epoch: 2 })).toEqual({ status: 'sound' });
});

test('a log that names another writer than the tree went back', async ({ t }) => {
  const { input } = await start(t);
  await t.workspaces.admit({ runId, epoch: 1, after: '', writer: 'step_1.1' });
  expect(await t.workspaces.inspect(input)).toMatchObject({ status: 'lost', reason: 'log_went_back' });
  expect(await t.workspaces.inspect({ ...input, writer: 'step_1.1' })).toEqual({ status: 'sound' });
  expect(await t.workspaces.inspect({ ...input, writer: 'step_1.2' })).toMatchObject({ reason: 'log_went_back' });
});

test('a log with an older epoch than the tree went back', async ({ t }) => {
  const { input, snapshot } = await start(t);
  await t.workspaces.takeOver({ runId, epoch: 4, snapshot });
  expect(await t.workspaces.inspect(input)).toMatchObject({ status: 'lost', reason: 'log_went_back' });
  expect(await t.workspaces.newestEpoch(runId)).toBe(4);
});

test('only the first of two writers after the same one is admitted', async ({ t }) => {
  await start(t);
  await t.workspaces.admit({ runId, epoch: 1, after: '', writer: 'step_1.1' });
  const late = t.reopen().admit({ runId, epoch: 1, after: '', writer: 'step_1.2' });
  await expect(late).rejects.toMatchObject({ code: 'EHEADMOVED', retryable: true });
  await t.reopen().admit({ runId, epoch: 1, after: 'step_1.1', writer: 'step_2.1' });
});

const damages: Record<string, (path: string) => void> = {
  'a deleted file': (path) => rmSync(join(path, 'a.txt')),
  'an emptied file': (path) => truncateSync(join(path, 'lib/b.txt')),
  'an added file': (path) => writeFileSync(join(path, 'new.txt'), 'new'),
  'a removed empty folder': (path) => rmdirSync(join(path, 'lib/empty')),
  'a folder in place of a file': (path) => {
    rmSync(join(path, 'a.txt'));
    mkdirSync(join(path, 'a.txt'));
  },
  'a missing tree': (path) => {
    unmountBelow(path);
    rmSync(path, { recursive: true });
  },
};

test.for(Object.keys(damages))('%s is detected once the guarding process is gone', async (name, { t }) => {
  const { input, path, head } = await start(t);
  endHolder(head);
  damages[name]?.(path);
  expect(await t.reopen().inspect(input)).toMatchObject({ status: 'lost', reason: 'tree_changed' });
});

test('the next process adopts an unchanged tree after one comparison', async ({ t }) => {
  const { input, path, head } = await start(t);
  endHolder(head);
  const later = t.reopen();
  expect(await later.inspect(input)).toEqual({ status: 'sound' });
  writeFileSync(join(path, 'a.txt'), 'a step of that process\n');
  expect(await later.inspect(input)).toEqual({ status: 'sound' });
});

test('files are not compared while a background command may write', async ({ t }) => {
  const { input, path, head } = await start(t);
  endHolder(head);
  writeFileSync(join(path, 'a.txt'), 'by the command\n');
  expect(await t.reopen().inspect({ ...input, isShared: true })).toEqual({ status: 'sound' });
});

test('a tree with an unreadable head is lost', async ({ t }) => {
  const { input, head } = await start(t);
  writeFileSync(join(head, 'something else'), '');
  expect(await t.workspaces.inspect(input)).toMatchObject({ status: 'lost' });
  rmSync(head, { recursive: true });
  expect(await t.workspaces.inspect(input)).toMatchObject({ status: 'lost' });
});

test('inspecting a missing workspace is an error', async ({ t }) => {
  const { input } = await start(t);
  await t.workspaces.discard(runId);
  await expect(t.workspaces.inspect(input)).rejects.toMatchObject({ code: 'EWORKSPACEMISSING' });
});

test('a change in a nested repository is detected, a git status is not', async ({ t }) => {
  const { input, path, head } = await start(t);
  git(path, 'status');
  endHolder(head);
  expect(await t.reopen().inspect(input)).toEqual({ status: 'sound' });
  git(path, 'tag', 'made');
  endHolder(head);
  expect(await t.reopen().inspect(input)).toMatchObject({ status: 'lost', reason: 'tree_changed' });
});
