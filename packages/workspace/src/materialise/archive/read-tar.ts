import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { z } from 'zod';
import { type BytePath, fromPlain } from '../../files/path-name.ts';
import { archiveError, type Unpacker } from './unpack.ts';

/** Reads a tar, entry by entry. */
export async function readTar(path: string, unpacker: Unpacker, options: { gzip: boolean }): Promise<void> {
  // Names as bytes, and tars from before there was a mark; the type declarations do not know all of these options.
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

/** A tar ends with blocks of zeros. One that was cut between two entries ends without, and looks whole in every other way. */
async function* withEnd(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let end: Buffer = Buffer.alloc(0);
  for await (const piece of source) {
    end = piece.length >= blockBytes ? piece.subarray(-blockBytes) : Buffer.concat([end, piece]).subarray(-blockBytes);
    yield piece;
  }
  if (end.some((byte) => byte !== 0)) throw archiveError('it is cut off: the mark of its end is missing');
}

async function unpackEntry(unpacker: Unpacker, header: Header, content: AsyncIterable<Uint8Array>): Promise<void> {
  const { name, linkname } = bytesOf(header);
  const mode = header.mode ?? 0o644;
  switch (header.type) {
    case 'file':
    case 'contiguous-file':
      // The oldest tars have no other mark of a folder.
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
      // Among them the sparse files of GNU tar, of which only what lies between the holes would come in.
      throw archiveError(
        'it has entries of a kind that is not read: sparse files, volume labels or parts of a larger archive',
      );
  }
}

async function* bytesIn(entry: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const piece of entry) if (piece instanceof Uint8Array) yield piece;
}

const extendedSchema = z.record(z.string(), z.string()).nullish();

/** Names out of an extended header are UTF-8 by definition, and come as text; all others come as bytes. */
function bytesOf({ name, linkname, pax }: Header): { name: BytePath; linkname: BytePath } {
  const extended = extendedSchema.parse(pax) ?? {};
  if (Object.keys(extended).some((key) => key.startsWith('GNU.sparse.'))) throw archiveError('it has sparse files');
  return {
    name: extended.path ? fromExtended(name) : name,
    linkname: extended.linkpath ? fromExtended(linkname ?? '') : (linkname ?? ''),
  };
}

/** Some tools put other bytes there. They are lost by now, and two names could have become one. */
function fromExtended(text: string): BytePath {
  if (text.includes('\ufffd'))
    throw archiveError('it has a name that is not UTF-8 where only UTF-8 may be; make it with --format=gnu');
  return fromPlain(text);
}
