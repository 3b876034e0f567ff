import { WorkspaceError } from '../errors.ts';
import type { Pace } from '../files/pace.ts';
import type { Owner, Progress, SkippedPath } from '../port.ts';
import type { Selection } from './selection.ts';

/** What bringing files into a new workspace needs, and what it finds out on the way. */
export interface Intake {
  readonly owner: Owner | undefined;
  readonly pace: Pace;
  readonly limits: { entries: number; sourceBytes: number };
  readonly selection: Selection;
  readonly skipped: Map<string, SkippedPath['reason']>;
  readonly onProgress: (progress: Progress) => void;
  entries: number;
  files: number;
  bytes: number;
  /** When the next progress is due. */
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

/** A file is in. Tells how far it is, not more often than every 200 ms. */
export function countFile(intake: Intake): void {
  intake.files += 1;
  const now = performance.now();
  if (now < intake.due) return;
  intake.due = now + progressEveryMs;
  intake.onProgress({ files: intake.files, bytes: intake.bytes });
}
