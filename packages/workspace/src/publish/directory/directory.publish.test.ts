import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import type { PublishResult } from '../../port/workspaces.ts';
import { readTree, stamps, writeTree } from '../../testing/file-tree.ts';
import { test } from '../../testing/fixture.ts';
import { publishNow, runId, runUntilKilled, stride, temporary, tried } from '../../testing/index.ts';

const isRoot = process.getuid?.() === 0;

/** A run with every kind of change. */
async function start(t: ReturnType<typeof temporary>, prepare: (source: string) => void = () => {}) {
  const source = t.source({
    'a.txt': 'a\n',
    'b.txt': 'b\n',
    'same.txt': 'same\n',
    'mode.sh': 'x\n',
    'gone/deep/file': 'bye\n',
    'folder/one': '1\n',
    'folder/two': '2\n',
    file: 'file\n',
    link: { link: 'a.txt' },
    'kept/only': 'x\n',
    '.git/config': 'mine\n',
  });
  prepare(source);
  const { base, path } = await t.begin(source);
  for (const name of ['gone', 'folder', 'file', 'link', 'kept/only']) rmSync(join(path, name), { recursive: true });
  writeTree(path, {
    'a.txt': 'A\n',
    'new/er/file': 'new\n',
    'new/run.sh': { executable: 'new' },
    folder: 'a file now\n',
    'file/inside': 'a folder now\n',
    link: { link: 'b.txt' },
    'new-link': { link: '/etc/passwd' },
  });
  chmodSync(join(path, 'mode.sh'), 0o755);
  const final = await t.snapshot(base.id);
  return {
    source,
    base,
    final,
    path,
    old: readTree(source),
    now: { ...readTree(path), '.git': 'folder', '.git/config': 'file mine\n' },
  };
}

const publish = (t: ReturnType<typeof temporary>, snapshot: string) => t.publish({ snapshot, message: 'x' });

function conflictsIn(result: PublishResult): string[] {
  return result.status === 'conflict' ? result.conflicts.map(({ path, reason }) => `${reason} ${path}`) : [];
}

describe('publish to a directory', () => {
  test('writes every kind of change, and a repeated call answers the same', async ({ t }) => {
    const { source, final, now } = await start(t);
    const result = await publish(t, final.id);
    expect(result).toEqual({
      status: 'published',
      published: { type: 'directory', path: source, files_written: 8, files_deleted: 5, left_out: [] },
    });
    expect(readTree(source)).toEqual(now);
    expect(await publishNow(t.reopen(), { runId, snapshot: final.id })).toEqual(result);
    writeFileSync(join(source, 'a.txt'), 'edited afterwards\n');
    expect(await publish(t, final.id)).toEqual(result);
    expect(readFileSync(join(source, 'a.txt'), 'utf8')).toBe('edited afterwards\n');
  });

  test('does not touch unchanged and unknown files', async ({ t }) => {
    const { source, final, now } = await start(t);
    writeFileSync(join(source, 'same.txt'), 'edited during the run\n');
    writeFileSync(join(source, 'unknown'), 'made during the run\n');
    const { ino } = lstatSync(join(source, 'b.txt'));
    expect(await publish(t, final.id)).toMatchObject({ status: 'published' });
    expect(readTree(source)).toEqual({
      ...now,
      'same.txt': 'file edited during the run\n',
      unknown: 'file made during the run\n',
    });
    expect(lstatSync(join(source, 'b.txt')).ino).toBe(ino);
  });

  test.runIf(isRoot)('keeps owner and mode of replaced files; new files get those of the folder', async ({ t }) => {
    const { source, final } = await start(t, (path) => {
      execFileSync('chown', ['-R', '20002:20003', path]);
      chownSync(join(path, 'a.txt'), 20004, 20005);
      chmodSync(join(path, 'a.txt'), 0o600);
      chmodSync(join(path, 'mode.sh'), 0o640);
      chmodSync(path, 0o750);
    });
    expect(await publish(t, final.id)).toMatchObject({ status: 'published' });
    const of = (name: string) => {
      const { uid, gid, mode } = lstatSync(join(source, name));
      return `${uid}:${gid} ${(mode & 0o7777).toString(8)}`;
    };
    expect(of('a.txt')).toBe('20004:20005 600');
    expect(of('mode.sh')).toBe('20002:20003 750');
    expect(of('new/run.sh')).toBe('20002:20003 755');
    expect(of('new/er/file')).toBe('20002:20003 644');
    expect(of('new/er')).toBe('20002:20003 750');
    expect(of('link')).toBe('20002:20003 777');
    expect(execFileSync('find', [source, '-uid', '20001']).toString()).toBe('');
  });

  test('does not delete or overwrite skipped files', async () => {
    using t = temporary({ limits: { fileBytes: 1000 } });
    const source = t.source({ large: Buffer.alloc(2000), small: 's', grows: 'g' });
    const { base, path } = await t.begin(source);
    writeTree(path, { large: 'small now', small: 'S', grows: 'G' });
    const one = await t.snapshot(base.id);
    writeTree(path, { large: Buffer.alloc(3000), grows: Buffer.alloc(3000) });
    const two = await t.snapshot(one.id);
    expect(await publish(t, two.id)).toMatchObject({
      status: 'published',
      published: { files_written: 1, files_deleted: 0 },
    });
    expect(lstatSync(join(source, 'large')).size).toBe(2000);
    expect(readFileSync(join(source, 'grows'), 'utf8')).toBe('g');
    expect(readFileSync(join(source, 'small'), 'utf8')).toBe('S');
  });

  test('continues from the last publish', async ({ t }) => {
    const { source, final, path } = await start(t);
    await publish(t, final.id);
    writeTree(path, { 'a.txt': 'once more\n' });
    const next = await t.snapshot(final.id);
    expect(await publish(t, next.id)).toMatchObject({ status: 'published' });
    expect(readFileSync(join(source, 'a.txt'), 'utf8')).toBe('once more\n');
    expect(await publish(t, final.id)).toMatchObject({ status: 'published' });
    expect(readFileSync(join(source, 'a.txt'), 'utf8')).toBe('A\n');
  });
});

describe('a change of the source', () => {
  const edits: [string, string, (source: string) => void][] = [
    ['an edited file', 'a.txt', (s) => writeFileSync(join(s, 'a.txt'), 'theirs\n')],
    ['an edit of a deleted file', 'gone/deep/file', (s) => writeFileSync(join(s, 'gone/deep/file'), 'theirs\n')],
    ['a removed file', 'a.txt', (s) => rmSync(join(s, 'a.txt'))],
    ['a changed mode', 'mode.sh', (s) => chmodSync(join(s, 'a.txt'), 0o755)],
    ['a new file in the way', 'new/er/file', (s) => writeTree(s, { 'new/er/file': 'theirs' })],
    ['a folder in the way', 'new-link', (s) => mkdirSync(join(s, 'new-link/x'), { recursive: true })],
    ['a file where a folder must be', 'new/er/file', (s) => writeFileSync(join(s, 'new'), 'theirs')],
    ['another file in a removed folder', 'folder', (s) => writeFileSync(join(s, 'folder/three'), 'theirs')],
    ['a link where a folder was', 'new/er/file', (s) => symlinkSync('/tmp', join(s, 'new'))],
    ['a repository in a removed folder', 'folder', (s) => writeTree(s, { 'folder/.git/x': 'theirs' })],
    ['another link', 'link', (s) => void execFileSync('ln', ['-sfn', 'theirs', join(s, 'link')])],
    ['a FIFO in the way', 'new-link', (s) => void execFileSync('mkfifo', [join(s, 'new-link')])],
  ];
  test.for(edits)('is a conflict and nothing is written: %s', async ([_, path, edit], { t }) => {
    const { source, final } = await start(t);
    edit(source);
    const theirs = stamps(source);
    const conflicts = conflictsIn(await publish(t, final.id));
    expect(conflicts).toContain(`changed_in_source ${path === 'mode.sh' ? 'a.txt' : path}`);
    expect(stamps(source)).toBe(theirs);
  });

  test('is a conflict when the source is removed', async ({ t }) => {
    const { source, final } = await start(t);
    rmSync(source, { recursive: true });
    expect(conflictsIn(await publish(t, final.id))).toEqual([`source_missing ${source}`]);
  });

  test('to the published state is no conflict', async ({ t }) => {
    const { source, final, now } = await start(t);
    writeFileSync(join(source, 'a.txt'), 'A\n');
    rmSync(join(source, 'gone'), { recursive: true });
    expect(await publish(t, final.id)).toMatchObject({ status: 'published' });
    expect(readTree(source)).toEqual(now);
  });

  test('at any point of the publish is kept, and everything else is rolled back', async ({ t }) => {
    const { source, final, old } = await start(t);
    const copy = join(t.path, 'copy');
    cpSync(source, copy, { recursive: true, verbatimSymlinks: true });
    const points = ['publish.checked', 'publish.committed', 'publish.removed', 'publish.staged', 'publish.placed'];
    const victims = ['a.txt', 'folder/one', 'new/er/file', 'link'];
    let conflicts = 0;
    for (const point of points) {
      for (const victim of victims) {
        let edited = false;
        const editor = t.reopen({
          onPoint: (reached) => {
            if (edited || reached !== point || !isUntouched(source, copy, victim)) return;
            edited = true;
            rmSync(join(source, victim), { force: true });
            writeTree(source, { [victim]: 'theirs\n' });
          },
        });
        const result = await publishNow(editor, { runId, snapshot: final.id });
        expect(edited || result.status === 'published').toBe(true);
        if (edited) {
          conflicts += 1;
          expect(conflictsIn(result)).toContain(`changed_in_source ${victim}`);
          const parents = victim === 'new/er/file' ? { new: 'folder', 'new/er': 'folder' } : {};
          expect(readTree(source), `${point} ${victim}`).toEqual({ ...old, ...parents, [victim]: 'file theirs\n' });
        }
        expect(existsSync(join(t.dataDir, 'runs', runId, 'publish/journal.json'))).toBe(false);
        rmSync(source, { recursive: true });
        cpSync(copy, source, { recursive: true, verbatimSymlinks: true });
        rmSync(join(t.dataDir, 'runs', runId, 'publish'), { recursive: true, force: true });
      }
    }
    expect(conflicts).toBeGreaterThan(12);
  });
});

describe('a killed publish', () => {
  test('ends as exactly the old or exactly the new, also when killed in recovery', async ({ t }) => {
    const { source, final, old, now } = await start(t);
    const copy = join(t.path, 'copy');
    cpSync(source, copy, { recursive: true, verbatimSymlinks: true });
    const act = { verb: 'publish', snapshot: final.id };
    let killed = 0;
    for (let dieAt = 1; ; dieAt += stride) {
      if (!runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act })) break;
      killed += 1;
      const journal = join(t.dataDir, 'runs', runId, 'publish/journal.json');
      const committed = existsSync(journal) || existsSync(join(t.dataDir, 'runs', runId, 'publish/last.json'));
      if (!committed) expect(readTree(source)).toEqual(old);
      // Sometimes it is killed a second time during recovery.
      if (killed % 3 === 0) runUntilKilled({ dataDir: t.dataDir, runId, dieAt: 2, act });
      expect(await t.publish({ snapshot: final.id })).toMatchObject({
        status: 'published',
        published: { files_written: 8, files_deleted: 5 },
      });
      expect(readTree(source)).toEqual(now);
      expect(existsSync(journal)).toBe(false);
      rmSync(source, { recursive: true });
      cpSync(copy, source, { recursive: true, verbatimSymlinks: true });
      rmSync(join(t.dataDir, 'runs', runId, 'publish'), { recursive: true });
    }
    expect(killed).toBeGreaterThanOrEqual(tried(21));
    expect(readTree(source)).toEqual(now);
  });

  test('is finished before the run is discarded', async ({ t }) => {
    const { source, final, old, now } = await start(t);
    const act = { verb: 'publish', snapshot: final.id };
    expect(runUntilKilled({ dataDir: t.dataDir, runId, dieAt: 10, act })).toBe(true);
    expect(readTree(source)).not.toEqual(old);
    await t.workspaces.discard(runId);
    expect(readTree(source)).toEqual(now);
  });

  test('in the middle of a rollback ends as exactly the old, with the edit', async ({ t }) => {
    const { source, final, old } = await start(t);
    const copy = join(t.path, 'copy');
    cpSync(source, copy, { recursive: true, verbatimSymlinks: true });
    let killed = 0;
    for (let dieAt = 1; ; dieAt += 2) {
      // Stops half-way; then a file is edited that recovery still has to check.
      let points = 0;
      const stopping = t.reopen({
        onPoint: () => {
          points += 1;
          if (points === 12) throw new Error('stop');
        },
      });
      await expect(publishNow(stopping, { runId, snapshot: final.id })).rejects.toThrow('stop');
      const act = { verb: 'publish', snapshot: final.id };
      const victim = ['a.txt', 'link', 'new-link'].find((name) => isUntouched(source, copy, name)) ?? 'new/er/file';
      rmSync(join(source, victim), { force: true });
      writeTree(source, { [victim]: 'theirs\n' });
      const again = runUntilKilled({ dataDir: t.dataDir, runId, dieAt, act });
      if (again) killed += 1;
      const result = await t.publish({ snapshot: final.id });
      expect(conflictsIn(result)).toContain(`changed_in_source ${victim}`);
      const tree = readTree(source);
      const left = victim.includes('/') ? { new: 'folder', 'new/er': 'folder' } : {};
      expect(tree).toEqual({ ...old, ...left, [victim]: 'file theirs\n' });
      rmSync(source, { recursive: true });
      cpSync(copy, source, { recursive: true, verbatimSymlinks: true });
      rmSync(join(t.dataDir, 'runs', runId, 'publish'), { recursive: true, force: true });
      if (!again) break;
    }
    expect(killed).toBeGreaterThan(2);
  });
});

/** Whether a path is still as it was before the publish. */
function isUntouched(source: string, copy: string, path: string): boolean {
  const [now, before] = [source, copy].map((root) => JSON.stringify(readTree(root)[path] ?? 'absent'));
  return now === before;
}
