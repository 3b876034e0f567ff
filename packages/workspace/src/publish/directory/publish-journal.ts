import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { readJson, syncPath, writeDurably } from '../../files/index.ts';
import type { RunFolder } from '../../run-folder/index.ts';
import { modes } from '../../store/objects/index.ts';

const modeSchema = z.union([
  z.literal(modes.file),
  z.literal(modes.executable),
  z.literal(modes.symlink),
  z.literal(modes.submodule),
]);
const leafSchema = z.strictObject({ mode: modeSchema, oid: z.string().regex(/^[0-9a-f]{40}$/) });
const ownership = { permissions: z.int(), uid: z.int(), gid: z.int() };

/** Identifies a publish, in its journal and afterwards in `last.json`. */
const published = {
  /** The run's snapshot. */
  snapshot: z.string(),
  /** The snapshot equal to the source after the publish. When absent, `snapshot`. */
  candidate: z.string().optional(),
  /** Id of the request: a repeated request is recognised. */
  request: z.string().default(''),
  /** Digest of the plan: a call after a crash returns the approved plan. */
  digest: z.string().default(''),
};

const journalSchema = z.strictObject({
  format: z.literal(1),
  ...published,
  /** `back` after a conflict behind the commit point: the writes are rolled back. */
  direction: z.enum(['forward', 'back']),
  /** Deletions first, then writes. Paths are bytes in latin1. */
  entries: z.array(
    z.strictObject({
      path: z.string(),
      /** State of the source at the commit point, with permissions and owner. */
      old: leafSchema.extend(ownership).nullable(),
      new: leafSchema.extend(ownership).nullable(),
    }),
  ),
  /** New folders of the publish, parents first. */
  made: z.array(z.string()),
  /** Permission bits of the folders made private by the run, by path. */
  folders: z.record(z.string(), z.int()).default({}),
  /** Folders to remove if they are empty afterwards, children first. */
  emptied: z.array(z.string()),
  conflicts: z.array(z.strictObject({ path: z.string(), detail: z.string(), kept: z.string().optional() })),
});

/** The intent to change a source directory. While the journal is on disk, the publish is committed and must be finished. */
export type Journal = z.infer<typeof journalSchema>;
export type JournalEntry = Journal['entries'][number];

const lastSchema = z.strictObject({ format: z.literal(1), ...published });

/** The pending journal, if a publish was interrupted. */
export function readJournal(folder: RunFolder): Journal | undefined {
  return readJson(join(folder.publish, 'journal.json'), journalSchema);
}

/** The write is the commit point. */
export async function writeJournal(folder: RunFolder, journal: Journal): Promise<void> {
  mkdirSync(folder.publish, { recursive: true, mode: 0o700 });
  await syncPath(folder.path);
  await writeDurably(join(folder.publish, 'journal.json'), JSON.stringify(journal));
}

export async function removeJournal(folder: RunFolder): Promise<void> {
  rmSync(join(folder.publish, 'journal.json'), { force: true });
  await syncPath(folder.publish);
}

/** The last finished publish, and its request. */
export function lastPublished(
  folder: RunFolder,
): { snapshot: string; candidate: string; request: string; digest: string } | undefined {
  const last = readJson(join(folder.publish, 'last.json'), lastSchema);
  return last && { ...last, candidate: last.candidate ?? last.snapshot };
}

export async function writeLastPublished(folder: RunFolder, journal: Journal): Promise<void> {
  const { snapshot, candidate, request, digest } = journal;
  const last = JSON.stringify({ format: 1, snapshot, candidate, request, digest });
  await writeDurably(join(folder.publish, 'last.json'), last);
}
