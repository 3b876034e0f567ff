import { type Entry, type Folder, isFolder, isLeaf, isSame, type Leaf, type Mode, modes } from '../tree/tree.ts';

/** A path in three trees. */
export interface Three<T> {
  readonly base: T;
  readonly source: T;
  readonly run: T;
}

/** A path without an answer yet, and its file in each tree. Null: there is no file. */
export interface Open extends Three<Leaf | null> {
  readonly path: string;
}

/** A file of which both sides changed the content. */
export interface BothChanged extends Open {
  readonly source: Leaf;
  readonly run: Leaf;
  /** The mode of the merged file. */
  readonly mode: Mode;
}

export interface MergedFolders {
  /** Everything that is decided. The paths in `contents` and `conflicts` hold no file. */
  root: Folder;
  contents: BothChanged[];
  conflicts: Open[];
}

/**
 * Merges three trees path by path: a path that one side left as it was is taken from the other side. Renames are not guessed, so a moved file
 * is a deletion and an addition. Folders with the same object id are not entered. Empty folders are not looked at.
 */
export function mergeFolders(roots: Three<Folder>): MergedFolders {
  const result: Omit<MergedFolders, 'root'> = { contents: [], conflicts: [] };
  const { entry } = mergeEntry(result, '', roots);
  return { root: isFolder(entry) ? entry : { entries: new Map() }, ...result };
}

interface Outcome {
  entry: Entry | undefined;
  /** Whether a file is here or below, or may be once everything is decided. */
  holdsFile: boolean;
}

function mergeEntry(result: Omit<MergedFolders, 'root'>, path: string, at: Three<Entry | undefined>): Outcome {
  const { base, source, run } = at;
  if (isEqual(source, run) || isEqual(base, run)) return { entry: source, holdsFile: holdsFile(source) };
  if (isEqual(base, source)) return { entry: run, holdsFile: holdsFile(run) };
  const files = each(at, (entry) => (isLeaf(entry) ? entry : null));
  const decided = decide(files);
  const below = mergeChildren(result, path, at);
  const open = { path, ...files };
  if (decided === 'conflict' || (decided !== null && below.holdsFile)) result.conflicts.push(open);
  else if (decided !== null && 'contents' in decided) result.contents.push({ path, ...decided.contents });
  else if (decided !== null) return { entry: decided, holdsFile: true };
  return decided === null ? below : { ...below, holdsFile: true };
}

function mergeChildren(result: Omit<MergedFolders, 'root'>, path: string, at: Three<Entry | undefined>): Outcome {
  const children = each(at, (entry) => (isFolder(entry) ? entry.entries : none));
  const entries = new Map<string, Entry>();
  let isHeld = false;
  for (const name of new Set([...children.base.keys(), ...children.source.keys(), ...children.run.keys()])) {
    const below = path === '' ? name : `${path}/${name}`;
    const merged = mergeEntry(
      result,
      below,
      each(children, (of) => of.get(name)),
    );
    if (merged.holdsFile) isHeld = true;
    if (merged.entry !== undefined && holdsFile(merged.entry)) entries.set(name, merged.entry);
  }
  return { entry: entries.size === 0 ? undefined : { entries }, holdsFile: isHeld };
}

/** The three-way rule for one file. */
function decide({
  base,
  source,
  run,
}: Three<Leaf | null>): Leaf | null | 'conflict' | { contents: Omit<BothChanged, 'path'> } {
  if (isSameFile(source, run) || isSameFile(base, run)) return source;
  if (isSameFile(base, source)) return run;
  if (source === null || run === null || source.mode === modes.symlink || run.mode === modes.symlink) return 'conflict';
  const before = base === null || base.mode === modes.symlink ? undefined : base;
  const mode = pick(before?.mode, source.mode, run.mode);
  if (mode === undefined) return 'conflict';
  const oid = pick(before?.oid, source.oid, run.oid);
  return oid === undefined ? { contents: { base, source, run, mode } } : { mode, oid };
}

/** The value of the side that changed it; undefined when both did. */
function pick<T>(base: T | undefined, source: T, run: T): T | undefined {
  if (source === run || run === base) return source;
  return source === base ? run : undefined;
}

const isSameFile = (a: Leaf | null, b: Leaf | null): boolean => isSame(a ?? undefined, b ?? undefined);

function isEqual(a: Entry | undefined, b: Entry | undefined): boolean {
  return isSame(a, b) || (isFolder(a) && isFolder(b) && typeof a.oid === 'string' && a.oid === b.oid);
}

function holdsFile(entry: Entry | undefined): boolean {
  if (!isFolder(entry)) return entry !== undefined;
  if (entry.oid !== undefined) return entry.oid !== null;
  return entry.entries.values().some(holdsFile);
}

export function each<T, R>(three: Three<T>, map: (value: T) => R): Three<R> {
  return { base: map(three.base), source: map(three.source), run: map(three.run) };
}

const none: ReadonlyMap<string, Entry> = new Map();
