import type { Conflict, Resolution } from '@holdpoint/contract';
import type { Deps, ObjectWriter, RunFolder } from '../../deps.ts';
import { toText } from '../../files/index.ts';
import * as objects from '../../store/objects/index.ts';
import { type AttributeQuery, checkAttributes } from '../git/attributes/check-attributes.ts';
import { createTextBudget, readVersions, resolveConflict } from '../index.ts';
import { countHunks } from './conflict-lines.ts';
import { findMoves } from './find-moves.ts';
import * as folderMerge from './merge-folders.ts';

/** Number of git processes at once. */
const mostProcesses = 4;

/**
 * Merges file contents with `git merge-file`.
 * @returns the merged files; a missing file is in conflict
 */
export async function mergeContents(
  deps: Pick<Deps, 'git'>,
  input: {
    gitDir: string;
    writer: ObjectWriter;
    files: readonly folderMerge.BothChanged[];
    /** By path. @default text */
    drivers: ReadonlyMap<string, MergeDriver>;
  },
): Promise<Map<folderMerge.BothChanged, objects.Leaf>> {
  const files = input.files.filter(({ path }) => driverAt(input, path).kind !== 'none');
  const merged = new Map<folderMerge.BothChanged, objects.Leaf>();
  if (files.length === 0) return merged;
  await folderMerge.withVersions(deps, { gitDir: input.gitDir, files }, async (folder, isFit) => {
    const waiting = files.filter(isFit);
    const work = async () => {
      for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
        const flags = driverAt(input, file.path).kind === 'union' ? ['--union'] : [];
        const { isClean, content } = await folderMerge.mergeFile(deps, { gitDir: input.gitDir, folder, file, flags });
        if (isClean) merged.set(file, { mode: file.mode, oid: input.writer.blob(content) });
      }
    };
    await Promise.all(Array.from({ length: mostProcesses }, work));
  });
  return merged;
}

const driverAt = ({ drivers }: { drivers: ReadonlyMap<string, MergeDriver> }, path: string): MergeDriver =>
  drivers.get(path) ?? { kind: 'text' };

export interface MergeInput extends folderMerge.ThreeWay<objects.Folder> {
  folder: RunFolder;
  writer: ObjectWriter;
  resolutions: readonly Resolution[];
  sides: Sides;
  /** The user's git directory, for its `info/attributes`. */
  sourceGitDir?: string;
  /** The merge drivers of all paths of the run, where they are known already. @default git is asked */
  drivers?: ReadonlyMap<string, MergeDriver> | undefined;
}

/**
 * Three-way merge of trees in memory, path by path, with contents merged by git. A conflict is a path with three versions. A person's
 * resolution sets the state of the path; every other path keeps its merge result.
 */
export async function mergeTrees(
  deps: Deps,
  input: MergeInput,
): Promise<{ root: objects.Folder; conflicts: Conflict[] }> {
  const { folder, writer } = input;
  const merged = folderMerge.mergeFolders(input);
  if (merged.contents.length > 0) await writer.flush();
  const paths = merged.contents.map(({ path }) => path);
  const query = { shadow: folder.shadow, source: input.sourceGitDir, root: input.source, paths };
  const drivers = input.drivers ?? (await readMergeDrivers(deps, query));
  const contents = await mergeContents(deps, { gitDir: folder.shadow, writer, files: merged.contents, drivers });
  const settled: objects.Change[] = [];
  const unsettled: folderMerge.UnmergedPath[] = [];
  for (const [file, leaf] of contents) settled.push({ path: file.path, old: null, new: leaf });
  for (const one of [...merged.conflicts, ...merged.contents.filter((file) => !contents.has(file))]) {
    const resolution = input.resolutions.find(({ path }) => path === toText(one.path));
    const resolved = await resolveConflict(deps, resolution, { gitDir: folder.shadow, writer, versions: one });
    if (resolved === undefined) unsettled.push(one);
    else settled.push({ path: one.path, old: null, new: resolved.leaf });
  }
  const result = objects.applyChanges(merged.root, settled);
  const open = unsettled.length > 0 ? unsettled : result.blocked.map((path) => versionsAt(input, path));
  const root = mergeEmptyFolders(result.root, input);
  return { root, conflicts: open.length === 0 ? [] : await toConflicts(deps, { ...input, drivers }, open) };
}

function versionsAt(input: folderMerge.ThreeWay<objects.Folder>, path: string): folderMerge.UnmergedPath {
  const names = path.split('/');
  const leafAt = (root: objects.Folder) => {
    const entry = objects.find(root, names);
    return objects.isLeaf(entry) ? entry : null;
  };
  return { path, ...folderMerge.mapThree(input, leafAt) };
}

async function toConflicts(
  deps: Deps,
  input: MergeInput & { drivers: ReadonlyMap<string, MergeDriver> },
  unsorted: readonly folderMerge.UnmergedPath[],
): Promise<Conflict[]> {
  const { writer } = input;
  const gitDir = input.folder.shadow;
  const open = unsorted.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const leaves = open.flatMap((one) => [one.base, one.source, one.run]);
  await writer.flush();
  const version = await readVersions(deps, { gitDir, leaves, budget: createTextBudget() });
  const movesTo = async (side: 'source' | 'run') => {
    if (!open.some((one) => one.base !== null && one[side] === null)) return new Map<string, string>();
    return findMoves(deps, { gitDir, writer, from: input.base, to: input[side] });
  };
  const moves = { source: await movesTo('source'), run: await movesTo('run') };
  const mergeable = open.filter(({ path }) => input.drivers.get(path)?.kind !== 'none');
  const merges = await countHunks(deps, gitDir, mergeable);
  return open.map((one) => ({
    path: toText(one.path),
    reason: 'merge',
    detail: describeConflict({ ...input, moves }, one),
    versions: folderMerge.mapThree<folderMerge.UnmergedPath['base'], ReturnType<typeof version>>(one, version),
    merge: merges.get(one),
  }));
}

/** Adds the empty folders present on both sides or made by a side, unless a file is in the way, and removes the others. */
function mergeEmptyFolders(root: objects.Folder, three: folderMerge.ThreeWay<objects.Folder>): objects.Folder {
  const { base, source, run } = folderMerge.mapThree(three, (of) => new Set(objects.emptyFolders(of)));
  const isKept = (path: string) => (source.has(path) && run.has(path)) || (!base.has(path) && isIn(path));
  const isIn = (path: string) => source.has(path) || run.has(path);
  let result = root;
  for (const path of source.union(run)) {
    const names = path.split('/');
    if (isKept(path)) {
      if (isFree(result, names)) result = objects.withEntry(result, names, objects.emptyFolder());
      continue;
    }
    // A folder without entries is removed, unless a side has the folder as an empty folder.
    for (; names.length > 0 && isEmpty(result, names) && !isKept(names.join('/')); names.pop()) {
      result = objects.withEntry(result, names, undefined);
    }
  }
  return result;
}

function isEmpty(root: objects.Folder, names: readonly string[]): boolean {
  const entry = objects.find(root, names);
  return objects.isFolder(entry) && entry.entries.size === 0;
}

/** Whether the path is free, and no file is in the place of a parent folder. */
function isFree(root: objects.Folder, names: readonly string[]): boolean {
  const isBlocked = names.slice(0, -1).some((_, index) => {
    const entry = objects.find(root, names.slice(0, index + 1));
    return entry !== undefined && !objects.isFolder(entry);
  });
  return !isBlocked && objects.find(root, names) === undefined;
}

/** Names of the two sides in the middle of a sentence. */
type Sides = Record<'source' | 'run', string>;

interface Context extends folderMerge.ThreeWay<objects.Folder> {
  sides: Sides;
  /** New path by old path, for files moved by a side. */
  moves: Record<keyof Sides, ReadonlyMap<string, string>>;
  /** By path. */
  drivers: ReadonlyMap<string, MergeDriver>;
}

/** Explains a conflict: the side with the deletion, change or addition of the file. */
function describeConflict(context: Context, open: folderMerge.UnmergedPath): string {
  const sentence = reasonOf(context, open);
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

function reasonOf(
  { sides, moves, drivers, ...trees }: Context,
  { path, base, source, run }: folderMerge.UnmergedPath,
): string {
  const isFolderIn = (root: objects.Folder) => objects.isFolder(objects.find(root, path.split('/')));
  const movedBy = (side: keyof Sides) => {
    const to = moves[side].get(path);
    return to === undefined ? '' : ` It was probably moved to ${toText(to)}.`;
  };
  if (isFolderIn(trees.source)) return `${sides.source} has a folder here, and ${sides.run} a file.`;
  if (isFolderIn(trees.run)) return `${sides.run} has a folder here, and ${sides.source} a file.`;
  if (source === null) return `${sides.source} deleted this file, and ${sides.run} changed it.${movedBy('source')}`;
  if (run === null) return `${sides.source} changed this file, and ${sides.run} deleted it.${movedBy('run')}`;
  if (base === null) return `${sides.source} has a file here that ${sides.run} did not start from.`;
  const isLink = (leaf: objects.Leaf) => leaf.mode === objects.modes.symlink;
  if (isLink(source) !== isLink(run)) {
    return `one side (${sides.source} or ${sides.run}) has a symbolic link here, the other a file.`;
  }
  const driver = drivers.get(path);
  if (driver?.kind === 'none') return `${sides.source} and ${sides.run} changed this file. ${driver.detail}`;
  return `${sides.source} and ${sides.run} changed this file in conflicting ways.`;
}

/** The way to merge a file changed by both sides. */
export type MergeDriver =
  | { kind: 'text' | 'union' }
  /** Not merged: a person decides. */
  | { kind: 'none'; detail: string };

/** The merge drivers by path, from the attribute `merge`. Paths with the default text merge are omitted. */
async function readMergeDrivers(
  deps: Pick<Deps, 'git'>,
  query: Omit<AttributeQuery, 'names'>,
): Promise<Map<string, MergeDriver>> {
  return driversOf(await checkAttributes(deps, { ...query, names: ['merge'] }));
}

/** @param found attributes by path, `merge` among them */
export function driversOf(found: Awaited<ReturnType<typeof checkAttributes>>): Map<string, MergeDriver> {
  const drivers = [...found].map(([path, of]): [string, MergeDriver] => [path, toDriver(of.get('merge') ?? '')]);
  return new Map(drivers.filter(([, { kind }]) => kind !== 'text'));
}

function toDriver(value: string): MergeDriver {
  switch (value) {
    case '':
    case 'set':
    case 'text':
    case 'unspecified':
      return { kind: 'text' };
    case 'union':
      return { kind: 'union' };
    case 'unset':
    case 'binary':
      return { kind: 'none', detail: '.gitattributes exclude it from merges (-merge or binary).' };
    default: {
      const name = JSON.stringify(value);
      return {
        kind: 'none',
        detail: `.gitattributes set the merge driver ${name}, and drivers of the host are not run.`,
      };
    }
  }
}
