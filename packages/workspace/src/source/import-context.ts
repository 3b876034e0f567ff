import type { Limits, Owner, Progress, SkippedPath } from '../deps.ts';
import { type BytePath, toText, type Yielder } from '../files/index.ts';
import { WorkspaceError } from '../port/workspaces.ts';
import { deepestFolder, isTooDeep } from '../tree/index.ts';
import type { Selection } from './selection.ts';

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
