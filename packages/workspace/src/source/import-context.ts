import type { Source } from '@holdpoint/contract';
import type { Limits, Owner, Progress, SkippedPath } from '../deps.ts';
import { type BytePath, fromPlain, isWithin, toText, type Yielder } from '../files/index.ts';
import { WorkspaceError } from '../port/workspaces.ts';
import { type Folder, isFolder } from '../store/objects/index.ts';
import { deepestFolder, isTooDeep } from '../tree/index.ts';
import { compileGlob } from './glob.ts';

/** Decides about the paths of a source to copy into the workspace. */
export interface Selection {
  /** Whether a folder and everything inside is excluded. */
  excludes(path: BytePath): boolean;
  /** Whether a file, link or folder is selected. */
  has(path: BytePath): boolean;
}

interface Globs {
  type?: Source['type'];
  include?: readonly string[] | undefined;
  exclude?: readonly string[] | undefined;
  with?: readonly string[] | undefined;
}

export const selectAll: Selection = { excludes: () => false, has: () => true };

/**
 * A glob matching a folder matches everything below; see `compileGlob`. `exclude` wins over `include`. The folders shown to a run from a
 * directory (`with`) are excluded, too; shown folders of a git source are no part of its commit anyway.
 * @throws WorkspaceError EGLOBINVALID
 */
export function createSelection({ type, include, exclude, with: folders }: Globs): Selection {
  const shown = type === 'directory' ? (folders ?? []) : [];
  if (include === undefined && exclude === undefined && shown.length === 0) return selectAll;
  const wanted = include === undefined ? () => true : matcher(include);
  const excluded = matcher(exclude ?? []);
  const isShown = within(shown);
  const unwanted = (path: BytePath) => excluded(path) || isShown(path);
  return {
    excludes: unwanted,
    has: (path) => wanted(path) && !unwanted(path),
  };
}

/** Whether a path is in the list of folders, or below a folder of the list. */
function within(folders: readonly string[]): (path: BytePath) => boolean {
  const paths = folders.map(fromPlain);
  return (path) => paths.some((folder) => isWithin(path, folder));
}

/** Whether a path, or a folder above, matches any glob. */
function matcher(globs: readonly string[]): (path: BytePath) => boolean {
  const isMatch = globs.map(compileGlob);
  const folders = new Map<string, boolean>();
  const isMatched = (path: string): boolean => {
    if (isMatch.some((matches) => matches(path))) return true;
    const above = path.slice(0, Math.max(path.lastIndexOf('/'), 0));
    if (above === '') return false;
    const known = folders.get(above) ?? isMatched(above);
    folders.set(above, known);
    return known;
  };
  return (path) => isMatched(Buffer.from(path, 'latin1').toString('utf8'));
}

/** The selected part of a tree. Unchanged folders are shared; a folder with a lost entry gets a new object id. */
export function selectTree(root: Folder, selection: Selection): Folder {
  if (selection === selectAll) return root;
  const visit = (folder: Folder, path: string): Folder => {
    const entries: Folder['entries'] = new Map();
    for (const [name, entry] of folder.entries) {
      const below = path === '' ? name : `${path}/${name}`;
      if (!isFolder(entry)) {
        if (selection.has(below)) entries.set(name, entry);
        continue;
      }
      if (selection.excludes(below)) continue;
      const kept = visit(entry, below);
      if (kept.entries.size > 0 || selection.has(below)) entries.set(name, kept);
    }
    const isWhole =
      entries.size === folder.entries.size && [...entries].every(([name, entry]) => folder.entries.get(name) === entry);
    return isWhole ? folder : { entries };
  };
  return visit(root, '');
}

/** Inputs and counters of an import of files into a new workspace. */
export interface ImportContext {
  readonly owner: Owner | undefined;
  readonly maybeYield: Yielder;
  readonly limits: Pick<Limits, 'entries' | 'sourceBytes' | 'fileBytes'>;
  readonly selection: Selection;
  readonly skipped: Map<string, SkippedPath['reason']>;
  readonly onProgress: (progress: Progress) => void;
  readonly onPoint: (point: string) => void;
  /** Entries and bytes found so far. */
  entries: number;
  bytes: number;
  /** Files and bytes copied so far. */
  readonly done: Progress;
  /** When to report the next progress, by `performance.now()`. */
  due: number;
}

/** Counts files as they are written, and reports them. */
export type ImportProgress = Pick<ImportContext, 'done' | 'due' | 'onProgress' | 'onPoint'>;

/** Counts without reports. */
export const noProgress = (): ImportProgress => ({
  done: { files: 0, bytes: 0 },
  due: Number.POSITIVE_INFINITY,
  onProgress: () => {},
  onPoint: () => {},
});

const progressEveryMs = 200;

export function countEntry(context: ImportContext): void {
  context.entries += 1;
  if (context.entries <= context.limits.entries) return;
  throw new WorkspaceError('ETOOMANYFILES', `The source has more than ${context.limits.entries} files and folders.`);
}

/** Bytes. PATH_MAX of Linux is 4,096, and the tree of a run lies some folders below its root. */
const longestPath = 3840;
/** Bytes; the limit of the usual file systems. */
const longestName = 255;

/** Refuses a path of the source impossible in a workspace. */
export function assertUsablePath(path: BytePath): void {
  if (path.length <= longestName && !isTooDeep(path)) return;
  const names = path.split('/');
  const long = names.some((name) => name.length > longestName);
  const why = long
    ? `a name of more than ${longestName} bytes`
    : isTooDeep(path) && `more than ${deepestFolder} folders`;
  const found = why || (path.length > longestPath && `more than ${longestPath} bytes`);
  if (!found) return;
  throw new WorkspaceError('ESOURCEPATHS', `The path ${toText(path.slice(0, 200))}… of the source has ${found}.`);
}

/** Counts bytes before they are copied. Throws ESOURCETOOLARGE beyond the limit. */
export function countBytes(context: ImportContext, bytes: number): void {
  context.bytes += bytes;
  if (context.bytes <= context.limits.sourceBytes) return;
  const gibibytes = (context.limits.sourceBytes / 1024 ** 3).toFixed(1);
  throw new WorkspaceError(
    'ESOURCETOOLARGE',
    `The source has more than the limit of ${context.limits.sourceBytes} bytes (${gibibytes} GiB).`,
  );
}

/** Counts a copied file or link. */
export function fileDone(context: ImportProgress): void {
  context.done.files += 1;
  context.onPoint('materialise.file');
  reportProgress(context);
}

/** Counts copied bytes. */
export function bytesDone(context: ImportProgress, bytes: number): void {
  context.done.bytes += bytes;
  reportProgress(context);
}

function reportProgress(context: ImportProgress): void {
  const now = performance.now();
  if (now < context.due) return;
  context.due = now + progressEveryMs;
  context.onProgress({ ...context.done });
}
