import type { BigIntStats } from 'node:fs';
import {
  closeSync,
  constants,
  copyFileSync,
  fstatSync,
  futimesSync,
  mkdirSync,
  openSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
} from 'node:fs';
import { errnoOf } from '../errors.ts';
import { giveFile, giveFolder, giveLink } from '../files/give-away.ts';
import type { Directory } from '../files/open-directory.ts';
import { namesIn, openChild, openTop, statIn } from '../files/open-directory.ts';
import { isDotGit, join } from '../files/path-name.ts';
import { specialKind } from '../tree/scan.ts';
import { countBytes, countEntry, countFile, type Intake } from './intake.ts';

export interface Copy extends Intake {
  /** Device and inode of a directory that is left out: the data directory, should the source contain it. */
  readonly exclude: { dev: bigint; ino: bigint };
}

const { COPYFILE_FICLONE, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Copies the content of a directory into an empty one: files (sharing blocks where the file system can), links as they are, modes,
 * and times of files. `.git` entries are left out; sockets, FIFOs, devices and what cannot be read are left out and noted. Links are never followed.
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
  for (const name of namesIn(pair.from)) {
    if (isDotGit(name)) continue;
    const status = fromSource(copy, join(pair.path, name), () => statIn(pair.from, name));
    if (status !== undefined) await copyEntry(copy, pair, name, status);
    const pause = copy.pace();
    if (pause !== undefined) await pause;
  }
}

async function copyEntry(copy: Copy, pair: Pair, name: string, status: BigIntStats): Promise<void> {
  const path = join(pair.path, name);
  const isFolder = status.isDirectory();
  if (isFolder ? copy.selection.excludes(path) : !copy.selection.has(path)) return;
  countEntry(copy);
  const special = specialKind(status);
  if (special !== undefined) copy.skipped.set(path, special);
  else if (isFolder) await copyFolder(copy, pair, name, status);
  else if (status.isSymbolicLink()) copyLink(copy, pair, name);
  else copyFile(copy, pair, name);
}

/**
 * Looks at the source. What may not be read is noted; what vanished or became something else between two system calls is passed
 * over: the copy is of no single moment anyway. Everything else fails.
 */
function fromSource<T>(copy: Copy, path: string, look: () => T): T | undefined {
  try {
    return look();
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (errno === 'EACCES' || errno === 'EPERM') copy.skipped.set(path, 'unreadable');
    else if (!['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO'].includes(errno)) throw error;
    return undefined;
  }
}

async function copyFolder(copy: Copy, pair: Pair, name: string, status: BigIntStats): Promise<void> {
  if (status.dev === copy.exclude.dev && status.ino === copy.exclude.ino) return;
  const path = join(pair.path, name);
  using from = fromSource(copy, path, () => openChild(pair.from, name));
  if (from === undefined) return;
  mkdirSync(pair.to.at(name), 0o700);
  using to = openChild(pair.to, name);
  await copyChildren(copy, { from, to, path });
  // It was made for what might have been wanted in it.
  if (!copy.selection.has(path) && namesIn(to).length === 0) rmdirSync(pair.to.at(name));
  else giveFolder(to.fd, copy.owner, Number(status.mode & 0o777n) | 0o700);
}

function copyLink(copy: Copy, pair: Pair, name: string): void {
  const read = () => readlinkSync(pair.from.at(name), { encoding: 'buffer' });
  const target = fromSource(copy, join(pair.path, name), read);
  if (target === undefined) return;
  symlinkSync(target, pair.to.at(name));
  giveLink(pair.to.at(name), copy.owner);
  countFile(copy);
}

function copyFile(copy: Copy, pair: Pair, name: string): void {
  const open = () => openSync(pair.from.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  const source = fromSource(copy, join(pair.path, name), open);
  if (source === undefined) return;
  try {
    const status = fstatSync(source, { bigint: true });
    if (!status.isFile()) return;
    countBytes(copy, Number(status.size));
    const path = process.platform === 'linux' ? `/proc/self/fd/${source}` : pair.from.at(name);
    copyFileSync(path, pair.to.at(name), COPYFILE_FICLONE);
    const target = openSync(pair.to.at(name), O_RDONLY | O_NOFOLLOW);
    try {
      futimesSync(target, Number(status.atimeNs) / 1e9, Number(status.mtimeNs) / 1e9);
      giveFile(target, copy.owner, Number(status.mode & 0o777n) | 0o600);
    } finally {
      closeSync(target);
    }
    countFile(copy);
  } finally {
    closeSync(source);
  }
}
