import { fchmodSync, fchownSync, lchownSync } from 'node:fs';
import type { Owner } from '../port/workspaces.ts';

/** Sets the owner and mode of an open file. The owner first: a change of the owner clears bits of the mode. */
export function setFileOwner(fd: number, owner: Owner | undefined, mode: number): void {
  if (owner !== undefined) fchownSync(fd, owner.uid, owner.gid);
  fchmodSync(fd, mode);
}

export function setFolderOwner(fd: number, owner: Owner | undefined, mode = 0o755): void {
  setFileOwner(fd, owner, mode);
}

export function setLinkOwner(path: Buffer, owner: Owner | undefined): void {
  if (owner !== undefined) lchownSync(path, owner.uid, owner.gid);
}
