import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { rejects, test } from '../testing/fixture.ts';
import { git, gitBytes, runId, type Temporary, temporary, writeTree } from '../testing/index.ts';

/** Every object as a file of its own, so that a single one can be lost. */
function unpack(shadow: string): void {
  const folder = join(shadow, 'objects/pack');
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.pack'))) {
    const pack = readFileSync(join(folder, name));
    for (const ending of ['.pack', '.idx', '.rev', '.keep'])
      rmSync(join(folder, name.replace(/\.pack$/, ending)), { force: true });
    gitBytes(shadow, ['unpack-objects', '-q'], pack);
  }
}

const objectPath = (t: Temporary, path: string, snapshot: string): string => {
  const oid = git(t.shadow(runId), 'rev-parse', `${snapshot}:${path}`).trim();
  return join(t.shadow(runId), 'objects', oid.slice(0, 2), oid.slice(2));
};

const damage = {
  deleted: (path: string) => rmSync(path),
  flipped: (path: string) => {
    const bytes = readFileSync(path);
    const at = bytes.length >> 1;
    bytes[at] = (bytes[at] ?? 0) ^ 0x10;
    rmSync(path);
    writeFileSync(path, bytes);
  },
  empty: (path: string) => {
    rmSync(path);
    writeFileSync(path, '');
  },
};
const kinds = Object.keys(damage) as (keyof typeof damage)[];

/** A run that changed, made, removed and moved files. */
async function start(t: Temporary, type: 'directory' | 'git' = 'directory') {
  const source = t.source(
    { 'a.txt': 'a\n', 'm/changed.txt': 'one\ntwo\n', 'removed.txt': 'gone\n', 'was.txt': 'moved\n'.repeat(20) },
    type,
  );
  const { base, path } = await t.begin({ type, path: source });
  writeTree(path, { 'a.txt': 'A\n', 'm/changed.txt': 'one\n2\n', 'new.txt': 'n\n', 'is.txt': 'moved\n'.repeat(20) });
  rmSync(join(path, 'removed.txt'));
  rmSync(join(path, 'was.txt'));
  const next = await t.snapshot(base.id);
  unpack(t.shadow(runId));
  return { from: base.id, to: next.id };
}
const whole = [
  ['a.txt', 'modified', 1, 1],
  ['is.txt', 'added', 20, 0],
  ['m/changed.txt', 'modified', 1, 1],
  ['new.txt', 'added', 1, 0],
  ['removed.txt', 'deleted', 0, 1],
  ['was.txt', 'deleted', 0, 20],
] as const;

for (const type of ['directory', 'git'] as const)
  for (const kind of kinds) {
    test.for([
      ['m/changed.txt', 'to'],
      ['m/changed.txt', 'from'],
      ['new.txt', 'to'],
      ['removed.txt', 'from'],
    ] as const)(
      `a ${kind} object of one file (${type}): %s in %s; the others are shown`,
      async ([path, side], { t }) => {
        const between = await start(t, type);
        damage[kind](objectPath(t, path, between[side]));
        const { files } = await t.reopen().diff({ runId, ...between });
        expect(files.map((file) => [file.path, file.status, file.additions, file.deletions])).toEqual(
          whole.map(([name, status, ...counts]) => (name === path ? [name, status, 0, 0] : [name, status, ...counts])),
        );
        expect(files.filter(({ unreadable }) => unreadable !== undefined)).toMatchObject([
          { path, hunks: [], unreadable: { code: 'EWORKSPACECORRUPT', next: expect.stringContaining('backup') } },
        ]);
        // A patch without the file would be another change.
        await rejects(t.workspaces.patch({ runId, ...between }), 'EWORKSPACECORRUPT', {
          message: expect.stringContaining(path),
        });
        expect(String(await t.workspaces.patch({ runId, ...between, path: 'a.txt' }))).toContain('+A');
        const [one] = (await t.workspaces.diff({ runId, ...between, path })).files;
        expect(one).toMatchObject({ path, unreadable: { code: 'EWORKSPACECORRUPT' } });
      },
    );
  }

test('several damaged files, also ignored ones, are each named', async ({ t }) => {
  const source = t.source({ '.gitignore': 'out/\n', 'a.txt': 'a\n' }, 'git');
  const { base, path } = await t.begin({ type: 'git', path: source });
  writeTree(path, { 'a.txt': 'A\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'out/x': 'x\n' });
  const next = await t.snapshot(base.id);
  unpack(t.shadow(runId));
  damage.flipped(objectPath(t, 'a.txt', next.id));
  damage.flipped(objectPath(t, 'c.txt', next.id));
  damage.deleted(objectPath(t, 'out/x', next.id));
  const { files, left_out } = await t.workspaces.diff({ runId, from: base.id, to: next.id });
  expect(files.map((file) => [file.path, file.unreadable === undefined])).toEqual([
    ['a.txt', false],
    ['b.txt', true],
    ['c.txt', false],
  ]);
  expect(left_out).toMatchObject([{ path: 'out/', reason: 'ignored', files: 1 }]);
});

test.for(kinds)(
  'a publish with a %s object is refused with the name of the file, and the source is unchanged',
  async (kind) => {
    for (const type of ['directory', 'git'] as const) {
      using own = temporary();
      const between = await start(own, type);
      damage[kind](objectPath(own, 'm/changed.txt', between.to));
      const before = readFileSync(join(own.path, 'source/a.txt'), 'utf8');
      await rejects(own.publish({ snapshot: between.to }), 'EWORKSPACECORRUPT', {
        message: expect.stringContaining('m/changed.txt'),
      });
      expect(readFileSync(join(own.path, 'source/a.txt'), 'utf8')).toBe(before);
    }
  },
);

test('a lost tree names the damage, and no file', async ({ t }) => {
  const between = await start(t);
  damage.deleted(objectPath(t, 'm', between.to));
  await rejects(t.reopen().diff({ runId, ...between }), 'EWORKSPACECORRUPT', {
    message: expect.stringContaining('folder'),
  });
});
