import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Resolution } from '@holdpoint/contract';
import { describe, expect } from 'vitest';
import { type FileTree, readTree, writeTree } from '../../testing/file-tree.ts';
import { test } from '../../testing/fixture.ts';
import { runId, runUntilKilled, stride, type Temporary, takeAll, temporary } from '../../testing/index.ts';
import { git, gitBytes, initRepository } from '../../testing/real-git.ts';

const branch = `refs/heads/holdpoint/${runId}`;
const isRoot = process.getuid?.() === 0;

async function start(t: Temporary, at: { base: FileTree; run: FileTree; prepare?: (source: string) => void }) {
  const source = join(t.path, 'source');
  // The attributes are committed later, so that git stores the files unconverted.
  const { '.gitattributes': attributes, ...files } = at.base;
  writeTree(source, files);
  initRepository(source);
  if (attributes !== undefined) {
    writeTree(source, { '.gitattributes': attributes });
    git(source, 'add', '.gitattributes');
    git(source, 'commit', '-q', '-m', 'attributes');
  }
  at.prepare?.(source);
  const { base: made, path } = await t.begin({ type: 'git', path: source });
  writeTree(path, at.run);
  const final = await t.snapshot(made.id);
  const plan = (resolutions: Resolution[] = [], snapshot = final.id) =>
    t.workspaces.planPublish({ runId, snapshot, resolutions, target: { message: 'm' } });
  const publish = (resolutions: Resolution[] = [], snapshot = final.id) => t.publish({ snapshot, resolutions });
  return { source, path, final, plan, publish };
}

const blob = (source: string, path: string): string =>
  gitBytes(source, ['cat-file', 'blob', `${branch}:${path}`]).toString('latin1');

/** Files of the published commit that `git add --renormalize` would still change. */
function notNormal(t: Temporary, source: string): string {
  const clone = join(t.path, `clone-${randomBytes(4).toString('hex')}`);
  git(t.path, 'clone', '-q', '-b', `holdpoint/${runId}`, source, clone);
  git(clone, 'add', '--renormalize', '.');
  return git(clone, 'status', '--porcelain');
}

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex');

function pointer(content: Uint8Array): string {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(content)}\nsize ${content.length}\n`;
}

const stored = (source: string, content: Uint8Array): string => {
  const oid = sha256(content);
  return join(source, '.git/lfs/objects', oid.slice(0, 2), oid.slice(2, 4), oid);
};

describe('line endings', () => {
  const base = {
    ...{ '.gitattributes': '*.bat text eol=crlf\n*.txt text=auto\n*.png binary\nown/* ident\n', 'a.bat': 'a\nb\n' },
    ...{ 'crlf.txt': 'x\r\n', 'own/id': '$Id$\n', 'untouched.bat': 'u\r\n' },
  };
  const run = {
    ...{ 'a.bat': 'a\r\nb\r\nc\r\n', 'new.txt': 'n\r\n', 'crlf.txt': 'x\r\ny\r\n', 'image.png': 'p\r\n\0' },
    ...{ 'data.txt': 'd\r\n\0', 'own/id': '$Id: 123 $\nmore\n', plain: 'no attribute\r\n' },
  };

  test('of changed files equal those of `git add`, and the plan lists them', async ({ t }) => {
    const { source, plan, publish, path } = await start(t, { base, run });
    const planned = await plan();
    expect(planned.conflicts).toEqual([]);
    expect(planned.converted).toEqual([
      { path: 'a.bat', how: 'line_endings' },
      { path: 'new.txt', how: 'line_endings' },
      { path: 'own/id', how: 'ident' },
    ]);
    expect(await publish()).toMatchObject({ status: 'published' });
    const expected = { ...run, 'a.bat': 'a\nb\nc\n', 'new.txt': 'n\n', 'own/id': '$Id$\nmore\n' };
    for (const [name, content] of Object.entries(expected)) expect(blob(source, name)).toBe(content);
    // Not changed by the run and not normalized before: `text=auto` keeps existing CRLF.
    expect(
      notNormal(t, source)
        .split('\n')
        .map((row) => row.slice(3)),
    ).toEqual(['crlf.txt', 'untouched.bat']);
    // Validators see the published version.
    await t.workspaces.restore({ epoch: 1, runId, snapshot: planned.candidate });
    expect(readTree(path)).toMatchObject({ 'a.bat': 'file a\nb\nc\n', 'own/id': 'file $Id$\nmore\n' });
  });

  test('follow the attributes of the run and of info/attributes', async ({ t }) => {
    const { source, publish } = await start(t, {
      base: { 'a.txt': 'a\n' },
      run: { 'sub/.gitattributes': '*.sh text\n', 'sub/x.sh': 'x\r\n', 'y.sh': 'y\r\n', 'z.inf': 'z\r\n' },
      prepare: (repository) => appendFileSync(join(repository, '.git/info/attributes'), '*.inf text\n'),
    });
    expect(await publish()).toMatchObject({ status: 'published' });
    expect(['sub/x.sh', 'y.sh', 'z.inf'].map((name) => blob(source, name))).toEqual(['x\n', 'y\r\n', 'z\n']);
  });

  test('alone are no change, and no conflict when the run changes the file again', async ({ t }) => {
    const { source, path, plan, publish, final } = await start(t, {
      base: { '.gitattributes': '* text\n', 'a.txt': 'a\n', 'b.txt': 'b\n' },
      run: { 'a.txt': 'a\r\n', 'b.txt': 'b\r\nb\r\n' },
    });
    expect((await plan()).files.map((file) => file.path)).toEqual(['b.txt']);
    expect(await publish()).toMatchObject({ status: 'published' });
    writeTree(path, { 'a.txt': 'a\r\na\r\n', 'b.txt': 'b\r\nb\r\nB\r\n' });
    const next = await t.snapshot(final.id);
    expect(await publish([], next.id)).toMatchObject({ status: 'published' });
    expect([blob(source, 'a.txt'), blob(source, 'b.txt')]).toEqual(['a\na\n', 'b\nb\nB\n']);
  });
});

test('a file with only a new mode keeps its content in the repository', async ({ t }) => {
  const { source, path, final, publish } = await start(t, {
    base: { '.gitattributes': '*.txt text\n', 'a.txt': 'x\r\n' },
    run: {},
  });
  chmodSync(join(path, 'a.txt'), 0o755);
  const next = await t.snapshot(final.id);
  await publish([], next.id);
  expect(git(source, 'ls-tree', branch, 'a.txt')).toMatch(/^100755 /);
  expect(blob(source, 'a.txt')).toBe('x\r\n');
});

describe('content of git-lfs', () => {
  const old = Buffer.from('what was there');
  const fresh = randomBytes(200_000);
  const changed = randomBytes(3000);
  const base = {
    ...{ '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n', 'kept.bin': pointer(old) },
    ...{ 'changed.bin': pointer(old), 'a.txt': 'a\n' },
  };
  const run = {
    ...{ 'a.txt': 'A\n', 'new.bin': fresh, 'changed.bin': changed, 'empty.bin': '', 'moved.bin': pointer(old) },
  };

  test('becomes a pointer, and an object in the storage of git-lfs', async ({ t }) => {
    const { source, path, plan, publish, final } = await start(t, {
      ...{ base, run },
      prepare: (at) => {
        if (isRoot) execFileSync('chown', ['-R', '20002:20003', at]);
      },
    });
    const planned = await plan();
    expect(planned.converted).toEqual([
      { path: 'changed.bin', how: 'lfs' },
      { path: 'new.bin', how: 'lfs' },
    ]);
    expect(existsSync(join(source, '.git/lfs'))).toBe(false);
    expect(await publish()).toMatchObject({ status: 'published' });
    const names = ['new.bin', 'changed.bin', 'empty.bin', 'moved.bin', 'kept.bin'];
    expect(names.map((name) => blob(source, name))).toEqual([
      ...[pointer(fresh), pointer(changed), '', pointer(old), pointer(old)],
    ]);
    for (const content of [fresh, changed]) {
      expect(readFileSync(stored(source, content)).equals(content)).toBe(true);
      if (isRoot) expect(statSync(stored(source, content))).toMatchObject({ uid: 20_002, gid: 20_003 });
      expect(readdirSync(join(stored(source, content), '..'))).toEqual([sha256(content)]);
    }
    if (isRoot) expect(execFileSync('find', [source, '-not', '-user', '20002']).toString()).toBe('');
    // Validators see the content, not the pointer.
    expect(planned.candidate).toBe(final.id);

    const later = randomBytes(100);
    writeTree(path, { 'new.bin': later, 'a.txt': 'AA\n' });
    const next = await t.snapshot(final.id);
    const second = await plan([], next.id);
    expect(await publish([], next.id)).toMatchObject({ status: 'published' });
    expect([blob(source, 'new.bin'), blob(source, 'changed.bin')]).toEqual([pointer(later), pointer(changed)]);
    expect(readFileSync(stored(source, later)).equals(later)).toBe(true);
    await t.workspaces.restore({ epoch: 1, runId, snapshot: second.candidate });
    expect(readFileSync(join(path, 'changed.bin')).equals(changed)).toBe(true);
    expect(readFileSync(join(path, 'new.bin')).equals(later)).toBe(true);
  });

  test('is stored before any branch points to it, wherever the publish is killed', async () => {
    for (let dieAt = 1; ; dieAt += stride) {
      using t = temporary();
      const { source, final, publish } = await start(t, { base, run });
      const isKilled = runUntilKilled({
        dataDir: t.dataDir,
        runId,
        dieAt,
        act: { verb: 'publish', snapshot: final.id },
      });
      if (git(source, 'for-each-ref', branch) !== '') {
        for (const content of [fresh, changed])
          expect(readFileSync(stored(source, content)).equals(content)).toBe(true);
      }
      expect(await publish()).toMatchObject({ status: 'published' });
      for (const content of [fresh, changed]) {
        expect(readFileSync(stored(source, content)).equals(content)).toBe(true);
        expect(readdirSync(join(stored(source, content), '..'))).toEqual([sha256(content)]);
      }
      if (!isKilled) break;
    }
  });

  test.for<[string, (source: string) => void]>([
    ['stored elsewhere', (source) => git(source, 'config', 'lfs.storage', '/elsewhere')],
    ['stored behind a link', (source) => symlinkSync('/nowhere', join(source, '.git/lfs'))],
  ])('is a conflict when it is %s', async ([_, prepare], { t }) => {
    const { source, plan, publish } = await start(t, { base, run, prepare });
    const planned = await plan();
    expect(planned.conflicts.map(({ path, reason }) => `${reason} ${path}`)).toEqual([
      ...['attributes changed.bin', 'attributes new.bin'],
    ]);
    expect(planned.conflicts[0]).toMatchObject({
      detail: expect.stringContaining('lfs'),
      versions: { source: { text: pointer(old) }, run: { bytes: changed.length } },
    });
    expect(await publish()).toMatchObject({ status: 'conflict' });
    expect(await publish(takeAll(planned, 'source'))).toMatchObject({ status: 'published' });
    expect(blob(source, 'changed.bin')).toBe(pointer(old));
    expect(git(source, 'ls-tree', '--name-only', branch).split('\n')).not.toContain('new.bin');
  });
});

describe('content that a filter of the host would change', () => {
  const base = { '.gitattributes': 'secret/* filter=git-crypt\n', 'secret/key': 'sealed\n', 'a.txt': 'a\n' };
  const run = { 'secret/key': 'open\n', 'a.txt': 'A\n' };

  test('is published only with a resolution', async ({ t }) => {
    const canary = join(t.path, 'canary');
    const { source, plan, publish } = await start(t, {
      ...{ base, run },
      prepare: (at) => git(at, 'config', 'filter.git-crypt.clean', `touch ${canary}`),
    });
    const planned = await plan();
    expect(planned.conflicts).toMatchObject([
      {
        ...{ path: 'secret/key', reason: 'attributes', detail: expect.stringContaining('"git-crypt"') },
        versions: { base: { text: 'sealed\n' }, source: { text: 'sealed\n' }, run: { text: 'open\n' } },
      },
    ]);
    expect(await publish()).toMatchObject({ status: 'conflict' });
    expect(git(source, 'for-each-ref', branch)).toBe('');
    const kept = await plan(takeAll(planned, 'source'));
    expect(kept.files.map((file) => file.path)).toEqual(['a.txt']);
    expect(await publish(takeAll(planned, 'run'))).toMatchObject({ status: 'published' });
    expect([blob(source, 'secret/key'), blob(source, 'a.txt')]).toEqual(['open\n', 'A\n']);
    expect(existsSync(canary)).toBe(false);
  });

  test('may be left alone, moved away or deleted', async ({ t }) => {
    const { source, path, final, publish } = await start(t, { base, run: { 'a.txt': 'A\n' } });
    rmSync(join(path, 'secret'), { recursive: true });
    const next = await t.snapshot(final.id);
    expect(await publish([], next.id)).toMatchObject({ status: 'published' });
    expect(git(source, 'ls-tree', '-r', '--name-only', branch).split('\n')).toEqual(['.gitattributes', 'a.txt']);
  });
});

test('a file with working-tree-encoding is UTF-8 in workspace and repository', async ({ t }) => {
  const { source, path, plan, publish, final } = await start(t, {
    base: { '.gitattributes': '*.ps1 working-tree-encoding=UTF-16 eol=lf\n', 'a.ps1': 'é\n' },
    run: { 'a.ps1': 'é\r\nmore\n' },
  });
  expect(await publish()).toMatchObject({ status: 'published' });
  expect(Buffer.from(blob(source, 'a.ps1'), 'latin1').toString('utf8')).toBe('é\nmore\n');
  writeFileSync(join(path, 'a.ps1'), Buffer.from('\ufeffé\n', 'utf16le'));
  const next = await t.snapshot(final.id);
  expect((await plan([], next.id)).conflicts).toMatchObject([
    { path: 'a.ps1', reason: 'attributes', detail: expect.stringContaining('UTF-16') },
  ]);
});
