import type { BigIntStats } from 'node:fs';
import { WorkspaceError } from '../errors.ts';
import type { Pace } from '../files/pace.ts';
import type { BytePath } from '../files/path-name.ts';
import type { ObjectWriter } from '../git-objects/object-writer.ts';
import type { Owner, Progress, SkippedPath } from '../port.ts';
import type { Selection } from './selection.ts';

/** What bringing files into a new workspace needs, and what it finds out on the way. */
export interface ImportContext {
  readonly owner: Owner | undefined;
  readonly pace: Pace;
  readonly limits: { entries: number; sourceBytes: number; fileBytes: number };
  readonly selection: Selection;
  readonly skipped: Map<string, SkippedPath['reason']>;
  /** Takes content on its way into the tree, for the first snapshot. */
  readonly content: Pick<ObjectWriter, 'blob' | 'relieve'>;
  /** Takes the status of a file whose content was taken: nobody else is at the tree, so that it need not be read again. */
  readonly learn: (path: BytePath, status: BigIntStats, oid: string) => void;
  readonly onProgress: (progress: Progress) => void;
  readonly onPoint: (point: string) => void;
  /** Entries and bytes that were found to be brought in. */
  entries: number;
  bytes: number;
  /** What is in. */
  readonly done: Progress;
  /** When the next progress may be told. */
  due: number;
}

const progressEveryMs = 200;

export function countEntry(context: ImportContext): void {
  context.entries += 1;
  if (context.entries <= context.limits.entries) return;
  throw new WorkspaceError('ETOOMANYFILES', `The source has more than ${context.limits.entries} files and folders.`);
}

/** Counts bytes that are about to be brought in, and fails before they are when they are too many. */
export function countBytes(context: ImportContext, bytes: number): void {
  context.bytes += bytes;
  if (context.bytes <= context.limits.sourceBytes) return;
  const gibibytes = (context.limits.sourceBytes / 1024 ** 3).toFixed(1);
  throw new WorkspaceError(
    'ESOURCETOOLARGE',
    `The source has more than ${context.limits.sourceBytes} bytes (${gibibytes} GiB), which is the limit.`,
  );
}

/** A file or link is in. */
export function fileDone(context: ImportContext): void {
  context.done.files += 1;
  context.onPoint('materialise.file');
  reportProgress(context);
}

/** Bytes of a file are in. */
export function bytesDone(context: ImportContext, bytes: number): void {
  context.done.bytes += bytes;
  reportProgress(context);
}

/** Not more often than every 200 ms. */
function reportProgress(context: ImportContext): void {
  const now = performance.now();
  if (now < context.due) return;
  context.due = now + progressEveryMs;
  context.onProgress({ ...context.done });
}
