import { createYielder, fromPlain, fromText, isWithin, type Yielder } from '../files/index.ts';
import { type SnapshotId, WorkspaceError } from '../port.ts';
import type { RunFolder } from '../run/index.ts';
import type { DiffProcesses } from './diff-processes.ts';
import type { Git, GitOptions } from './git.ts';

/** One file in git's diff of two snapshots. */
export interface RawDiff {
  /** Byte path. */
  path: string;
  status: 'added' | 'modified' | 'deleted';
  oldMode: string | null;
  newMode: string | null;
  /** The file's sections of the patch: one, or two when its kind changed (git writes a deletion and a creation). */
  sections: Buffer[];
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
 * `git diff-tree` of two snapshots. Names come from the raw part, which is exact; the patch quotes them.
 * @param options.attributesFrom a repository whose attributes apply to the run's objects
 */
export async function diffTree(
  deps: { git: Git; diffProcesses: DiffProcesses },
  input: DiffTreeInput,
  options: { flags: readonly string[]; config?: readonly string[]; maxBytes: number; attributesFrom?: string },
): Promise<RawDiff[]> {
  const { path } = input;
  const settings = ['core.quotePath=true', ...(options.config ?? [])].flatMap((setting) => ['-c', setting]);
  const shape = [
    ...['-r', '-p', '--raw', '-z', '--full-index', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color'],
  ];
  // A quoted path stands for bytes that no argument can hold: everything is compared, and other paths are filtered out below.
  const pathspec = path === undefined || path === '' || path.startsWith('"') ? [] : ['--', path];
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
  const files = await split(output, createYielder());
  if (path === undefined || path === '') return files;
  return files.filter((file) => isWithin(file.path, fromText(path)) || isWithin(file.path, fromPlain(path)));
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
  const files: (RawDiff & { parts: number })[] = [];
  let position = 0;
  while (output[position] === 0x3a) {
    const [meta, afterMeta] = field(output, position);
    const [path, afterPath] = field(output, afterMeta);
    files.push(describe(meta, path));
    position = afterPath;
    const pause = maybeYield();
    if (pause !== undefined) await pause;
  }
  const sections = await splitSections(output.subarray(output[position] === 0 ? position + 1 : position), maybeYield);
  let next = 0;
  for (const file of files) {
    file.sections = sections.slice(next, next + file.parts);
    next += file.parts;
  }
  if (next !== sections.length) {
    throw new WorkspaceError('EGITFAILED', `git listed ${files.length} files but wrote ${sections.length} patches.`);
  }
  return files.map(({ parts: _, ...file }) => file);
}

function field(output: Buffer, from: number): [string, number] {
  const end = output.indexOf(0, from);
  return [output.toString('latin1', from, end), end + 1];
}

function describe(meta: string, path: string): RawDiff & { parts: number } {
  const match = /^:(\d{6}) (\d{6}) [0-9a-f]+ [0-9a-f]+ ([AMDT])$/.exec(meta);
  if (match === null) throw new WorkspaceError('EGITFAILED', `git wrote a malformed diff: ${meta}`);
  const [, oldMode = '', newMode = '', letter = ''] = match;
  return {
    path,
    status: letter === 'A' ? 'added' : letter === 'D' ? 'deleted' : 'modified',
    oldMode: letter === 'A' ? null : oldMode,
    newMode: letter === 'D' ? null : newMode,
    sections: [],
    parts: letter === 'T' ? 2 : 1,
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
