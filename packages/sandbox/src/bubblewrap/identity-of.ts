import { statSync } from 'node:fs';

/**
 * Device, inode and birth time of the file at a path. The kernel may reuse an inode number, but with another birth time. Null when the file
 * is gone.
 */
export function identityOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found ? [found.dev, found.ino, found.birthtimeNs].join() : null;
}
