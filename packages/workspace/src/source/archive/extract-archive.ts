import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { WorkspaceError } from '../../errors.ts';
import type { ImportContext } from '../import-context.ts';
import { readTar } from './read-tar.ts';
import { readZip } from './read-zip.ts';
import { archiveError, createUnpacker } from './unpack.ts';

export type ArchiveFormat = 'tar' | 'tar.gz' | 'zip';

/** Detects the format by the first bytes, not by the name. Undefined when the file is not an archive. */
export function detectFormat(path: string): ArchiveFormat | undefined {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const start = Buffer.alloc(512);
    const length = readSync(fd, start, 0, start.length, 0);
    if (start.readUInt16BE(0) === 0x1f8b) return 'tar.gz';
    if (['PK\x03\x04', 'PK\x05\x06'].includes(start.toString('latin1', 0, 4))) return 'zip';
    const isTar = length === 512 && start.toString('latin1', 257, 262) === 'ustar';
    return isTar || isOldTar(start, length) ? 'tar' : undefined;
  } finally {
    closeSync(fd);
  }
}

/** A tar from before 1988 has no magic number, but a checksum. */
function isOldTar(header: Buffer, length: number): boolean {
  if (length < 512 || header[0] === 0) return false;
  const said = Number.parseInt(header.toString('latin1', 148, 156), 8);
  const sum = header.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte), 0);
  return said === sum;
}

/** Extracts an archive into an empty folder, or fails as a whole. @throws WorkspaceError EARCHIVE, ETOOMANYFILES, ESOURCETOOLARGE */
export async function extractArchive(
  context: ImportContext,
  input: { from: string; to: string; signal?: AbortSignal | undefined },
): Promise<void> {
  const unpacker = createUnpacker(context, { root: input.to, packedBytes: statSync(input.from).size });
  const format = detectFormat(input.from);
  try {
    if (format === 'zip') await readZip(input.from, unpacker);
    else if (format !== undefined) await readTar(input.from, unpacker, { gzip: format === 'tar.gz' });
    else throw archiveError('it is neither tar, tar.gz nor zip');
  } catch (error) {
    input.signal?.throwIfAborted();
    if (error instanceof WorkspaceError) throw error;
    // Errors of the readers mean a broken archive. Errors of the file system and programming errors do not.
    if (error instanceof Error && 'syscall' in error) throw error;
    if (error instanceof TypeError || error instanceof ReferenceError) throw error;
    throw archiveError(error instanceof Error ? error.message : String(error), error);
  }
  input.signal?.throwIfAborted();
}
