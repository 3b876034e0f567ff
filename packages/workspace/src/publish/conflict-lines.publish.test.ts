import { chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Conflict, HunkChoice, Resolution } from '@holdpoint/contract';
import { describe, expect } from 'vitest';
import { readTree, writeTree } from '../testing/file-tree.ts';
import { rejects, test } from '../testing/fixture.ts';
import { publishNow, runId, type Temporary } from '../testing/index.ts';
import { commitOnMain, startOnMain } from '../testing/moving-branch.ts';
import { git } from '../testing/real-git.ts';

/** Over the 64 KiB that a version's text may have. */
const count = 6000;
const text = (changed: Record<number, string>) =>
  `${Array.from({ length: count }, (_, index) => changed[index] ?? `line ${index} of the file`).join('\n')}\n`;
const base = text({});
const ofRun = text({ 10: 'run at the top', 3000: 'run in the middle', 5000: 'run alone' });
const ofSource = text({ 10: 'source at the top', 3000: 'source in the middle', 4000: 'source alone' });

const byLines = (
  { path, versions, merge }: Conflict,
  choice: { take: 'run_lines' | 'source_lines' | 'hunks'; hunks?: HunkChoice[] },
): Resolution => {
  const seen = versions?.source?.oid ?? null;
  return { path, seen, digest: merge?.digest ?? '', hunks: [], ...choice };
};

const wholePage = { from: 1, limit: 100 };
const read = (t: Temporary, { versions }: Conflict) => {
  if (versions === undefined) throw new TypeError('no versions');
  return t.workspaces.conflict({ runId, versions, page: wholePage });
};

async function onDirectory(t: Temporary) {
  const source = t.source({ 'a.txt': base, 'other.txt': 'other\n' });
  const { id, path } = await t.begin(source);
  writeTree(path, { 'a.txt': ofRun });
  const final = await t.snapshot(id);
  writeTree(source, { 'a.txt': ofSource });
  const request = (resolutions: Resolution[] = []) => ({
    ...{ runId, snapshot: final.id, resolutions, target: { message: 'm' } },
  });
  const plan = (resolutions: Resolution[] = []) => t.workspaces.planPublish(request(resolutions));
  const first = async () => {
    const [conflict] = (await plan()).conflicts;
    if (conflict === undefined) throw new TypeError('no conflict');
    return conflict;
  };
  return { source, final, plan, first, request };
}

describe('a conflict with a directory, by lines', () => {
  test('is shown at a size where no version is, and keeps the edits of both sides', async ({ t }) => {
    const { source, final, first } = await onDirectory(t);
    const conflict = await first();
    expect(conflict.versions?.source?.text).toBeNull();
    expect(conflict.merge?.hunks).toBe(2);
    const { data, reverts, digest } = await read(t, conflict);
    expect(digest).toBe(conflict.merge?.digest);
    expect(data.map((hunk) => [hunk.line, hunk.source.text, hunk.run.text])).toEqual([
      [11, 'source at the top\n', 'run at the top\n'],
      [3001, 'source in the middle\n', 'run in the middle\n'],
    ]);
    expect(reverts.run?.hunks.flatMap(({ lines }) => lines)).toContain('-source alone');
    const hunks: HunkChoice[] = [
      { hunk: 1, take: 'both' },
      { hunk: 2, take: 'text', text: 'edited by a person' },
    ];
    const resolutions = [byLines(conflict, { take: 'hunks', hunks })];
    expect(await publishNow(t.workspaces, { snapshot: final.id, resolutions })).toMatchObject({ status: 'published' });
    expect(readFileSync(join(source, 'a.txt'), 'utf8')).toBe(
      text({
        ...{ 10: 'source at the top\nrun at the top', 3000: 'edited by a person' },
        ...{ 4000: 'source alone', 5000: 'run alone' },
      }),
    );
  });

  test('takes the lines of one side in all other hunks', async ({ t }) => {
    const { source, final, first } = await onDirectory(t);
    const conflict = await first();
    const choice = { take: 'source_lines', hunks: [{ hunk: 1, take: 'run' }] } as const;
    const resolutions = [byLines(conflict, { ...choice, hunks: [...choice.hunks] })];
    await publishNow(t.workspaces, { snapshot: final.id, resolutions });
    const kept = { 10: 'run at the top', 3000: 'source in the middle', 4000: 'source alone', 5000: 'run alone' };
    expect(readFileSync(join(source, 'a.txt'), 'utf8')).toBe(text(kept));
  });

  test('of edits that touch other lines has no hunk, and both stay', async ({ t }) => {
    const source = t.source({ 'a.txt': base });
    const { id, path } = await t.begin(source);
    writeTree(path, { 'a.txt': text({ 10: 'run' }) });
    const final = await t.snapshot(id);
    writeTree(source, { 'a.txt': text({ 900: 'source' }) });
    const [conflict] = (await t.workspaces.planPublish({ runId, snapshot: final.id, target: { message: 'm' } }))
      .conflicts;
    expect(conflict?.merge?.hunks).toBe(0);
    const resolutions = [byLines(conflict as Conflict, { take: 'run_lines' })];
    await publishNow(t.workspaces, { snapshot: final.id, resolutions });
    expect(readFileSync(join(source, 'a.txt'), 'utf8')).toBe(text({ 10: 'run', 900: 'source' }));
  });

  test('a choice holds for exactly these versions: a later edit is another conflict, and nothing is written', async ({
    t,
  }) => {
    const { source, first, plan, request } = await onDirectory(t);
    const conflict = await first();
    const resolutions = [byLines(conflict, { take: 'run_lines' })];
    const planned = await plan(resolutions);
    expect(planned.conflicts).toEqual([]);
    writeTree(source, { 'a.txt': text({ 10: 'source at the top', 2000: 'one more edit' }) });
    const before = readTree(source);
    expect(await t.workspaces.publish({ ...request(resolutions), expect: planned.digest })).toEqual({
      status: 'moved',
    });
    expect((await plan(resolutions)).conflicts).toHaveLength(1);
    // The digest of the new versions with the old `seen`, and the reverse.
    const now = await first();
    const mixed = { ...byLines(now, { take: 'run_lines' }), digest: conflict.merge?.digest ?? '' } as Resolution;
    expect((await plan([mixed])).conflicts).toHaveLength(1);
    expect(readTree(source)).toEqual(before);
  });

  test('is still readable as it was shown after the source has changed, and not after a later conflict is kept', async ({
    t,
  }) => {
    const { source, first, plan } = await onDirectory(t);
    const conflict = await first();
    writeTree(source, { 'a.txt': 'something else\n' });
    await t.workspaces.collect(runId);
    expect((await read(t, conflict)).hunks).toBe(2);
    await plan();
    const gone = { ...conflict, versions: { ...conflict.versions, source: { mode: '100644', oid: 'f'.repeat(40) } } };
    await rejects(read(t, gone as Conflict), 'ECONFLICTGONE');
  });

  test('a deletion says what it reverts, and has no lines to choose', async ({ t }) => {
    const { source, first, plan } = await onDirectory(t);
    git(t.path, 'init', '-q');
    renameSync(join(source, 'a.txt'), join(source, 'moved.txt'));
    const conflict = await first();
    expect([conflict.merge, conflict.versions?.source]).toEqual([undefined, null]);
    const { reverts } = await read(t, conflict);
    expect(reverts.source).toMatchObject({ additions: 3, deletions: 3 });
    const resolution = { path: 'a.txt', seen: null, digest: 'sha256:x', take: 'run_lines' } as const;
    expect((await plan([resolution])).conflicts).toHaveLength(1);
  });

  test('a text for the whole file keeps the permission that the source gave it', async ({ t }) => {
    const { source, final, first } = await onDirectory(t);
    chmodSync(join(source, 'a.txt'), 0o755);
    const { path, versions } = await first();
    const resolution: Resolution = { path, take: 'text', text: 'all\n', seen: versions?.source?.oid ?? null };
    await publishNow(t.workspaces, { snapshot: final.id, resolutions: [resolution] });
    expect(statSync(join(source, 'a.txt')).mode & 0o111).toBe(0o111);
  });
});

describe('a conflict with a branch, by lines', () => {
  test('keeps every edit of the branch outside of the hunks', async ({ t }) => {
    const { repository, plan, publish } = await startOnMain(t, {
      base: { 'a.txt': base, 'b.sh': 'same\n', 'c.bin': new Uint8Array([0, 1]), 'd.txt': base },
      run: (path) => {
        writeTree(path, { 'a.txt': ofRun, 'c.bin': new Uint8Array([0, 2]), 'd.txt': ofRun });
      },
      theirs: (path) => {
        writeTree(path, { 'a.txt': ofSource, 'c.bin': new Uint8Array([0, 3]) });
        renameSync(join(path, 'd.txt'), join(path, 'moved.txt'));
        writeFileSync(join(path, 'moved.txt'), ofSource);
        chmodSync(join(path, 'a.txt'), 0o755);
      },
    });
    const { conflicts } = await plan();
    expect(conflicts.map(({ path, merge }) => [path, merge?.hunks])).toEqual([
      ['a.txt', 2],
      ['c.bin', undefined],
      ['d.txt', undefined],
    ]);
    const [lines, binary, moved] = conflicts;
    expect(moved?.detail).toContain('It was probably moved to moved.txt.');
    expect((await read(t, binary as Conflict)).reverts).toEqual({ run: null, source: null });
    const others: Resolution[] = [
      { path: 'c.bin', take: 'source', seen: binary?.versions?.source?.oid ?? null },
      { path: 'd.txt', take: 'source', seen: null },
    ];
    const resolutions = [byLines(lines as Conflict, { take: 'run_lines' }), ...others];
    expect(await publish(resolutions)).toMatchObject({ status: 'published' });
    const kept = { 10: 'run at the top', 3000: 'run in the middle', 4000: 'source alone', 5000: 'run alone' };
    expect(`${git(repository, 'show', 'main:a.txt')}\n`).toBe(text(kept));
    expect(git(repository, 'ls-tree', 'main', 'a.txt')).toMatch(/^100755/);
    expect(`${git(repository, 'show', 'main:moved.txt')}\n`).toBe(ofSource);
  });

  test('a file under a filter or without a merge driver is resolved as a whole', async ({ t }) => {
    const { plan } = await startOnMain(t, {
      base: { '.gitattributes': '*.lock -merge\n', 'a.lock': base },
      run: (path) => writeTree(path, { 'a.lock': ofRun }),
      theirs: (path) => writeTree(path, { 'a.lock': ofSource }),
    });
    expect((await plan()).conflicts).toMatchObject([{ path: 'a.lock', merge: undefined }]);
  });

  test('is another conflict once the branch has moved again', async ({ t }) => {
    const { repository, plan, publish } = await startOnMain(t, {
      base: { 'a.txt': base },
      run: (path) => writeTree(path, { 'a.txt': ofRun }),
      theirs: (path) => writeTree(path, { 'a.txt': ofSource }),
    });
    const [conflict] = (await plan()).conflicts;
    const resolutions = [byLines(conflict as Conflict, { take: 'run_lines' })];
    const tip = commitOnMain(t, repository, (path) => writeTree(path, { 'a.txt': text({ 10: 'and again' }) }));
    expect(await publish(resolutions)).toMatchObject({ status: 'conflict' });
    expect(git(repository, 'rev-parse', 'main')).toBe(tip);
  });
});
