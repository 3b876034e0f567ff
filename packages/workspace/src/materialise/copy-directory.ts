import { fstatSync, mkdirSync, readlinkSync, rmdirSync, symlinkSync } from 'node:fs';
import { errnoOf } from '../errors.ts';
import {
  type Directory,
  type EntryKind,
  entriesIn,
  isDotGit,
  join,
  namesIn,
  openChild,
  openTop,
  setFolderOwner,
  setLinkOwner,
  statIn,
} from '../files/index.ts';
import { specialKind } from '../tree/index.ts';
import { type CopyState, copyFile, openSource } from './copy-file.ts';
import { countEntry, fileDone, type ImportContext } from './import-context.ts';

export interface Copy extends ImportContext {
  /** Device and inode of a directory to leave out: the data directory, in case the source contains it. */
  readonly without: { dev: bigint; ino: bigint };
  readonly state: CopyState;
}

/**
 * Copies the content of a directory into an empty one: files with their times, links, and modes. `.git` entries are left out. Sockets, FIFOs,
 * devices and unreadable files are left out and recorded. Links are never followed.
 */
export async function copyDirectory(copy: Copy, input: { from: string; to: string }): Promise<void> {
  using from = openTop(input.from);
  using to = openTop(input.to);
  await copyChildren(copy, { from, to, path: '' });
}

interface Pair {
  from: Directory;
  to: Directory;
  path: string;
}

async function copyChildren(copy: Copy, pair: Pair): Promise<void> {
  for (const { name, kind } of entriesIn(pair.from)) {
    if (!isDotGit(name)) await copyEntry(copy, pair, name, kind);
    const pause = copy.maybeYield() ?? copy.content.backpressure();
    if (pause !== undefined) await pause;
  }
}

async function copyEntry(copy: Copy, pair: Pair, name: string, kind: EntryKind): Promise<void> {
  const path = join(pair.path, name);
  if (kind === 'folder' ? copy.selection.excludes(path) : !copy.selection.has(path)) return;
  countEntry(copy);
  switch (kind) {
    case 'folder':
      return copyFolder(copy, pair, name);
    case 'file':
      return copyRegular(copy, pair, name);
    case 'link':
      return copyLink(copy, pair, name);
    case 'other':
      return noteSpecial(copy, pair, name);
    default:
      throw kind satisfies never;
  }
}

/**
 * Reads from the source. An unreadable path is recorded. A path that vanished or changed its kind between two system calls is skipped: the copy
 * shows no single moment anyway. Any other error is thrown.
 */
function fromSource<T>(copy: Copy, path: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (errno === 'EACCES' || errno === 'EPERM') copy.skipped.set(path, 'unreadable');
    else if (!['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO'].includes(errno)) throw error;
    return undefined;
  }
}

async function copyFolder(copy: Copy, pair: Pair, name: string): Promise<void> {
  const path = join(pair.path, name);
  using from = fromSource(copy, path, () => openChild(pair.from, name));
  if (from === undefined) return;
  const status = fstatSync(from.fd, { bigint: true });
  if (status.dev === copy.without.dev && status.ino === copy.without.ino) return;
  mkdirSync(pair.to.at(name), 0o700);
  using to = openChild(pair.to, name);
  await copyChildren(copy, { from, to, path });
  // The folder was made in case the selection includes something in it.
  if (!copy.selection.has(path) && namesIn(to).length === 0) rmdirSync(pair.to.at(name));
  else setFolderOwner(to.fd, copy.owner, Number(status.mode & 0o777n) | 0o700);
}

function copyLink(copy: Copy, pair: Pair, name: string): void {
  const read = () => readlinkSync(pair.from.at(name), { encoding: 'buffer' });
  const target = fromSource(copy, join(pair.path, name), read);
  if (target === undefined) return;
  symlinkSync(target, pair.to.at(name));
  setLinkOwner(pair.to.at(name), copy.owner);
  fileDone(copy);
}

function copyRegular(copy: Copy, pair: Pair, name: string): void {
  const path = join(pair.path, name);
  using source = fromSource(copy, path, () => openSource(pair.from, name));
  if (source === undefined) return;
  copyFile(copy, { source, directory: pair.to, name, path });
  fileDone(copy);
}

function noteSpecial(copy: Copy, pair: Pair, name: string): void {
  const path = join(pair.path, name);
  const status = fromSource(copy, path, () => statIn(pair.from, name));
  const special = status && specialKind(status);
  if (special !== undefined) copy.skipped.set(path, special);
}
