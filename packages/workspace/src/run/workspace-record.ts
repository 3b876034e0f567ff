import { sourceSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { WorkspaceError } from '../errors.ts';
import { readJson, writeDurably } from '../files/index.ts';
import { skipsSchema } from '../tree/index.ts';
import type { RunFolder } from './run-folder.ts';

const oid = z.string().regex(/^[0-9a-f]{40}$/);

const recordSchema = z.strictObject({
  format: z.literal(1),
  run_id: z.string(),
  source: sourceSchema,
  /** Real path of the source directory, or of the git directory; the URL of a remote. */
  origin: z.string().nullable(),
  tenant: z.string().optional(),
  owner: z.strictObject({ uid: z.int(), gid: z.int() }),
  /** Seconds since 1970; the date of every commit of the run. */
  created_at: z.int(),
  base: oid,
  base_commit: oid.nullable(),
  /** Paths of the source that the copy left out. */
  left_out: skipsSchema,
  /** Empty unless the source is a git repository. */
  submodules: z.array(z.strictObject({ path: z.string(), commit: oid })).default([]),
  /** For a fork, the snapshot that its tree started from. */
  start: oid.optional(),
  files: z.int(),
  bytes: z.int(),
  finished: z.literal(true),
});

/** The facts about a workspace that never change after it was created. */
export type WorkspaceRecord = z.infer<typeof recordSchema>;

/** The record; undefined when materialising never finished, or when the run was discarded. */
export function readRecord(folder: RunFolder): WorkspaceRecord | undefined {
  return readJson(folder.record, recordSchema);
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
