import { statSync } from 'node:fs';
import { lfsPointersSchema, sourceSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { WorkspaceError } from '../errors.ts';
import { readJson, writeDurably } from '../files/index.ts';
import type { RunFolder } from './run-folder.ts';
import { skipsSchema } from './skipped-paths.ts';

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
