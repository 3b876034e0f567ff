import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { test } from '../testing/fixture.ts';
import { git, readTree, runUntilKilled, type Temporary, writeTree } from '../testing/index.ts';

const [runId, forkId] = ['run_parent', 'run_fork'];

/** A run, and a snapshot of a fork of it that is not kept yet. */
async function start(t: Temporary) {
  writeTree(join(t.path, 'source'), { 'a.txt': 'a\n', 'b.txt': 'b\n' });
  const source = { type: 'directory' as const, path: join(t.path, 'source') };
  const { id: base } = await t.workspaces.materialise({ runId, source });
  await t.workspaces.fork({ runId: forkId, from: { runId, snapshot: base } });
  const [ours, theirs] = await Promise.all([runId, forkId].map((id) => t.workspaces.locate({ runId: id, epoch: 1 })));
  writeTree(theirs?.path ?? '', { 'b.txt': 'new\n', 'c/d.txt': 'd\n' });
  rmSync(join(theirs?.path ?? '', 'a.txt'));
  const { id: snapshot } = await t.workspaces.snapshot({ runId: forkId, epoch: 1, parent: base, message: 'shown' });
  return { base, snapshot, from: { runId: forkId, snapshot }, ours: ours?.path ?? '', theirs: theirs?.path ?? '' };
}
const previews = (t: Temporary): string[] => {
  const path = join(t.shadow(runId), 'refs/previews');
  return existsSync(path) ? readdirSync(path) : [];
};

test('a kept preview outlives its fork, and applying it brings exactly its files', async ({ t }) => {
  const { base, snapshot, from, ours, theirs } = await start(t);
  await t.workspaces.keepPreview({ runId, from });
  const shown = readTree(theirs);
  await t.workspaces.discard(forkId);
  expect(previews(t)).toEqual([snapshot]);
  expect(readTree(ours)).toMatchObject({ 'a.txt': 'file a\n' });
  // It is no snapshot of the run before it is applied.
  await expect(t.workspaces.restore({ runId, epoch: 1, snapshot })).rejects.toMatchObject({ code: 'ESNAPSHOTUNKNOWN' });
  await t.workspaces.applyPreview({ runId, epoch: 1, snapshot });
  expect(readTree(ours)).toEqual(shown);
  expect(previews(t)).toEqual([]);
  expect(git(t.shadow(runId), 'fsck', '--strict', '--no-dangling')).toBe('');
  const next = await t.workspaces.snapshot({ runId, epoch: 1, parent: snapshot, message: 'none' });
  expect(next).toMatchObject({ id: snapshot, parent: base, files_changed: 0 });
});

test('a dropped preview cannot be applied, and maintenance drops what is left', async ({ t }) => {
  const { snapshot, from, ours } = await start(t);
  await t.workspaces.keepPreview({ runId, from });
  await t.workspaces.dropPreviews({ runId, snapshot });
  const applying = t.workspaces.applyPreview({ runId, epoch: 1, snapshot });
  await expect(applying).rejects.toMatchObject({ code: 'ESNAPSHOTUNKNOWN' });
  expect(readTree(ours)).toMatchObject({ 'a.txt': 'file a\n' });
  await t.workspaces.keepPreview({ runId, from });
  await t.workspaces.collect(runId);
  expect(previews(t)).toEqual([]);
});

test('keeping and applying, killed at any point, are repeated with the same result', async ({ t }) => {
  const { base, snapshot, from, ours, theirs } = await start(t);
  const shown = readTree(theirs);
  let killed = 0;
  for (
    let dieAt = 1;
    runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act: { verb: 'keep_preview', from } });
    dieAt++
  ) {
    killed += 1;
    await t.workspaces.keepPreview({ runId, from });
    expect(previews(t)).toEqual([snapshot]);
  }
  const act = { verb: 'apply_preview', snapshot };
  for (let dieAt = 1; runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act }); dieAt++) {
    killed += 1;
    // What an attempt without an outcome does: back to the snapshot before, and again.
    await t.workspaces.restore({ runId, epoch: 1, snapshot: base });
    await t.workspaces.applyPreview({ runId, epoch: 1, snapshot });
    expect(readTree(ours)).toEqual(shown);
    await t.workspaces.restore({ runId, epoch: 1, snapshot: base });
  }
  expect(killed).toBeGreaterThanOrEqual(5);
});
