import { isUtf8 } from 'node:buffer';
import { createYielder, fromPlain, fromText, isWithin, type Yielder } from '../files/index.ts';
import { type SnapshotId, WorkspaceError } from '../port/workspaces.ts';
import type { RunFolder } from '../run-folder/index.ts';
import type { DiffProcesses } from './diff-processes.ts';
import type { Git, GitOptions } from './git.ts';

/** A file in git's diff of two snapshots. */
export interface RawDiff {
  /** Byte path. */
  path: string;
  status: 'added' | 'modified' | 'deleted';
  /** Byte path of the file before the move. */
  movedFrom: string | undefined;
  oldMode: string | null;
  newMode: string | null;
  oldId: string | null;
  newId: string | null;
  /** The file became a link, or a link a file. */
  changedKind: boolean;
  /** The file's sections of the patch: a single section, or two after a change of its kind (git writes a deletion and a creation). */
  sections: Buffer[];
}

/** A file with counts of lines instead of a patch. */
export interface CountedDiff extends RawDiff {
  /** Binary in the eyes of git, which calls a large file binary, too. */
  binary: boolean;
  additions: number;
  deletions: number;
}

export interface DiffTreeInput {
  folder: RunFolder;
  from: SnapshotId;
  /** A snapshot, or a tree whose objects are in `objects`. */
  to: string;
  /** An additional folder of objects. */
  objects: string | undefined;
  path?: string | undefined;
}

/**
 * `git diff-tree` of two snapshots. Names come from the exact raw part; the patch quotes them.
 * @param options.renames for reading: a moved file is a single entry. @default none: a move is a deleted and an added file
 * @param options.attributesFrom a repository with attributes for the run's objects
 */
export const diffTree = (
  deps: Processes,
  input: DiffTreeInput,
  options: DiffTreeOptions & { flags: readonly string[] },
): Promise<RawDiff[]> => runDiffTree(deps, input, { ...options, flags: ['-p', ...options.flags] }, split);

/** The same with counts of lines (`--numstat`) instead of the patches. */
export const diffCounts = (deps: Processes, input: DiffTreeInput, options: DiffTreeOptions): Promise<CountedDiff[]> =>
  runDiffTree(deps, input, { ...options, flags: ['--numstat'] }, splitCounts);

interface Processes {
  git: Git;
  diffProcesses: DiffProcesses;
}

interface DiffTreeOptions {
  config?: readonly string[];
  maxBytes: number;
  renames?: Renames;
  attributesFrom?: string;
}

async function runDiffTree<File extends RawDiff>(
  deps: Processes,
  input: DiffTreeInput,
  options: DiffTreeOptions & { flags: readonly string[] },
  read: (output: Buffer, maybeYield: Yielder) => Promise<File[]>,
): Promise<File[]> {
  const { path } = input;
  const settings = ['core.quotePath=true', ...(options.config ?? [])].flatMap((setting) => ['-c', setting]);
  const shape = [
    ...['-r', '--raw', '-z', '--full-index', '--no-ext-diff', '--no-textconv', '--no-color'],
    ...renameFlags[options.renames ?? 'none'],
  ];
  // A quoted path stands for bytes impossible in an argument: everything is compared, and other paths are filtered out below.
  const isGiven = path !== undefined && path !== '' && !path.startsWith('"');
  const pathspec = isGiven ? await pathspecFor(deps, { ...input, path }, options.renames ?? 'none') : [];
  const gitDir = `--git-dir=${options.attributesFrom ?? input.folder.shadow}`;
  const args = [...settings, gitDir, 'diff-tree', ...shape, ...options.flags];
  const { from, to } = input;
  const { maxBytes } = options;
  const isPlain = pathspec.length === 0 && options.attributesFrom === undefined && input.objects === undefined;
  const output = isPlain
    ? await deps.diffProcesses.diff({ args: [...args, '--stdin', '--no-commit-id'], from, to, maxBytes })
    : (
        await deps.git.run([...args, from, to, ...pathspec], {
          maxBytes,
          ...objectsOf(input, options.attributesFrom),
        })
      ).stdout;
  const files = await read(output, createYielder());
  if (path === undefined || path === '') return files;
  return files.filter((file) => isWithin(file.path, fromText(path)) || isWithin(file.path, fromPlain(path)));
}

/** `exact`: only files with the same content. */
export type Renames = 'none' | 'exact' | 'similar';

/** For similar files git compares at most this many deleted with this many added files: 400 squared pairs take 2 s. */
const mostCompared = 400;

const renameFlags: Record<Renames, readonly string[]> = {
  none: ['--no-renames'],
  exact: ['-M100%', `-l${mostCompared}`],
  similar: ['-M50%', `-l${mostCompared}`],
};

/** More names do not fit on a command line: then everything is compared, and other paths are filtered out. */
const mostNames = 1000;

/** The path, and the earlier places of the files below. */
async function pathspecFor(
  deps: { git: Git },
  input: DiffTreeInput & { path: string },
  renames: Renames,
): Promise<string[]> {
  const { folder, from, to, path } = input;
  if (renames === 'none') return ['--', path];
  const args = [`--git-dir=${folder.shadow}`, 'diff-tree', '-r', '-z', '--name-status', '--diff-filter=R'];
  const { stdout } = await deps.git.run([...args, ...renameFlags[renames], from, to], {
    maxBytes: 256 * 1024 * 1024,
    ...objectsOf(input, undefined),
  });
  const fields = stdout.toString('latin1').split('\0').slice(0, -1);
  const before: string[] = [];
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const now = fields[at + 2] ?? '';
    if (isWithin(now, fromText(path)) || isWithin(now, fromPlain(path))) before.push(fields[at + 1] ?? '');
  }
  // Bytes outside of UTF-8 fit in no argument.
  const names = before.map((name) => Buffer.from(name, 'latin1'));
  return names.length > mostNames || !names.every((name) => isUtf8(name)) ? [] : ['--', path, ...names.map(String)];
}

function objectsOf({ folder, objects }: DiffTreeInput, attributesFrom: string | undefined): GitOptions {
  const own = `${folder.shadow}/objects`;
  // Quoted, because a colon separates paths.
  const alternate = `"${own.replaceAll(/["\\]/g, '\\$&')}"`;
  if (objects !== undefined)
    return { env: { GIT_OBJECT_DIRECTORY: objects, GIT_ALTERNATE_OBJECT_DIRECTORIES: alternate } };
  return attributesFrom === undefined ? {} : { env: { GIT_OBJECT_DIRECTORY: own } };
}

async function split(output: Buffer, maybeYield: Yielder): Promise<RawDiff[]> {
  const { files, position } = await splitRaw(output, maybeYield);
  const sections = await splitSections(output.subarray(output[position] === 0 ? position + 1 : position), maybeYield);
  let next = 0;
  for (const file of files) {
    const parts = file.changedKind ? 2 : 1;
    file.sections = sections.slice(next, next + parts);
    next += parts;
  }
  if (next !== sections.length) {
    throw new WorkspaceError('EGITFAILED', `git listed ${files.length} files but wrote ${sections.length} patches.`);
  }
  return files;
}

/** After the raw part: `1\t2\tpath`, or `1\t2\t`, the old path and the new path of a moved file. A binary file has hyphens. */
async function splitCounts(output: Buffer, maybeYield: Yielder): Promise<CountedDiff[]> {
  const raw = await splitRaw(output, maybeYield);
  let { position } = raw;
  const files: CountedDiff[] = [];
  for (const file of raw.files) {
    const [row, after] = field(output, position);
    const [, added = '', deleted = '', name = ''] = /^(\d+|-)\t(\d+|-)\t(.*)$/s.exec(row) ?? [];
    position = file.movedFrom === undefined ? after : field(output, field(output, after)[1])[1];
    if (added === '' || name !== (file.movedFrom === undefined ? file.path : '')) {
      throw new WorkspaceError('EGITFAILED', `git wrote a malformed count of lines: ${row}`);
    }
    // A patch has no word about content that stayed the same, so neither has a count.
    const isSame = file.oldId === file.newId;
    const binary = added === '-' && !isSame;
    files.push({ ...file, binary, additions: countOf(added), deletions: countOf(deleted) });
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  }
  return files;
}

const countOf = (column: string): number => (column === '-' ? 0 : Number(column));

async function splitRaw(output: Buffer, maybeYield: Yielder): Promise<{ files: RawDiff[]; position: number }> {
  const files: RawDiff[] = [];
  let position = 0;
  while (output[position] === 0x3a) {
    const [meta, afterMeta] = field(output, position);
    const [first, afterFirst] = field(output, afterMeta);
    // A moved file has both of its paths.
    const [second, afterSecond] = isMove(meta) ? field(output, afterFirst) : [undefined, afterFirst];
    files.push(describe(meta, second === undefined ? { path: first } : { path: second, movedFrom: first }));
    position = afterSecond;
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  }
  return { files, position };
}

function field(output: Buffer, from: number): [string, number] {
  const end = output.indexOf(0, from);
  return [output.toString('latin1', from, end), end + 1];
}

const isMove = (meta: string): boolean => / R\d{3}$/.test(meta);

function describe(meta: string, { path, movedFrom }: { path: string; movedFrom?: string }): RawDiff {
  const match = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) ([AMDT]|R\d{3})$/.exec(meta);
  if (match === null) throw new WorkspaceError('EGITFAILED', `git wrote a malformed diff: ${meta}`);
  const [, oldMode = '', newMode = '', oldId = '', newId = '', letter = ''] = match;
  return {
    path,
    movedFrom,
    status: letter === 'A' ? 'added' : letter === 'D' ? 'deleted' : 'modified',
    oldMode: letter === 'A' ? null : oldMode,
    newMode: letter === 'D' ? null : newMode,
    oldId: letter === 'A' ? null : oldId,
    newId: letter === 'D' ? null : newId,
    changedKind: letter === 'T',
    sections: [],
  };
}

/** Content lines begin with a space, `+`, `-` or a backslash, and binary lines contain no space, so content cannot forge a header. */
async function splitSections(patch: Buffer, maybeYield: Yielder): Promise<Buffer[]> {
  const sections: Buffer[] = [];
  let start = 0;
  while (start < patch.length) {
    const next = patch.indexOf('\ndiff --git ', start);
    const end = next === -1 ? patch.length : next + 1;
    sections.push(patch.subarray(start, end));
    start = end;
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  }
  return sections;
}
