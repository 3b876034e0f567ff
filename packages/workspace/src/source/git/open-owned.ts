import { closeSync, constants, fstatSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Repository } from './repository.ts';

export interface OpenFile extends Disposable {
  fd: number;
  bytes: number;
}

/**
 * Opens a plain file of a repository for this process. Undefined for links, pipes and missing files, and wherever git, which runs as the
 * owner of the repository, might not be allowed to read the file: then git has to answer.
 */
export function openOwned(path: string, as: Repository['as']): OpenFile | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  const status = fstatSync(fd);
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  const isOpenToOwner =
    as === undefined || (isOf(as, status, 0o400) && folder !== undefined && isOf(as, folder, 0o100));
  if (isOpenToOwner && status.isFile()) return { fd, bytes: status.size, [Symbol.dispose]: () => closeSync(fd) };
  closeSync(fd);
  return undefined;
}

const isOf = ({ uid }: { uid: number }, status: { uid: number; mode: number }, bit: number): boolean =>
  status.uid === uid && (status.mode & bit) !== 0;
