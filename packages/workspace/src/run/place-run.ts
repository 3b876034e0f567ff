import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { identify, pidScope } from '@holdpoint/process';
import type { Deps } from '../deps.ts';
import { errnoOf } from '../errors.ts';
import { removeFolder } from '../files/remove-folder.ts';
import { syncFolder } from '../files/write-durably.ts';
import { folderAt, type RunFolder, runFolder } from './run-folder.ts';
import { readRecord, type WorkspaceRecord } from './workspace-record.ts';

/** Where runs are made before they have a place. The name of a folder tells its run, and is nobody else's. */
export const makingIn = (dataDir: string): string => join(dataDir, 'making');

/**
 * Makes a run's folder aside and puts it into its place as a whole. Of two makers, one of which may have been frozen for long, the first
 * to be done wins: the other one's work is thrown away, and nobody ever sees a folder that is half made.
 * @param make makes everything, the record included
 * @returns the record of the run that is in its place
 */
export async function placeRun(
  deps: Deps,
  runId: string,
  make: (folder: RunFolder) => Promise<WorkspaceRecord>,
): Promise<{ folder: RunFolder; record: WorkspaceRecord }> {
  const making = makingIn(deps.dataDir);
  mkdirSync(making, { recursive: true, mode: 0o700 });
  const aside = folderAt(join(making, `${runId}.${owner(process.pid)}-${randomBytes(6).toString('hex')}`), runId, 1);
  deps.states.drop(runId);
  try {
    const record = await make(aside);
    deps.onPoint('place.made');
    return await place(deps, aside, record);
  } finally {
    // What is kept in memory names files where they were made.
    deps.states.drop(runId);
    await removeInVain(deps, aside.path);
    await removeDeadMakers(deps);
  }
}

/** What dead processes of this host made in vain, for any run. One that is only frozen keeps its own, and removes it. */
export async function removeDeadMakers(deps: Deps): Promise<void> {
  const making = makingIn(deps.dataDir);
  const names = await readdir(making).catch((error: unknown) => {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  });
  for (const name of names.filter(isOfDead)) await removeInVain(deps, join(making, name));
}

async function removeInVain(deps: Deps, path: string): Promise<void> {
  await removeFolder(path).catch((error: unknown) => {
    deps.logger.warn({ path, err: error }, 'a workspace that was made in vain could not be removed');
  });
}

/** Names a process of this host for as long as it runs, and afterwards. */
const owner = (pid: number): string =>
  `${createHash('sha256').update(pidScope()).digest('hex').slice(0, 8)}-${pid}-${identify(pid)?.start ?? ''}`;

function isOfDead(name: string): boolean {
  const [place = '', pid = '', start = ''] = name.slice(name.lastIndexOf('.') + 1).split('-');
  const now = owner(Number(pid));
  return now.startsWith(`${place}-`) && now !== `${place}-${pid}-${start}`;
}

async function place(deps: Deps, aside: RunFolder, made: WorkspaceRecord) {
  for (;;) {
    const folder = runFolder(deps.dataDir, aside.runId);
    const before = readRecord(folder);
    if (before !== undefined) return { folder, record: before };
    try {
      renameSync(aside.path, folder.path);
    } catch (error) {
      if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'EEXIST') throw error;
      // Somebody was faster, and is seen at the next look. A folder without a record is nobody's.
      if (readRecord(folder) === undefined) await removeFolder(folder.path);
      continue;
    }
    await syncFolder(join(deps.dataDir, 'runs'));
    deps.onPoint('place.placed');
    return { folder: runFolder(deps.dataDir, aside.runId), record: made };
  }
}
