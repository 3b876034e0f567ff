import { statSync } from 'node:fs';

/** Device, inode and birth time of what a path leads to: an inode number may be used again, a birth time is not. Null when it is gone. */
export function identityOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? [found.dev, found.ino, found.birthtimeNs].join() : null;
}
