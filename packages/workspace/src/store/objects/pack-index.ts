import { readFileSync } from 'node:fs';
import { WorkspaceError } from '../../errors.ts';

const magic = 0xff744f63;
const headerBytes = 8 + 256 * 4;

/** Ids of the objects in a pack, from its index (version 2, git's only written version since 2008). */
export function objectsIn(indexPath: string): string[] {
  const bytes = readFileSync(indexPath);
  const count = bytes.length < headerBytes ? -1 : bytes.readUInt32BE(headerBytes - 4);
  if (count < 0 || bytes.readUInt32BE(0) !== magic || bytes.readUInt32BE(4) !== 2) {
    throw new WorkspaceError('EWORKSPACECORRUPT', `${indexPath} is not a pack index.`);
  }
  if (bytes.length < headerBytes + count * 20) {
    throw new WorkspaceError('EWORKSPACECORRUPT', `${indexPath} ends too early.`);
  }
  return Array.from({ length: count }, (_, index) => {
    return bytes.toString('hex', headerBytes + index * 20, headerBytes + (index + 1) * 20);
  });
}
