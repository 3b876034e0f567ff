import { createHash } from 'node:crypto';
import { linkSync, readlinkSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { errnoOf } from '../../errors.ts';
import { giveLink } from '../../files/give-away.ts';
import { type Directory, openChain, openTop, statIn } from '../../files/open-directory.ts';

/** `tmp`: written and not yet in place. `old`, `new`: taken from its name on the way forward, and on the way back. */
export type Role = 'tmp' | 'old' | 'new';

/** Where a publish may put files aside. */
export interface Aside {
  root: string;
  runId: string;
  /** Folders that the publish makes or removes: a file that is put aside must not keep one of them from going. */
  passing: ReadonlySet<string>;
}

/** A file under a private name, in an open folder. Close the folder after use. */
export interface Put {
  directory: Directory;
  /** Names of the folders that lead to it. */
  folders: readonly string[];
  name: string;
}

/** The same in every attempt, so that a later one finds what an earlier one left. */
export function privateName(runId: string, path: string, role: Role): string {
  return `.holdpoint-${createHash('sha256').update(`${runId}\0${path}`).digest('hex').slice(0, 20)}.${role}`;
}

/** What was put aside of a path; undefined when there is nothing. */
export function findAside(aside: Aside, path: string, role: Role): Put | undefined {
  const name = privateName(aside.runId, path, role);
  using top = openTop(aside.root);
  for (const folders of placesOf(aside, path)) {
    const directory = openChain(top, folders);
    if (directory === undefined) continue;
    if (statIn(directory, name) !== undefined) return { directory, folders, name };
    directory[Symbol.dispose]();
  }
  return undefined;
}

/** Takes a file from its name. Synchronous. Answers with false when there is none, or when another one was put aside already. */
export function putAside(aside: Aside, at: { path: string; role: Role; directory: Directory; name: string }): boolean {
  try {
    return rename(aside, at);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function rename(aside: Aside, at: { path: string; role: Role; directory: Directory; name: string }): boolean {
  const { path, role, directory, name } = at;
  const own = privateName(aside.runId, path, role);
  const [folders] = placesOf(aside, path);
  if (folders !== undefined && folders.length < path.split('/').length - 1) {
    using top = openTop(aside.root);
    using stays = openChain(top, folders);
    try {
      if (stays !== undefined) return renameToFree({ directory, name }, { directory: stays, name: own });
    } catch (error) {
      // The folder is a mount of its own; then it cannot be removed either.
      if (errnoOf(error) !== 'EXDEV') throw error;
    }
  }
  return renameToFree({ directory, name }, { directory, name: own });
}

/** The target is a private name: only this publish uses it. */
function renameToFree(from: Child, to: Child): boolean {
  if (statIn(to.directory, to.name) !== undefined) return false;
  renameSync(from.directory.at(from.name), to.directory.at(to.name));
  return true;
}

/** The nearest folder that stays, and the file's own one. */
function placesOf({ passing }: Aside, path: string): string[][] {
  const own = path.split('/').slice(0, -1);
  let stays = own;
  while (stays.length > 0 && passing.has(stays.join('/'))) stays = stays.slice(0, -1);
  return stays === own ? [own] : [stays, own];
}

/** A child of an open folder. */
export type Child = Pick<Put, 'directory' | 'name'>;

/**
 * Gives a file a second name, or moves it where there are no hard links. Synchronous. Answers with false when the name is in use: it never
 * replaces anything. Only without hard links a file that is made between the look and the rename is lost.
 */
export function bringTo(from: Child, to: Child): boolean {
  const [source, target] = [from.directory.at(from.name), to.directory.at(to.name)];
  const status = statIn(from.directory, from.name);
  try {
    if (status?.isSymbolicLink() === true) {
      // On some systems linking a symbolic link links what it points to.
      symlinkSync(readlinkSync(source, { encoding: 'buffer' }), target);
      giveLink(target, process.getuid?.() === 0 ? { uid: Number(status.uid), gid: Number(status.gid) } : undefined);
    } else {
      linkSync(source, target);
    }
    return true;
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (errno === 'EEXIST') return false;
    if (!withoutLinks.has(errno)) throw error;
  }
  if (statIn(to.directory, to.name) !== undefined) return false;
  renameSync(source, target);
  return true;
}

/** Some file systems have no hard links; Linux refuses links to files of other users. */
const withoutLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

export function removeName(directory: Directory, name: string): void {
  try {
    unlinkSync(directory.at(name));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
