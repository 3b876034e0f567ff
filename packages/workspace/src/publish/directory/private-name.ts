import { createHash } from 'node:crypto';
import { linkSync, readlinkSync, renameSync, symlinkSync, unlinkSync } from 'node:fs';
import { errnoOf } from '../../errors.ts';
import { type Directory, openChain, openTop, setLinkOwner, statIn } from '../../files/index.ts';

/** `tmp`: written, not yet in place. `old`: set aside by a forward pass. `new`: set aside by a rollback. */
export type AsideRole = 'tmp' | 'old' | 'new';

/** Where a publish may set files aside. */
export interface AsideContext {
  root: string;
  runId: string;
  /** Folders made or removed by the publish. A file set aside inside would block the removal. */
  transientFolders: ReadonlySet<string>;
}

/** A file under a private name, in an open folder. The caller closes the folder. */
export interface AsideFile {
  directory: Directory;
  /** Names of the folders above the file. */
  folders: readonly string[];
  name: string;
}

/** Deterministic: a later attempt finds the files of an earlier attempt. */
export function privateName(runId: string, path: string, role: AsideRole): string {
  return `.holdpoint-${createHash('sha256').update(`${runId}\0${path}`).digest('hex').slice(0, 20)}.${role}`;
}

/** The file set aside for a path, if any. */
export function findAside(aside: AsideContext, path: string, role: AsideRole): AsideFile | undefined {
  const name = privateName(aside.runId, path, role);
  using top = openTop(aside.root);
  for (const folders of candidateFolders(aside, path)) {
    const directory = openChain(top, folders);
    if (directory === undefined) continue;
    if (statIn(directory, name) !== undefined) return { directory, folders, name };
    directory[Symbol.dispose]();
  }
  return undefined;
}

/** Renames a file to its private name. Synchronous. False when the file is missing or another file was set aside already. */
export function putAside(
  aside: AsideContext,
  at: { path: string; role: AsideRole; directory: Directory; name: string },
): boolean {
  try {
    return rename(aside, at);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function rename(
  aside: AsideContext,
  at: { path: string; role: AsideRole; directory: Directory; name: string },
): boolean {
  const { path, role, directory, name } = at;
  const own = privateName(aside.runId, path, role);
  const [folders] = candidateFolders(aside, path);
  if (folders !== undefined && folders.length < path.split('/').length - 1) {
    using top = openTop(aside.root);
    using stays = openChain(top, folders);
    try {
      if (stays !== undefined) return renameToFree({ directory, name }, { directory: stays, name: own });
    } catch (error) {
      // The folder is a mount point, and so impossible to remove either.
      if (errnoOf(error) !== 'EXDEV') throw error;
    }
  }
  return renameToFree({ directory, name }, { directory, name: own });
}

/** The target is a private name: only this publish uses the name. */
function renameToFree(from: Child, to: Child): boolean {
  if (statIn(to.directory, to.name) !== undefined) return false;
  renameSync(from.directory.at(from.name), to.directory.at(to.name));
  return true;
}

/** The nearest folder outside of the publish's own folders, and the file's own folder. */
function candidateFolders({ transientFolders }: AsideContext, path: string): string[][] {
  const own = path.split('/').slice(0, -1);
  let stays = own;
  while (stays.length > 0 && transientFolders.has(stays.join('/'))) stays = stays.slice(0, -1);
  return stays === own ? [own] : [stays, own];
}

/** A child of an open folder. */
export type Child = Pick<AsideFile, 'directory' | 'name'>;

/**
 * Hard-links a file to a second name, or moves the file where the file system has no hard links. Synchronous. False for a name in use: no
 * file is ever replaced. Only without hard links, a file created between the check and the rename is lost.
 */
export function linkOrMove(from: Child, to: Child): boolean {
  const [source, target] = [from.directory.at(from.name), to.directory.at(to.name)];
  const status = statIn(from.directory, from.name);
  try {
    if (status?.isSymbolicLink() === true) {
      // On some systems, link(2) on a symbolic link follows the link.
      symlinkSync(readlinkSync(source, { encoding: 'buffer' }), target);
      setLinkOwner(target, process.getuid?.() === 0 ? { uid: Number(status.uid), gid: Number(status.gid) } : undefined);
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
