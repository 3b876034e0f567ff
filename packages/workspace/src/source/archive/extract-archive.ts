import { closeSync, constants, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { z } from 'zod';
import { WorkspaceError } from '../../errors.ts';
import { type BytePath, fromPlain } from '../../files/index.ts';
import type { ImportContext } from '../import-context.ts';
import { readZip } from './read-zip.ts';
import { archiveError, createUnpacker, type Unpacker } from './unpack.ts';

async function readTar(path: string, unpacker: Unpacker, options: { gzip: boolean }): Promise<void> {
  // Read names as bytes, and accept tars without a magic number. The type declarations lack some of these options.
  const settings = { filenameEncoding: 'latin1', allowUnknownFormat: true, highWaterMark: 256 * 1024 };
  const entries = extract(settings);
  const reading = options.gzip
    ? pipeline(createReadStream(path), createGunzip(), withEnd, entries)
    : pipeline(createReadStream(path), withEnd, entries);
  reading.catch(() => {});
  for await (const entry of entries) {
    await unpackEntry(unpacker, entry.header, bytesIn(entry));
    entry.resume();
  }
  await reading;
}

const blockBytes = 512;

/** A tar ends with blocks of zeros. Only their absence reveals a cut between two entries of the tar. */
async function* withEnd(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let end: Buffer = Buffer.alloc(0);
  for await (const piece of source) {
    end = piece.length >= blockBytes ? piece.subarray(-blockBytes) : Buffer.concat([end, piece]).subarray(-blockBytes);
    yield piece;
  }
  if (end.some((byte) => byte !== 0)) throw archiveError('it is truncated: the end marker is missing');
}

async function unpackEntry(unpacker: Unpacker, header: Header, content: AsyncIterable<Uint8Array>): Promise<void> {
  const { name, linkname } = bytesOf(header);
  const mode = header.mode ?? 0o644;
  switch (header.type) {
    case 'file':
    case 'contiguous-file':
      // In the oldest tars, only the trailing slash marks a folder.
      return name.endsWith('/') ? unpacker.folder(name, mode) : unpacker.file(name, mode, content);
    case 'directory':
      return unpacker.folder(name, mode);
    case 'symlink':
      return unpacker.link(name, linkname);
    case 'link':
      return unpacker.hardLink(name, linkname);
    case 'fifo':
      return unpacker.skip(name, 'fifo');
    case 'character-device':
    case 'block-device':
      return unpacker.skip(name, 'device');
    default:
      // Sparse files of GNU tar are included here: they would lose their holes.
      throw archiveError('it has unsupported entries (sparse files, volume labels or parts of a larger archive)');
  }
}

async function* bytesIn(entry: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const piece of entry) if (piece instanceof Uint8Array) yield piece;
}

const extendedSchema = z.record(z.string(), z.string()).nullish();

/** tar-stream returns names from an extended header as UTF-8 text and all other names as bytes. */
function bytesOf({ name, linkname, pax }: Header): { name: BytePath; linkname: BytePath } {
  const extended = extendedSchema.parse(pax) ?? {};
  if (Object.keys(extended).some((key) => key.startsWith('GNU.sparse.'))) throw archiveError('it has sparse files');
  return {
    name: extended.path ? fromExtended(name) : name,
    linkname: extended.linkpath ? fromExtended(linkname ?? '') : (linkname ?? ''),
  };
}

/** Some tools write other bytes there. The reader has already replaced them, so two names could be equal now. */
function fromExtended(text: string): BytePath {
  if (text.includes('\ufffd'))
    throw archiveError('an extended header has a name that is not UTF-8; create the archive with --format=gnu');
  return fromPlain(text);
}

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
