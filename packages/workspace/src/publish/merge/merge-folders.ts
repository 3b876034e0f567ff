import { closeSync, openSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Deps } from '../../deps.ts';
import { removeFolder, writeAll } from '../../files/index.ts';
import { streamBlobs } from '../../host-git/stream-blobs.ts';
import * as objects from '../../store/objects/index.ts';

/** A value for each of three trees. */
export interface ThreeWay<T> {
  readonly base: T;
  readonly source: T;
  readonly run: T;
}

/** An undecided path and its file in each tree; null where the tree has no file. */
export interface UnmergedPath extends ThreeWay<objects.Leaf | null> {
  readonly path: string;
}

/** A file whose content both sides changed. */
export interface BothChanged extends UnmergedPath {
  readonly source: objects.Leaf;
  readonly run: objects.Leaf;
  /** The mode of the merged file. */
  readonly mode: objects.Mode;
}

export interface MergedFolders {
  /** The decided part of the tree, without the paths in `contents` and `conflicts`. */
  root: objects.Folder;
  contents: BothChanged[];
  conflicts: UnmergedPath[];
}

/**
 * Merges three trees path by path: when a side left a path unchanged, the other side's version wins. Renames are not detected, so a moved
 * file is a deletion and an addition. Folders with equal object ids are not entered. Empty folders are ignored.
 */
export function mergeFolders(roots: ThreeWay<objects.Folder>): MergedFolders {
  const result: Omit<MergedFolders, 'root'> = { contents: [], conflicts: [] };
  const { entry } = mergeEntry(result, '', roots);
  return { root: objects.isFolder(entry) ? entry : { entries: new Map() }, ...result };
}

interface Outcome {
  entry: objects.Entry | undefined;
  /** Whether a file is here or below, or may be here after the contents are merged and conflicts resolved. */
  holdsFile: boolean;
}

function mergeEntry(
  result: Omit<MergedFolders, 'root'>,
  path: string,
  at: ThreeWay<objects.Entry | undefined>,
): Outcome {
  const { base, source, run } = at;
  if (isEqual(source, run) || isEqual(base, run)) return { entry: source, holdsFile: holdsFile(source) };
  if (isEqual(base, source)) return { entry: run, holdsFile: holdsFile(run) };
  const files = mapThree(at, (entry) => (objects.isLeaf(entry) ? entry : null));
  const decided = decide(files);
  const below = mergeChildren(result, path, at);
  const open = { path, ...files };
  if (decided === 'conflict' || (decided !== null && below.holdsFile)) result.conflicts.push(open);
  else if (decided !== null && 'contents' in decided) result.contents.push({ path, ...decided.contents });
  else if (decided !== null) return { entry: decided, holdsFile: true };
  return decided === null ? below : { ...below, holdsFile: true };
}

function mergeChildren(
  result: Omit<MergedFolders, 'root'>,
  path: string,
  at: ThreeWay<objects.Entry | undefined>,
): Outcome {
  const children = mapThree(at, (entry) => (objects.isFolder(entry) ? entry.entries : none));
  const entries = new Map<string, objects.Entry>();
  let isHeld = false;
  for (const name of new Set([...children.base.keys(), ...children.source.keys(), ...children.run.keys()])) {
    const below = path === '' ? name : `${path}/${name}`;
    const merged = mergeEntry(
      result,
      below,
      mapThree(children, (of) => of.get(name)),
    );
    if (merged.holdsFile) isHeld = true;
    if (merged.entry !== undefined && holdsFile(merged.entry)) entries.set(name, merged.entry);
  }
  return { entry: entries.size === 0 ? undefined : { entries }, holdsFile: isHeld };
}

/** The three-way rule for a file. */
function decide({
  base,
  source,
  run,
}: ThreeWay<objects.Leaf | null>): objects.Leaf | null | 'conflict' | { contents: Omit<BothChanged, 'path'> } {
  if (isSameFile(source, run) || isSameFile(base, run)) return source;
  if (isSameFile(base, source)) return run;
  if (source === null || run === null || source.mode === objects.modes.symlink || run.mode === objects.modes.symlink)
    return 'conflict';
  const before = base === null || base.mode === objects.modes.symlink ? undefined : base;
  const mode = pick(before?.mode, source.mode, run.mode);
  if (mode === undefined) return 'conflict';
  const oid = pick(before?.oid, source.oid, run.oid);
  return oid === undefined ? { contents: { base, source, run, mode } } : { mode, oid };
}

/** The value of the side with a change; undefined when both sides did. */
export function pick<T>(base: T | undefined, source: T, run: T): T | undefined {
  if (source === run || run === base) return source;
  return source === base ? run : undefined;
}

const isSameFile = (a: objects.Leaf | null, b: objects.Leaf | null): boolean =>
  objects.isSame(a ?? undefined, b ?? undefined);

function isEqual(a: objects.Entry | undefined, b: objects.Entry | undefined): boolean {
  return (
    objects.isSame(a, b) || (objects.isFolder(a) && objects.isFolder(b) && typeof a.oid === 'string' && a.oid === b.oid)
  );
}

function holdsFile(entry: objects.Entry | undefined): boolean {
  if (!objects.isFolder(entry)) return entry !== undefined;
  if (entry.oid !== undefined) return entry.oid !== null;
  return entry.entries.values().some(holdsFile);
}

export function mapThree<T, R>(three: ThreeWay<T>, map: (value: T) => R): ThreeWay<R> {
  return { base: map(three.base), source: map(three.source), run: map(three.run) };
}

const none: ReadonlyMap<string, objects.Entry> = new Map();

/** A larger file with changes by both sides is a conflict, because git would hold three versions of the file in memory. Bytes. */
export const largestMerged = 64 * 1024 * 1024;
/** git inspects as many bytes to detect a binary file. */
const inspectedBytes = 8000;
/** The exit code of `git merge-file` is the number of conflicts, at most this. */
const mostConflicts = 127;
/** Stands for a missing base. */
export const emptyFile = 'empty';

/** A file present on both sides. */
export type BothHave = ThreeWay<objects.Leaf | null> & { readonly source: objects.Leaf; readonly run: objects.Leaf };

/** Contents to merge: source, base, run. A base other than a regular file counts as empty. */
export function versionsOf({ base, source, run }: BothHave): [string, string | undefined, string] {
  return [source.oid, base === null || base.mode === objects.modes.symlink ? undefined : base.oid, run.oid];
}

/**
 * Calls `use` with a private folder with every version in a file named by its object id: no user path is on a command line. A crash leaves
 * the folder behind; `collect` removes the folder from the shadow repository.
 */
export async function withVersions<Result>(
  deps: Pick<Deps, 'git'>,
  input: { gitDir: string; files: readonly BothHave[] },
  use: (folder: string, isFit: (file: BothHave) => boolean) => Promise<Result>,
): Promise<Result> {
  const folder = await mkdtemp(join(input.gitDir, 'tmp_merge-'));
  try {
    const unfit = await writeVersions(deps, { ...input, folder });
    return await use(folder, (file) => !versionsOf(file).some((oid) => oid !== undefined && unfit.has(oid)));
  } finally {
    await removeFolder(folder);
  }
}

/**
 * Merges a file from its versions in the folder.
 * @param input.flags of `git merge-file`, such as `--union`
 * @returns `isClean`: no line is in conflict
 */
export async function mergeFile(
  deps: Pick<Deps, 'git'>,
  input: { gitDir: string; folder: string; file: BothHave; flags: readonly string[] },
): Promise<{ isClean: boolean; content: Buffer }> {
  const { gitDir, folder: cwd, file, flags } = input;
  const names = versionsOf(file).map((oid) => oid ?? emptyFile);
  const accept = Array.from({ length: mostConflicts + 1 }, (_, code) => code);
  const args = [`--git-dir=${gitDir}`, 'merge-file', '-p', '-q', ...flags, ...names];
  const { code, stdout } = await deps.git.run(args, { cwd, accept, maxBytes: 4 * largestMerged });
  return { isClean: code === 0, content: stdout };
}

/** Writes every version to a file named by its object id. @returns ids of the unmergeable versions (binary or too large) */
async function writeVersions(
  deps: Pick<Deps, 'git'>,
  input: { gitDir: string; folder: string; files: readonly BothHave[] },
): Promise<Set<string>> {
  const oids = [...new Set(input.files.flatMap(versionsOf).filter((oid) => oid !== undefined))];
  const unfit = new Set<string>();
  await writeFile(join(input.folder, emptyFile), '');
  let open: { oid: string; fd: number; bytes: number } | undefined;
  try {
    await streamBlobs(
      deps,
      { gitDir: input.gitDir, oids },
      {
        begin: (index, size) => {
          const oid = oids[index] ?? '';
          if (size > largestMerged) unfit.add(oid);
          open = { oid, fd: openSync(join(input.folder, oid), 'wx', 0o600), bytes: 0 };
        },
        piece: (bytes) => {
          if (open === undefined) return;
          if (bytes.subarray(0, Math.max(inspectedBytes - open.bytes, 0)).includes(0)) unfit.add(open.oid);
          open.bytes += bytes.length;
          if (!unfit.has(open.oid)) writeAll(open.fd, bytes);
        },
        end: () => {
          if (open !== undefined) closeSync(open.fd);
          open = undefined;
        },
      },
    );
  } finally {
    if (open !== undefined) closeSync(open.fd);
  }
  return unfit;
}
