import { fstatSync, mkdirSync, readlinkSync, rmdirSync, symlinkSync } from 'node:fs';
import { errnoOf } from '../errors.ts';
import { giveFolder, giveLink } from '../files/give-away.ts';
import {
  type Directory,
  type EntryKind,
  entriesIn,
  namesIn,
  openChild,
  openTop,
  statIn,
} from '../files/open-directory.ts';
import { isDotGit, join } from '../files/path-name.ts';
import { specialKind } from '../tree/scan.ts';
import { copyFile, type Means, openSource } from './copy-file.ts';
import { countEntry, fileIsIn, type Intake } from './intake.ts';

export interface Copy extends Intake {
  /** Device and inode of a directory that is left out: the data directory, should the source contain it. */
  readonly without: { dev: bigint; ino: bigint };
  readonly means: Means;
}

/**
 * Copies the content of a directory into an empty one: files, links as they are, modes,
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
  for (const { name, kind } of entriesIn(pair.from)) {
    if (!isDotGit(name)) await copyEntry(copy, pair, name, kind);
    const pause = copy.pace() ?? copy.content.relieve();
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

async function copyFolder(copy: Copy, pair: Pair, name: string): Promise<void> {
  const path = join(pair.path, name);
  using from = fromSource(copy, path, () => openChild(pair.from, name));
  if (from === undefined) return;
  const status = fstatSync(from.fd, { bigint: true });
  if (status.dev === copy.without.dev && status.ino === copy.without.ino) return;
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
  fileIsIn(copy);
}

function copyRegular(copy: Copy, pair: Pair, name: string): void {
  const path = join(pair.path, name);
  using source = fromSource(copy, path, () => openSource(pair.from, name));
  if (source === undefined) return;
  copyFile(copy, { source, directory: pair.to, name, path });
  fileIsIn(copy);
}

function noteSpecial(copy: Copy, pair: Pair, name: string): void {
  const path = join(pair.path, name);
  const status = fromSource(copy, path, () => statIn(pair.from, name));
  const special = status && specialKind(status);
  if (special !== undefined) copy.skipped.set(path, special);
}
