import { statSync } from 'node:fs';
import { lfsPointersSchema, sourceSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { WorkspaceError } from '../errors.ts';
import { fromText, readJson, toText, writeDurably } from '../files/index.ts';
import type { SkippedPath } from '../port/workspaces.ts';
import type { RunFolder } from './run-folder.ts';

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

const oid = z.string().regex(/^[0-9a-f]{40}$/);

const recordSchema = z.strictObject({
  format: z.literal(1),
  run_id: z.string(),
  source: sourceSchema,
  /** Real path of the source directory, or of the git directory; the URL of a remote. */
  origin: z.string().nullable(),
  /** Real path of the source whose folders the run sees (`with`). */
  top: z.string().optional(),
  tenant: z.string().optional(),
  owner: z.strictObject({ uid: z.int(), gid: z.int() }),
  /** Seconds since 1970; the date of every commit of the run. */
  created_at: z.int(),
  base: oid,
  base_commit: oid.nullable(),
  /** Paths of the source left out of the copy. */
  left_out: skipsSchema,
  /** Empty unless the source is a git repository. */
  submodules: z.array(z.strictObject({ path: z.string(), commit: oid })).default([]),
  lfs_pointers: lfsPointersSchema.optional(),
  /** For a fork, the snapshot at the start of its tree. */
  start: oid.optional(),
  files: z.int(),
  bytes: z.int(),
  finished: z.literal(true),
});

/** The unchanging facts about a workspace from its creation on. */
export type WorkspaceRecord = z.infer<typeof recordSchema>;

/** The most recently read records, each with the identity of its file: a record is always replaced, never changed. */
const known = new Map<string, { identity: string; record: WorkspaceRecord }>();
const mostKnown = 64;

/** The record; undefined when materialising never finished, or when the run was discarded. A repeated read costs a stat. */
export function readRecord(folder: RunFolder): WorkspaceRecord | undefined {
  const path = folder.record;
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  const identity = stats && `${stats.dev} ${stats.ino} ${stats.ctimeNs} ${stats.size}`;
  const kept = known.get(path);
  if (identity !== undefined && kept?.identity === identity) return kept.record;
  known.delete(path);
  const record = readJson(path, recordSchema);
  if (record === undefined || identity === undefined) return record;
  known.set(path, { identity, record });
  for (const oldest of known.keys()) if (known.size > mostKnown) known.delete(oldest);
  return record;
}

/** Like `readRecord`, but a missing workspace is an error. */
export function requireRecord(folder: RunFolder): WorkspaceRecord {
  const record = readRecord(folder);
  if (record !== undefined) return record;
  throw new WorkspaceError('EWORKSPACEMISSING', `Run ${folder.runId} has no workspace on this host.`);
}

export async function writeRecord(folder: RunFolder, record: WorkspaceRecord): Promise<void> {
  await writeDurably(folder.record, JSON.stringify(recordSchema.parse(record), null, 1));
}
