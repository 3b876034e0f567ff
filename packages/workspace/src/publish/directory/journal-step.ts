import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openChain, openTop, readJson, statIn, syncPath, writeDurably } from '../../files/index.ts';
import type { RunFolder } from '../../run-folder/index.ts';
import { modes } from '../../store/objects/index.ts';
import { type Found, inspect, inspectChild } from './inspect-source.ts';
import { type AsideContext, findAside, privateName, removeName } from './private-name.ts';

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

/** A path and its state before and after. */
export interface Step {
  path: string;
  from: JournalEntry['old'];
  to: JournalEntry['new'];
}

/** A path changed by another program. */
export interface StepConflict {
  path: string;
  detail: string;
  /** Path of the version without a free name. */
  kept?: string | undefined;
}

/** A pass over a journal: forward or rollback. */
export interface Pass {
  aside: AsideContext;
  /** Role of the files set aside by this pass. */
  role: 'old' | 'new';
  /** Paths whose old file is set aside while the new file is still missing, because a process died in between. */
  halfDone: Set<string>;
  /** Permission bits of folders closed to others, by path. */
  folders: Readonly<Record<string, number>>;
}

/** Whether a step is done, due, or in conflict with another program. */
export async function checkStep(pass: Pass, step: Step): Promise<'done' | 'due' | StepConflict> {
  const found = await inspect(pass.aside.root, step.path);
  if (isState(found, step.to)) return 'done';
  // This publish has replaced the file by a folder.
  if (found.kind === 'directory' && step.to === null) return 'done';
  if (isState(found, step.from)) return 'due';
  // A folder whose files are deleted; the folder is removed when empty.
  if (found.kind === 'directory' && step.from === null) return 'due';
  if (found.kind === 'absent' && pass.halfDone.has(step.path)) return 'due';
  return changedMeanwhile(step.path);
}

export const changedMeanwhile = (path: string): StepConflict => ({
  path,
  detail: 'The file changed during the publish.',
});

export function isState(found: Found, state: JournalEntry['old']): boolean {
  if (state === null) return found.kind === 'absent' || found.kind === 'blocked';
  return found.kind === 'leaf' && found.mode === state.mode && found.oid === state.oid;
}

export function splitPath(path: string): { names: string[]; name: string } {
  const names = path.split('/');
  return { name: names.pop() ?? '', names };
}

/** Cleans up after a process with its death in the middle of a step. */
export async function prepareStep(pass: Pass, step: Step): Promise<StepConflict[]> {
  const { aside, role } = pass;
  const { path } = step;
  const { names, name } = splitPath(path);
  using top = openTop(aside.root);
  using directory = openChain(top, names);
  const temporary = privateName(aside.runId, path, 'tmp');
  const isStaged = directory !== undefined && statIn(directory, temporary) !== undefined;
  try {
    const away = findAside(aside, path, role);
    if (away === undefined) return [];
    using from = away.directory;
    const status = directory === undefined ? undefined : statIn(directory, name);
    if (status === undefined || directory === undefined) {
      if (step.to !== null && (isStaged || hasOld(pass, path))) pass.halfDone.add(path);
      return [];
    }
    if (status.ino === statIn(from, away.name)?.ino) {
      removeName(from, away.name);
      return [];
    }
    // Another program restored the old content under the name. The other program's file needs the private name next.
    if (!isState(await inspectChild(directory, name), step.from)) return [];
    if (!isState(await inspectChild(from, away.name), step.from)) return [changedMeanwhile(path)];
    removeName(from, away.name);
    return [];
  } finally {
    if (isStaged) removeName(directory, temporary);
  }
}

/** A rollback restores the old file from its private name. */
function hasOld({ aside, role }: Pass, path: string): boolean {
  if (role !== 'new') return false;
  const old = findAside(aside, path, 'old');
  old?.directory[Symbol.dispose]();
  return old !== undefined;
}
