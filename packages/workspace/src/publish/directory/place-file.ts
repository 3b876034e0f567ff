import { createHash } from 'node:crypto';
import { closeSync, constants, linkSync, mkdirSync, openSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import type { Deps } from '../../deps.ts';
import { errnoOf } from '../../errors.ts';
import { giveFile, giveLink } from '../../files/give-away.ts';
import type { Directory } from '../../files/open-directory.ts';
import { openChild, openTop, statIn } from '../../files/open-directory.ts';
import { removeHollow } from '../../files/remove-hollow.ts';
import { syncFolder, syncOpen, writeAll } from '../../files/write-durably.ts';
import type { BlobReceiver } from '../../host-git/stream-blobs.ts';
import type { Owner } from '../../port.ts';
import { modes } from '../../tree/tree.ts';
import type { Objection, Step } from './journal-step.ts';
import { judge, splitPath } from './journal-step.ts';
import type { JournalEntry } from './publish-journal.ts';

export type DueStep = Step & { to: NonNullable<JournalEntry['new']> };

/** Receives the contents of due steps and puts each in its place in the source. */
export interface Placer extends BlobReceiver {
  readonly objections: Objection[];
  close(): void;
}

/** Name of the temporary file of a path, the same in every attempt, so that a later one can remove what an earlier one left. */
export function temporaryName(runId: string, path: string): string {
  return `.holdpoint-${createHash('sha256').update(`${runId}\0${path}`).digest('hex').slice(0, 20)}.tmp`;
}

/** Permission bits of folders that are closed to others, by path. */
type FolderBits = Readonly<Record<string, number>>;

interface Open {
  readonly step: DueStep;
  readonly directory: Directory;
  readonly name: string;
  readonly temporary: string;
  /** Absent for a symbolic link, whose target is gathered in `pieces`. */
  readonly fd: number | undefined;
  readonly pieces: Buffer[];
}

export function createPlacer(
  deps: Pick<Deps, 'onPoint' | 'isRoot'>,
  input: { root: string; runId: string; due: readonly DueStep[]; stopAtFirst: boolean; folders: FolderBits },
): Placer {
  const objections: Objection[] = [];
  let open: Open | undefined;
  const close = () => {
    if (open?.fd !== undefined) closeSync(open.fd);
    open?.directory[Symbol.dispose]();
    open = undefined;
  };
  return {
    objections,
    close,
    begin: (index) => {
      const step = input.due[index];
      if (step === undefined || (input.stopAtFirst && objections.length > 0)) return;
      const opened = openStep(deps, { ...input, step });
      if ('detail' in opened) objections.push(opened);
      else open = opened;
    },
    piece: (bytes) => {
      if (open?.fd !== undefined) writeAll(open.fd, bytes);
      else open?.pieces.push(Buffer.from(bytes));
    },
    end: async () => {
      if (open === undefined) return;
      const objection = await place(deps, input.root, open);
      if (objection !== undefined) objections.push(objection);
      close();
      deps.onPoint('publish.placed');
    },
  };
}

function openStep(
  deps: Pick<Deps, 'isRoot'>,
  input: { root: string; runId: string; step: DueStep; folders: FolderBits },
): Open | Objection {
  const { step, root } = input;
  const { names, name } = splitPath(step.path);
  const directory = makeParents(deps, { root, names, folders: input.folders });
  if (directory === undefined) return { path: step.path, detail: 'A folder on the way is not a folder any more.' };
  const temporary = temporaryName(input.runId, step.path);
  const isLink = step.to.mode === modes.symlink;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = isLink ? undefined : openSync(directory.at(temporary), flags, 0o600);
  return { step, directory, name, temporary, fd, pieces: [] };
}

/**
 * Opens the folder of a path. Missing folders are made like the folder they lie in: its owner, its permissions, unless the run closed them
 * to others.
 */
function makeParents(
  deps: Pick<Deps, 'isRoot'>,
  { root, names, folders }: { root: string; names: readonly string[]; folders: FolderBits },
): Directory | undefined {
  let current = openTop(root);
  for (const [depth, name] of names.entries()) {
    const closed = folders[names.slice(0, depth + 1).join('/')];
    using parent = current;
    const own = statIn(parent, '.');
    if (own !== undefined && statIn(parent, name) === undefined) {
      mkdirSync(parent.at(name), 0o700);
      using made = openChild(parent, name);
      const owner = { uid: Number(own.uid), gid: Number(own.gid) };
      giveFile(made.fd, deps.isRoot ? owner : undefined, closed ?? Number(own.mode & 0o7777n));
    }
    try {
      current = openChild(parent, name);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOTDIR' || errno === 'ELOOP' || errno === 'ENOENT') return undefined;
      throw error;
    }
  }
  return current;
}

async function place(deps: Pick<Deps, 'onPoint' | 'isRoot'>, root: string, open: Open): Promise<Objection | undefined> {
  const { directory, temporary, step, fd } = open;
  const owner = deps.isRoot ? { uid: step.to.uid, gid: step.to.gid } : undefined;
  if (fd === undefined) {
    symlinkSync(Buffer.concat(open.pieces), directory.at(temporary));
    giveLink(directory.at(temporary), owner);
  } else {
    giveFile(fd, owner, step.to.permissions);
    await syncOpen(fd);
  }
  deps.onPoint('publish.staged');
  const verdict = await judge(root, step);
  const objection = verdict === 'due' ? moveIn(open, owner) : verdict === 'done' ? undefined : verdict;
  if (verdict !== 'due' || objection !== undefined) unlinkSync(directory.at(temporary));
  await syncFolder(directory.self);
  return objection;
}

/** Nothing may come between `judge` and this: it is synchronous. */
function moveIn(open: Open, owner: Owner | undefined): Objection | undefined {
  const { directory, temporary, name, step, pieces } = open;
  if (step.from !== null) {
    renameSync(directory.at(temporary), directory.at(name));
    return undefined;
  }
  if (statIn(directory, name)?.isDirectory() === true && !removeHollow(directory, name)) {
    return { path: step.path, detail: 'A folder with other files is there now.' };
  }
  try {
    // A symbolic link is made anew under its name: on some systems linking one links what it points to.
    if (open.fd === undefined) symlinkSync(Buffer.concat(pieces), directory.at(name));
    else linkSync(directory.at(temporary), directory.at(name));
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EEXIST')
      return { path: step.path, detail: 'A file was made there while the publish was under way.' };
    // Some file systems have no hard links.
    if (errno !== 'EPERM' && errno !== 'ENOTSUP' && errno !== 'EOPNOTSUPP' && errno !== 'EMLINK') throw error;
    renameSync(directory.at(temporary), directory.at(name));
    return undefined;
  }
  if (open.fd === undefined) giveLink(directory.at(name), owner);
  unlinkSync(directory.at(temporary));
  return undefined;
}
