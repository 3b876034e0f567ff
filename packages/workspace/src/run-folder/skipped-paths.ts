import { z } from 'zod';
import { fromText, toText } from '../files/index.ts';
import type { SkippedPath } from '../port/workspaces.ts';

/** The state of an entry skipped by a snapshot: another size or time proves a later change by the run. */
export interface Skipped {
  readonly reason: SkippedPath['reason'];
  readonly bytes: number;
  /** Nanoseconds since 1970. `0`: left out of the copy, so not in the tree. */
  readonly mtime: string;
  /** Identifies the content: see `content-stamp.ts`. */
  readonly stamp?: string;
}

export const skipsSchema = z.array(
  z.strictObject({
    path: z.string(),
    reason: z.enum(['too_large', 'socket', 'fifo', 'device', 'unreadable']),
    bytes: z.int(),
    mtime: z.string(),
    stamp: z.string().optional(),
  }),
);
/** The stored form: sorted by path. Paths are text. */
export type Skips = z.infer<typeof skipsSchema>;

export function toSkips(skipped: ReadonlyMap<string, Skipped>): Skips {
  return [...skipped].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, skip]) => ({ path: toText(path), ...skip }));
}

export function fromSkips(skips: Skips): Map<string, Skipped> {
  return new Map(skips.map(({ path, ...skip }) => [fromText(path), skip]));
}

export const skippedPaths = ({ skipped }: { skipped: ReadonlyMap<string, Skipped> }): SkippedPath[] =>
  toSkips(skipped).map(({ path, reason }) => ({ path, reason }));

/** True when two snapshots skipped the same entry in the same state. */
export function isSameSkip(a: Skipped | undefined, b: Skipped | undefined): boolean {
  return a?.reason === b?.reason && a?.bytes === b?.bytes && a?.mtime === b?.mtime && a?.stamp === b?.stamp;
}
