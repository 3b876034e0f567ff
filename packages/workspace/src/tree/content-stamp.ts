import { createHash, randomBytes } from 'node:crypto';
import { type BigIntStats, closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs';
import { WorkspaceError } from '../errors.ts';
import * as files from '../files/index.ts';
import { hashLargeBlob } from '../store/objects/index.ts';

/*
 * A snapshot does not hold its skipped files, but a change of their content must still change the snapshot's id, because approvals name
 * this id. Size and modification time prove nothing: a command can set both. So readable content is hashed. The hash also survives a
 * take-over: a take-over moves the file and so changes its ctime.
 */

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;

/** For unreadable content: never equal to another stamp. */
const uniqueStamp = (): string => `unlike:${randomBytes(16).toString('hex')}`;

/**
 * Larger files are stamped by inode and ctime, out of reach of every command: hashing takes 2 s per GiB. A mapped write may go unnoticed.
 */
const maxHashedBytes = 4n * 1024n ** 3n;

/** The stamp of a file above the size limit. */
export async function stampOfLarge(
  at: { directory: files.Directory; name: string },
  status: BigIntStats,
): Promise<string> {
  if (status.size > maxHashedBytes) return stampOfStatus(status);
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

/** Limits the work below an overly nested folder: each path is opened from the top, to keep few descriptors open. */
const maxCost = 100_000;

/** The stamp of an overly nested folder, with everything inside. */
export async function stampOfFolder(
  scan: { top: files.BytePath; maybeYield: files.Yielder },
  path: files.BytePath,
): Promise<string> {
  const hash = createHash('sha256');
  let total = 0;
  const spend = (cost: number) => {
    total += cost;
    if (total > maxCost) throw new CostExceeded();
  };
  const waiting = [path];
  try {
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const names = folder.split('/');
      spend(names.length);
      using top = files.openTop(Buffer.from(scan.top, 'latin1'));
      using directory = files.openChain(top, names);
      if (directory === undefined) throw new WorkspaceError('EWORKSPACEBUSY', 'A folder vanished while it was read.');
      for (const name of files.namesIn(directory).sort()) {
        if (files.isDotGit(name)) continue;
        spend(1);
        const below = files.join(folder, name);
        const status = files.statIn(directory, name);
        hash.update(`${below}\0${status?.mode}\0`);
        if (status?.isDirectory()) waiting.push(below);
        else if (status?.isSymbolicLink()) hash.update(readlinkSync(directory.at(name), { encoding: 'buffer' }));
        else if (status?.isFile()) {
          spend(Number(status.size >> 16n));
          hash.update(await stampOfLarge({ directory, name }, status));
        }
        const pause = scan.maybeYield();
        if (pause !== undefined) await pause;
      }
    }
  } catch {
    return uniqueStamp();
  }
  return `folder:${hash.digest('hex')}`;
}

class CostExceeded extends Error {
  override name = 'CostExceeded';
}
