import { closeSync, constants, mkdirSync, openSync, symlinkSync } from 'node:fs';
import { type Deps, errnoOf } from '../../deps.ts';
import * as files from '../../files/index.ts';
import type { BlobReceiver } from '../../host-git/stream-blobs.ts';
import { modes } from '../../store/objects/index.ts';
import { type AttributeCopier, createAttributeCopier } from './copy-attributes.ts';
import * as journalStep from './journal-step.ts';
import { findAside, linkOrMove, privateName, putAside, removeName } from './private-name.ts';

export type DueStep = journalStep.Step & { to: NonNullable<journalStep.JournalEntry['new']> };

/** Receives the contents of due steps and writes each file into the source. */
export interface Placer extends BlobReceiver {
  readonly conflicts: journalStep.StepConflict[];
  /** Replaced files whose ACLs and extended attributes could not be kept. */
  readonly stripped: string[];
  close(): void;
}

interface Open {
  readonly step: DueStep;
  readonly directory: files.Directory;
  readonly name: string;
  readonly temporary: string;
  /** Undefined for a symbolic link: its target is collected in `pieces`. */
  readonly fd: number | undefined;
  readonly pieces: Buffer[];
}

export function createPlacer(
  deps: Pick<Deps, 'onPoint' | 'isRoot'>,
  input: { pass: journalStep.Pass; due: readonly DueStep[]; stopAtFirst: boolean },
): Placer {
  const conflicts: journalStep.StepConflict[] = [];
  const stripped: string[] = [];
  const attributes = createAttributeCopier();
  let open: Open | undefined;
  const close = () => {
    if (open?.fd !== undefined) closeSync(open.fd);
    open?.directory[Symbol.dispose]();
    open = undefined;
  };
  return {
    conflicts,
    stripped,
    close: () => {
      close();
      attributes.close();
    },
    begin: (index) => {
      const step = input.due[index];
      if (step === undefined || (input.stopAtFirst && conflicts.length > 0)) return;
      const opened = openStep(deps, input.pass, step);
      if ('detail' in opened) conflicts.push(opened);
      else open = opened;
    },
    piece: (bytes) => {
      if (open?.fd !== undefined) files.writeAll(open.fd, bytes);
      else open?.pieces.push(Buffer.from(bytes));
    },
    end: async () => {
      if (open === undefined) return;
      if (!(await keepAttributes(attributes, input.pass, open))) stripped.push(files.toText(open.step.path));
      const conflict = await place(deps, input.pass, open);
      if (conflict !== undefined) conflicts.push(conflict);
      close();
      deps.onPoint('publish.placed');
    },
  };
}

function openStep(deps: Pick<Deps, 'isRoot'>, pass: journalStep.Pass, step: DueStep): Open | journalStep.StepConflict {
  const { aside } = pass;
  const { names, name } = journalStep.splitPath(step.path);
  const directory = makeParents(deps, pass, names);
  if (directory === undefined) return parentReplaced(step.path);
  const temporary = privateName(aside.runId, step.path, 'tmp');
  const isLink = step.to.mode === modes.symlink;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  const fd = isLink ? undefined : openSync(directory.at(temporary), flags, 0o600);
  return { step, directory, name, temporary, fd, pieces: [] };
}

export const parentReplaced = (path: string): journalStep.StepConflict => ({
  path,
  detail: 'A parent folder was replaced by something else.',
});

/** Opens the folder of a path. A missing folder gets the owner and permissions of its parent, unless private in the run. */
export function makeParents(
  deps: Pick<Deps, 'isRoot'>,
  { aside: { root }, folders }: journalStep.Pass,
  names: readonly string[],
): files.Directory | undefined {
  let current = files.openTop(root);
  for (const [depth, name] of names.entries()) {
    const closed = folders[names.slice(0, depth + 1).join('/')];
    using parent = current;
    const own = files.statIn(parent, '.');
    if (own !== undefined && files.statIn(parent, name) === undefined) {
      mkdirSync(parent.at(name), 0o700);
      using made = files.openChild(parent, name);
      const owner = { uid: Number(own.uid), gid: Number(own.gid) };
      files.setFileOwner(made.fd, deps.isRoot ? owner : undefined, closed ?? Number(own.mode & 0o7777n));
    }
    try {
      current = files.openChild(parent, name);
    } catch (error) {
      const errno = errnoOf(error);
      if (errno === 'ENOTDIR' || errno === 'ELOOP' || errno === 'ENOENT') return undefined;
      throw error;
    }
  }
  return current;
}

/** Runs before chown: chown drops the capabilities of a file, granted to the old content. */
async function keepAttributes(attributes: AttributeCopier, pass: journalStep.Pass, open: Open): Promise<boolean> {
  const { step, fd } = open;
  if (fd === undefined || step.from === null || step.from.mode === modes.symlink) return true;
  // The run made the file private: without the ACL, its new content is never readable to others, not even for a moment.
  const isNarrowed = (step.from.permissions & ~step.to.permissions) !== 0;
  const which = isNarrowed ? 'xattr' : 'mode,xattr';
  if (files.statIn(open.directory, open.name)?.isFile() === true) {
    return attributes.copy(which, open.directory.at(open.name), fd);
  }
  // An earlier process died after setting the file aside.
  const old = pass.halfDone.has(step.path) ? findAside(pass.aside, step.path, pass.role) : undefined;
  if (old === undefined) return true;
  using directory = old.directory;
  return await attributes.copy(which, directory.at(old.name), fd);
}

async function place(
  deps: Pick<Deps, 'onPoint' | 'isRoot'>,
  pass: journalStep.Pass,
  open: Open,
): Promise<journalStep.StepConflict | undefined> {
  const { directory, temporary, step, fd } = open;
  const owner = deps.isRoot ? { uid: step.to.uid, gid: step.to.gid } : undefined;
  if (fd === undefined) {
    symlinkSync(Buffer.concat(open.pieces), directory.at(temporary));
    files.setLinkOwner(directory.at(temporary), owner);
  } else {
    files.setFileOwner(fd, owner, step.to.permissions);
    await files.syncOpen(fd);
  }
  deps.onPoint('publish.staged');
  const verdict = await journalStep.checkStep(pass, step);
  const conflict =
    verdict === 'due' ? swapIn(deps, pass, { ...open, incoming: open }) : verdict === 'done' ? undefined : verdict;
  removeName(directory, temporary);
  await files.syncPath(directory.self);
  return conflict;
}

/**
 * Sets the current file aside and gives its name to the incoming file. The name is absent for two system calls; a file made by another
 * program in between stays. Synchronous.
 */
export function swapIn(
  deps: Pick<Deps, 'onPoint'>,
  pass: journalStep.Pass,
  at: {
    step: DueStep;
    directory: files.Directory;
    name: string;
    incoming: { directory: files.Directory; temporary: string };
  },
): journalStep.StepConflict | undefined {
  const { step, directory, name, incoming } = at;
  const { path } = step;
  if (step.from !== null) {
    if (!pass.halfDone.has(path) && !putAside(pass.aside, { path, role: pass.role, directory, name })) {
      return journalStep.changedMeanwhile(path);
    }
    deps.onPoint('publish.taken-away');
  } else if (files.statIn(directory, name)?.isDirectory() === true && !files.removeEmptyFolders(directory, name)) {
    return { path, detail: 'A folder with other files is there now.' };
  }
  if (!linkOrMove({ directory: incoming.directory, name: incoming.temporary }, { directory, name })) {
    return { path, detail: 'Another program created a file here during the publish.' };
  }
  deps.onPoint('publish.brought');
  return undefined;
}
