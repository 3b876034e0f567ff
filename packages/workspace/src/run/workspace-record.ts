import { readFileSync } from 'node:fs';
import { sourceSchema } from '@holdpoint/contract';
import { z } from 'zod';
import { errnoOf, WorkspaceError } from '../errors.ts';
import { writeDurably } from '../files/write-durably.ts';
import { skipsSchema } from '../tree/manifest.ts';
import type { RunFolder } from './run-folder.ts';

const oid = z.string().regex(/^[0-9a-f]{40}$/);

const recordSchema = z.strictObject({
  format: z.literal(1),
  run_id: z.string(),
  source: sourceSchema,
  /** Real path of the source: of the directory, or of the git directory. */
  origin: z.string().nullable(),
  owner: z.strictObject({ uid: z.int(), gid: z.int() }),
  /** Seconds since 1970; the date of every commit of the run. */
  created_at: z.int(),
  base: oid,
  base_commit: oid.nullable(),
  /** Paths of the source that were not copied. */
  left_out: skipsSchema,
  /** Of a git source. */
  submodules: z.array(z.strictObject({ path: z.string(), commit: oid })).default([]),
  /** Of a fork: the snapshot that its tree began with. */
  start: oid.optional(),
  files: z.int(),
  bytes: z.int(),
  finished: z.literal(true),
});

/** What is known of a run's workspace since it was made. Never changes. */
export type WorkspaceRecord = z.infer<typeof recordSchema>;

/** The record, or undefined when the run was never (or only half) materialised, or was discarded. */
export function readRecord(folder: RunFolder): WorkspaceRecord | undefined {
  let text: string;
  try {
    text = readFileSync(folder.record, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new WorkspaceError('EWORKSPACECORRUPT', `${folder.record} cannot be read.`, { cause });
  }
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
