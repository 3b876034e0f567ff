import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type FileDiff, fileCountsSchema } from '@holdpoint/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FileTree, git, gitBytes, initRepository, runId, temporary, writeTree } from '../testing/index.ts';

const line = fc.constantFrom(
  'a',
  'b',
  '',
  '-- x',
  '++ y',
  '@@ -1 +1 @@',
  '\\ No newline',
  'tab\there',
  'ünï ☃',
  'diff --git a/x b/x',
);
/** Texts with both line ends, with and without the last one, and binary content. */
const content = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.array(line, { maxLength: 30 }), fc.constantFrom('\n', '\r\n'), fc.constantFrom('', 'end', '\n'))
      .map(([lines, end, last]) => lines.map((one) => one + end).join('') + last),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...[
        [0, 1, 2],
        [0xff, 0xfe, 0],
        [0, 9],
      ].map((bytes) => new Uint8Array(bytes)),
    ),
  },
);
const node = fc.oneof(
  { weight: 5, arbitrary: content },
  {
    weight: 1,
    arbitrary: content
      .filter((one) => typeof one === 'string')
      .map((executable) => ({ executable: executable as string })),
  },
  { weight: 1, arbitrary: fc.constantFrom({ link: 'a' }, { link: 'gone/away' }) },
);
const path = fc.constantFrom('a', 'b', 'c/d', 'c/e', 'ünï code', 'sp ace/☃', 'quote"d', 'new\nline', 'tab\there', '-x');
const tree = fc.dictionary(path, node, { minKeys: 1, maxKeys: 7 });

/** The later tree keeps, moves, edits and drops files of the earlier one. */
const trees = fc.tuple(tree, tree, fc.dictionary(path, fc.nat(6))).map(([before, made, kept]) => {
  const old = Object.values(before);
  const moved = Object.entries(kept).flatMap(([name, at]) => (old[at] === undefined ? [] : [[name, old[at]] as const]));
  return { before, after: { ...Object.fromEntries(moved), ...(moved.length > 3 ? {} : made) } as FileTree };
});

test('hunks, counts, modes and moves are those of git, and the hunks make the new file of the old one', {
  timeout: 120_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(trees, async ({ before, after }) => {
      using t = temporary();
      const theirs = await snapshotsOfGit(t.path, before, after);
      const { base, path: root } = await t.begin(t.source(before));
      for (const name of Object.keys(before))
        rmSync(join(root, name.split('/')[0] ?? ''), { recursive: true, force: true });
      writeTree(root, after);
      const { id } = await t.snapshot(base.id);
      const between = { runId, from: base.id, to: id };
      const { files } = await t.workspaces.diff(between);
      expect(files.map(hunkText)).toEqual(theirs.patches);
      expect(files.map(rawText)).toEqual(theirs.raw);
      for (const file of files) appliesTo(file, before, after);
      const stat = await t.workspaces.diffStat(between);
      for (const file of stat.files) fileCountsSchema.parse(file);
      expect(stat.files).toEqual(files.map(({ hunks: _, omitted: __, cut: ___, ...file }) => file));
      for (const file of files) {
        const alone = await t.workspaces.diff({ ...between, path: file.path });
        expect(alone.files).toContainEqual(file);
      }
    }),
    { numRuns: Number(process.env.HOLDPOINT_DIFF_RUNS ?? 12) },
  );
});

/** What the real git says about the same two trees, in a repository that it made. */
async function snapshotsOfGit(folder: string, before: FileTree, after: FileTree) {
  const repository = join(folder, 'theirs');
  writeTree(repository, before);
  initRepository(repository);
  git(repository, 'rm', '-rqf', '.');
  writeTree(repository, after);
  git(repository, 'add', '-A');
  git(repository, 'commit', '-q', '--allow-empty', '-m', 'after');
  const shown = (flag: string) =>
    gitBytes(repository, ['diff-tree', '-r', '-M50%', '-z', '--no-color', flag, 'HEAD~', 'HEAD']).toString('utf8');
  const patch = gitBytes(repository, ['diff-tree', '-r', '-p', '-M50%', '--no-color', 'HEAD~', 'HEAD']).toString(
    'utf8',
  );
  const raw = rawOf(shown('--raw').split('\0').slice(0, -1));
  const sections = patch.split(/^(?=diff --git )/m).filter((text) => text !== '');
  let at = 0;
  const patches = raw.map((row) => {
    const own = sections.slice(at, at + (row.startsWith('T ') ? 2 : 1));
    at += own.length;
    return own.map(hunksIn).join('');
  });
  return { raw: raw.map((row) => row.replace(/^T /, 'M ')), patches };
}

const hunksIn = (section: string): string => {
  const start = section.indexOf('\n@@ ');
  const text = start === -1 ? '' : section.slice(start + 1);
  return text.replaceAll(/^(@@ [^@]* @@).*$/gm, '$1');
};

/** `M 100644 100755 path`, with the earlier path of a moved file in front. */
function rawOf(fields: readonly string[]): string[] {
  const rows: string[] = [];
  for (let at = 0; at < fields.length; ) {
    const [, old = '', now = '', letter = ''] = /^:(\d+) (\d+) \S+ \S+ ([A-Z])/.exec(fields[at] ?? '') ?? [];
    const isMove = letter === 'R';
    const name = isMove ? `${fields[at + 1]} -> ${fields[at + 2]}` : fields[at + 1];
    rows.push(`${isMove ? 'M' : letter} ${old} ${now} ${name}`);
    at += isMove ? 3 : 2;
  }
  return rows;
}

const letters = { added: 'A', modified: 'M', deleted: 'D' } as const;
const rawText = ({ status, old_mode, new_mode, moved_from, path: now }: FileDiff): string =>
  `${letters[status]} ${old_mode ?? '000000'} ${new_mode ?? '000000'} ${moved_from === undefined ? '' : `${moved_from} -> `}${now}`;

const range = (start: number, lines: number): string => (lines === 1 ? `${start}` : `${start},${lines}`);
const hunkText = ({ hunks }: FileDiff): string =>
  hunks
    .map((hunk) => {
      const head = `@@ -${range(hunk.old_start, hunk.old_lines)} +${range(hunk.new_start, hunk.new_lines)} @@`;
      return [head, ...hunk.lines].map((text) => `${text}\n`).join('');
    })
    .join('');

/** A second implementation of `git apply`, for a text that stays a text. */
function appliesTo(file: FileDiff, before: FileTree, after: FileTree): void {
  const [old, now] = [textOf(before[file.moved_from ?? file.path]), textOf(after[file.path])];
  if (file.binary || old === undefined || now === undefined || file.status !== 'modified') return;
  if (file.old_mode?.slice(0, 3) !== file.new_mode?.slice(0, 3)) return;
  const lines = old.split(/(?<=\n)/);
  const made: string[] = [];
  let at = 0;
  for (const hunk of file.hunks) {
    const start = hunk.old_lines === 0 ? hunk.old_start : hunk.old_start - 1;
    made.push(...lines.slice(at, start));
    at = start + hunk.old_lines;
    for (const [index, text] of hunk.lines.entries()) {
      const end = hunk.lines[index + 1]?.startsWith('\\') ? '' : '\n';
      if (/^[ +]/.test(text)) made.push(text.slice(1) + end);
    }
  }
  expect([...made, ...lines.slice(at)].join('')).toBe(now);
}

const textOf = (one: FileTree[string] | undefined): string | undefined =>
  typeof one === 'string'
    ? one
    : typeof one === 'object' && one !== null && 'executable' in one
      ? String(one.executable)
      : undefined;

test('a file that is too long alone is cut with the count of what is missing; beside others it is omitted', async () => {
  using t = temporary();
  const { base, path: root } = await t.begin({ type: 'empty' });
  writeTree(root, { 'a.txt': 'x\n'.repeat(150_000), 'b.txt': 'b\n' });
  const { id } = await t.snapshot(base.id);
  const between = { runId, from: base.id, to: id };
  const [one, other] = (await t.workspaces.diff(between)).files;
  expect([one?.omitted, one?.cut, one?.hunks, other?.omitted]).toEqual([true, undefined, [], undefined]);
  const [alone] = (await t.workspaces.diff({ ...between, path: 'a.txt' })).files;
  const shown = alone?.hunks.flatMap(({ lines }) => lines).length ?? 0;
  expect([alone?.additions, alone?.omitted, shown + (alone?.cut ?? 0)]).toEqual([150_000, undefined, 150_000]);
  expect(shown).toBeGreaterThan(90_000);
});

test('counts have no bound on the size of the change set', async () => {
  using t = temporary({ limits: { diffBytes: 4000 } });
  const { base, path: root } = await t.begin({ type: 'empty' });
  writeTree(root, Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, 'word\n'.repeat(500)])));
  const { id } = await t.snapshot(base.id);
  const between = { runId, from: base.id, to: id };
  await expect(t.workspaces.diff(between)).rejects.toMatchObject({ code: 'EDIFFTOOLARGE' });
  const { files } = await t.workspaces.diffStat(between);
  expect(files.map(({ additions }) => additions)).toEqual(Array.from({ length: 20 }, () => 500));
});
