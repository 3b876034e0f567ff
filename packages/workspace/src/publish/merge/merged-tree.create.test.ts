import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createGit } from '../../host-git/git.ts';
import {
  applyChanges,
  createObjectWriter,
  emptyFolder,
  type Folder,
  type Leaf,
  modes,
  type ObjectWriter,
} from '../../store/objects/index.ts';
import { gitBytes } from '../../testing/index.ts';
import { mapThree, mergeFolders, type ThreeWay } from './merge-folders.ts';
import { mergeContents } from './merge-trees.ts';

const [, major, minor] = /(\d+)\.(\d+)/.exec(execFileSync('git', ['--version'], { encoding: 'utf8' })) ?? [];
const hasMergeTree = Number(major) > 2 || Number(minor) >= 38;

/** Files and folders of the same names, so that a file of one side meets a folder of the other. */
const paths = ['a', 'a/b', 'a/b/c', 'e', 'e/f', 'g', 'h/i/j', 'h/i/k'];

interface FileState {
  kind: 'file' | 'executable' | 'link' | 'binary' | 'empty';
  /** Edit per line. */
  edits: Record<string, 'x' | 'y' | 'gone' | 'more'>;
}

const fileState: fc.Arbitrary<FileState> = fc.record({
  kind: fc.oneof(
    { weight: 16, arbitrary: fc.constant('file' as const) },
    { weight: 4, arbitrary: fc.constantFrom('executable', 'link', 'binary', 'empty') },
  ),
  edits: fc.dictionary(fc.constantFrom('0', '1', '4', '7', '8'), fc.constantFrom('x', 'y', 'gone', 'more'), {
    maxKeys: 2,
  }),
});

const before = fc.dictionary(fc.constantFrom(...paths), fileState, { minKeys: 4, maxKeys: 7 });
/** Changes of a side; null removes the file. */
const changes = fc.dictionary(fc.constantFrom(...paths), fc.option(fileState, { freq: 6 }), { minKeys: 1, maxKeys: 5 });

/** Every line contains its path, so no two files are similar and git detects no rename. */
function contentOf(path: string, { kind, edits }: FileState): Buffer {
  if (kind === 'empty') return Buffer.alloc(0);
  if (kind === 'link') return Buffer.from(`to ${path} ${Object.keys(edits).join('')}`);
  const line = (index: number) => {
    const text = createHash('sha256').update(`${path} ${index}`).digest('hex');
    const edit = edits[index];
    if (edit === undefined) return `${text}\n`;
    return edit === 'gone' ? '' : edit === 'more' ? `${text}\nand more of ${path}\n` : `${text}, ${edit}\n`;
  };
  const text = Array.from({ length: 9 }, (_, index) => line(index)).join('');
  return Buffer.from(kind === 'binary' ? `\0${text}` : text);
}

const modeOf = ({ kind }: FileState) =>
  kind === 'link' ? modes.symlink : kind === 'executable' ? modes.executable : modes.file;

function toFolder(writer: ObjectWriter, files: Record<string, FileState | null>): Folder {
  const leaves = Object.entries(files).flatMap(([path, state]) => {
    if (state === null) return [];
    const leaf: Leaf = { mode: modeOf(state), oid: writer.blob(contentOf(path, state)) };
    return [{ path, old: null, new: leaf }];
  });
  // A path below a file is dropped: the file that is first in byte order stays.
  return applyChanges(
    emptyFolder(),
    leaves.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  ).root;
}

/** The merge by git: its tree and the conflicting paths, by their names in the trees. */
function mergedByGit(gitDir: string, source: string, run: string): { tree: string; paths: string[] } {
  const args = ['-c', 'merge.renames=false', '-c', 'merge.directoryRenames=false'];
  const command = [...args, `--git-dir=${gitDir}`, 'merge-tree', '--write-tree', '-z', '--no-messages', source, run];
  let output: string;
  try {
    output = gitBytes('/', command).toString('latin1');
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: Buffer };
    if (status !== 1) throw error;
    output = stdout.toString('latin1');
  }
  const [tree = '', ...rows] = output.split('\0').filter((row) => row !== '');
  const names = rows.map((row) => row.slice(row.indexOf('\t') + 1).replace(/~[0-9a-f]{40}(_\d+)?$/, ''));
  return { tree, paths: [...new Set(names)].sort() };
}

test.skipIf(!hasMergeTree)(
  'has the same tree and the same conflicts as git 2.38 or newer',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-merge-'));
    const gitDir = join(folder, 'shadow.git');
    const git = createGit({});
    await git.run(['init', '-q', '--bare', '--template=', gitDir]);
    const seen = { clean: 0, conflicts: 0, contents: 0 };
    try {
      await fc.assert(
        // Ten at once, because flushing objects to disk costs most.
        fc.asyncProperty(
          fc.array(fc.tuple(before, changes, changes), { minLength: 10, maxLength: 10 }),
          async (all) => {
            const writer = createObjectWriter({ gitDir, known: new Set() });
            const commit = async (root: Folder, parent: string | null) =>
              writer.commit({ tree: await writer.root(root), parent, seconds: 0, message: '' });
            const cases = await Promise.all(
              all.map(async ([base, ofSource, ofRun]) => {
                const files: ThreeWay<Record<string, FileState | null>> = {
                  ...{ base, source: { ...base, ...ofSource }, run: { ...base, ...ofRun } },
                };
                const trees = mapThree(files, (one) => toFolder(writer, one));
                const root = await commit(trees.base, null);
                return { trees, source: await commit(trees.source, root), run: await commit(trees.run, root) };
              }),
            );
            await writer.flush();
            for (const { trees, source, run } of cases) {
              const merged = mergeFolders(trees);
              const contents = await mergeContents(
                { git },
                { gitDir, writer, files: merged.contents, drivers: new Map() },
              );
              const unmerged = merged.contents.filter((one) => !contents.has(one));
              const conflicts = [...merged.conflicts, ...unmerged].map(({ path }) => path).sort();
              const settled = [...contents].map(([{ path }, leaf]) => ({ path, old: null, new: leaf }));
              const result = applyChanges(merged.root, settled);
              expect(result.blocked).toEqual([]);

              const real = mergedByGit(gitDir, source, run);
              expect(conflicts).toEqual(real.paths);
              if (conflicts.length === 0) expect(await writer.root(result.root)).toBe(real.tree);
              seen[conflicts.length === 0 ? 'clean' : 'conflicts'] += 1;
              seen.contents += contents.size;
            }
          },
        ),
        { numRuns: 15 },
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    // Each kind of outcome occurred.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(0);
  },
  60_000,
);
