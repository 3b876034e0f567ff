import { createHash, randomBytes } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import { WorkspaceError } from '../errors.ts';
import { type Directory, namesIn, openChain, openTop, statIn } from '../files/open-directory.ts';
import { type BytePath, isDotGit, join } from '../files/path-name.ts';
import type { Yielder } from '../files/yielder.ts';
import { hashLargeBlob } from '../git-objects/large-blob.ts';

/*
 * A snapshot does not hold what it skips, but another content must make another snapshot: a decision is bound to its id. Size and
 * modification time do not tell, because a command can set both. So the content is hashed where it can be read; that also stays the same over
 * a take-over, which moves the file and so changes its ctime.
 */

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/** For content that cannot be looked at: it never counts as the same. */
const unlikeAny = (): string => `unlike:${randomBytes(16).toString('hex')}`;

/** Larger files are known by inode and ctime, which no command can set: the hash takes 2 s for each GiB. A mapped write may escape that. */
const mostHashed = 4n * 1024n ** 3n;

/** For a file above the limit. Undefined: it changed its kind while it was looked at. */
export async function stampOfLarge(at: { directory: Directory; name: string }, status: BigIntStats): Promise<string> {
  if (status.size > mostHashed) return stampOfStatus(status);
  let fd: number;
  try {
    fd = openSync(at.directory.at(at.name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  } catch {
    return stampOfStatus(status);
  }
  try {
    return `blob:${await hashLargeBlob(fd, Number(fstatSync(fd).size))}`;
  } finally {
    closeSync(fd);
  }
}

export const stampOfStatus = ({ ino, ctimeNs }: BigIntStats): string => `inode:${ino}:${ctimeNs}`;

/** Folders and files that are looked at below folders that are too deep: each way there is opened from the top, so that few descriptors are held. */
const mostLooks = 100_000;

/** For a folder that is nested too deep, with all that is in it. */
export async function stampOfFolder(scan: { top: BytePath; maybeYield: Yielder }, path: BytePath): Promise<string> {
  const hash = createHash('sha256');
  let looks = 0;
  const look = (cost: number) => {
    looks += cost;
    if (looks > mostLooks) throw new TooMuch();
  };
  const waiting = [path];
  try {
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const names = folder.split('/');
      look(names.length);
      using top = openTop(Buffer.from(scan.top, 'latin1'));
      using directory = openChain(top, names);
      if (directory === undefined) throw new WorkspaceError('EWORKSPACEBUSY', 'A folder vanished while it was read.');
      for (const name of namesIn(directory).sort()) {
        if (isDotGit(name)) continue;
        look(1);
        const below = join(folder, name);
        const status = statIn(directory, name);
        hash.update(`${below}\0${status?.mode}\0`);
        if (status?.isDirectory()) waiting.push(below);
        else if (status?.isSymbolicLink()) hash.update(readlinkSync(directory.at(name), { encoding: 'buffer' }));
        else if (status?.isFile()) {
          look(Number(status.size >> 16n));
          hash.update(await stampOfLarge({ directory, name }, status));
        }
        const pause = scan.maybeYield();
        if (pause !== undefined) await pause;
      }
    }
  } catch {
    return unlikeAny();
  }
  return `folder:${hash.digest('hex')}`;
}

class TooMuch extends Error {
  override name = 'TooMuch';
}
