import { closeSync, constants, mkdirSync, openSync, symlinkSync } from 'node:fs';
import type { Deps } from '../../deps.ts';
import { errnoOf } from '../../errors.ts';
import { giveFile, giveLink } from '../../files/give-away.ts';
import { type Directory, openChild, openTop, statIn } from '../../files/open-directory.ts';
import { toText } from '../../files/path-name.ts';
import { removeHollow } from '../../files/remove-hollow.ts';
import { syncFolder, syncOpen, writeAll } from '../../files/write-durably.ts';
import type { BlobReceiver } from '../../host-git/stream-blobs.ts';
import { modes } from '../../tree/tree.ts';
import { type AttributeCopier, createAttributeCopier } from './copy-attributes.ts';
import { judge, type Objection, type Step, splitPath, type Way } from './journal-step.ts';
import { bringTo, findAside, privateName, putAside, removeName } from './private-name.ts';
import type { JournalEntry } from './publish-journal.ts';

export type DueStep = Step & { to: NonNullable<JournalEntry['new']> };

/** Receives the contents of due steps and puts each in its place in the source. */
export interface Placer extends BlobReceiver {
  readonly objections: Objection[];
  /** Replaced files whose ACLs and extended attributes could not be kept. */
  readonly stripped: string[];
  close(): void;
}

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
  input: { way: Way; due: readonly DueStep[]; stopAtFirst: boolean },
): Placer {
  const objections: Objection[] = [];
  const stripped: string[] = [];
  const attributes = createAttributeCopier();
  let open: Open | undefined;
  const close = () => {
    if (open?.fd !== undefined) closeSync(open.fd);
    open?.directory[Symbol.dispose]();
    open = undefined;
  };
  return {
    objections,
    stripped,
    close: () => {
      close();
      attributes.close();
    },
    begin: (index) => {
      const step = input.due[index];
      if (step === undefined || (input.stopAtFirst && objections.length > 0)) return;
      const opened = openStep(deps, input.way, step);
      if ('detail' in opened) objections.push(opened);
      else open = opened;
    },
    piece: (bytes) => {
      if (open?.fd !== undefined) writeAll(open.fd, bytes);
      else open?.pieces.push(Buffer.from(bytes));
    },
    end: async () => {
      if (open === undefined) return;
      if (!(await keepAttributes(attributes, input.way, open))) stripped.push(toText(open.step.path));
      const objection = await place(deps, input.way, open);
      if (objection !== undefined) objections.push(objection);
      close();
      deps.onPoint('publish.placed');
    },
  };
}

function openStep(deps: Pick<Deps, 'isRoot'>, way: Way, step: DueStep): Open | Objection {
  const { aside } = way;
  const { names, name } = splitPath(step.path);
  const directory = makeParents(deps, way, names);
  if (directory === undefined) return { path: step.path, detail: 'A folder on the way is not a folder any more.' };
  const temporary = privateName(aside.runId, step.path, 'tmp');
  const isLink = step.to.mode === modes.symlink;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = isLink ? undefined : openSync(directory.at(temporary), flags, 0o600);
  return { step, directory, name, temporary, fd, pieces: [] };
}

/**
 * Opens the folder of a path. Missing folders are made like the folder they lie in: its owner, its permissions, unless the run closed them
 * to others.
 */
export function makeParents(
  deps: Pick<Deps, 'isRoot'>,
  { aside: { root }, folders }: Way,
  names: readonly string[],
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

/** Before the owner is given: that takes capabilities from a file, which were granted to the old content. */
async function keepAttributes(attributes: AttributeCopier, way: Way, open: Open): Promise<boolean> {
  const { step, fd } = open;
  if (fd === undefined || step.from === null || step.from.mode === modes.symlink) return true;
  // A file that the run closed to others is not to be open for a moment with its new content; it goes without the ACL.
  const isNarrowed = (step.from.permissions & ~step.to.permissions) !== 0;
  const which = isNarrowed ? 'xattr' : 'mode,xattr';
  if (statIn(open.directory, open.name)?.isFile() === true) {
    return attributes.copy(which, open.directory.at(open.name), fd);
  }
  // A process died after it had taken the file from its name.
  const old = way.halfWay.has(step.path) ? findAside(way.aside, step.path, way.role) : undefined;
  if (old === undefined) return true;
  using directory = old.directory;
  return await attributes.copy(which, directory.at(old.name), fd);
}

async function place(deps: Pick<Deps, 'onPoint' | 'isRoot'>, way: Way, open: Open): Promise<Objection | undefined> {
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
  const verdict = await judge(way, step);
  const objection =
    verdict === 'due' ? exchange(deps, way, { ...open, incoming: open }) : verdict === 'done' ? undefined : verdict;
  removeName(directory, temporary);
  await syncFolder(directory.self);
  return objection;
}

/**
 * Takes what is there from its name and gives the name to another file. The name is absent in between, for two system calls; what another
 * program puts there in that time stays. Synchronous.
 */
export function exchange(
  deps: Pick<Deps, 'onPoint'>,
  way: Way,
  at: { step: DueStep; directory: Directory; name: string; incoming: { directory: Directory; temporary: string } },
): Objection | undefined {
  const { step, directory, name, incoming } = at;
  const { path } = step;
  if (step.from !== null) {
    if (!way.halfWay.has(path) && !putAside(way.aside, { path, role: way.role, directory, name })) {
      return { path, detail: 'The file changed while the publish was under way.' };
    }
    deps.onPoint('publish.taken-away');
  } else if (statIn(directory, name)?.isDirectory() === true && !removeHollow(directory, name)) {
    return { path, detail: 'A folder with other files is there now.' };
  }
  if (!bringTo({ directory: incoming.directory, name: incoming.temporary }, { directory, name })) {
    return { path, detail: 'A file was made there while the publish was under way.' };
  }
  deps.onPoint('publish.brought');
  return undefined;
}
