import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { z } from 'zod';
import { type BytePath, fromPlain } from '../../files/index.ts';
import { archiveError, type Unpacker } from './unpack.ts';

export async function readTar(path: string, unpacker: Unpacker, options: { gzip: boolean }): Promise<void> {
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
