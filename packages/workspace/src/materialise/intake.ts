import type { BigIntStats } from 'node:fs';
import { WorkspaceError } from '../errors.ts';
import type { BytePath } from '../files/path-name.ts';
import type { Yielder } from '../files/yielder.ts';
import type { ObjectWriter } from '../git-objects/object-writer.ts';
import type { Owner, Progress, SkippedPath } from '../port.ts';
import type { Selection } from './selection.ts';

/** What bringing files into a new workspace needs, and what it finds out on the way. */
export interface Intake {
  readonly owner: Owner | undefined;
  readonly maybeYield: Yielder;
  readonly limits: { entries: number; sourceBytes: number; fileBytes: number };
  readonly selection: Selection;
  readonly skipped: Map<string, SkippedPath['reason']>;
  /** Takes content on its way into the tree, for the first snapshot. */
  readonly content: Pick<ObjectWriter, 'blob' | 'backpressure'>;
  /** Takes the status of a file whose content was taken: nobody else is at the tree, so that it need not be read again. */
  readonly remember: (path: BytePath, status: BigIntStats, oid: string) => void;
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

export function countEntry(intake: Intake): void {
  intake.entries += 1;
  if (intake.entries <= intake.limits.entries) return;
  throw new WorkspaceError('ETOOMANYFILES', `The source has more than ${intake.limits.entries} files and folders.`);
}

/** Counts bytes that are about to be brought in, and fails before they are when they are too many. */
export function countBytes(intake: Intake, bytes: number): void {
  intake.bytes += bytes;
  if (intake.bytes <= intake.limits.sourceBytes) return;
  const gibibytes = (intake.limits.sourceBytes / 1024 ** 3).toFixed(1);
  throw new WorkspaceError(
    'ESOURCETOOLARGE',
    `The source has more than ${intake.limits.sourceBytes} bytes (${gibibytes} GiB), which is the limit.`,
  );
}

/** A file or link is in. */
export function fileIsIn(intake: Intake): void {
  intake.done.files += 1;
  intake.onPoint('materialise.file');
  tell(intake);
}

/** Bytes of a file are in. */
export function bytesAreIn(intake: Intake, bytes: number): void {
  intake.done.bytes += bytes;
  tell(intake);
}

/** Not more often than every 200 ms. */
function tell(intake: Intake): void {
  const now = performance.now();
  if (now < intake.due) return;
  intake.due = now + progressEveryMs;
  intake.onProgress({ ...intake.done });
}
