import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { z } from 'zod';
import { type BytePath, fromPlain } from '../../files/path-name.ts';
import { broken, type Unpacker } from './unpack.ts';

/** Reads a tar, entry by entry. */
export async function readTar(path: string, unpacker: Unpacker, options: { gzip: boolean }): Promise<void> {
  // Names as bytes; the type declarations do not know this option.
  const settings = { filenameEncoding: 'latin1', highWaterMark: 256 * 1024 };
  const entries = extract(settings);
  const reading = options.gzip
    ? pipeline(createReadStream(path), createGunzip(), entries)
    : pipeline(createReadStream(path), entries);
  reading.catch(() => {});
  for await (const entry of entries) {
    await unpackEntry(unpacker, entry.header, bytesIn(entry));
    entry.resume();
  }
  await reading;
}

async function unpackEntry(unpacker: Unpacker, header: Header, content: AsyncIterable<Uint8Array>): Promise<void> {
  const { name, linkname } = bytesOf(header);
  const mode = header.mode ?? 0o644;
  switch (header.type) {
    case 'file':
    case 'contiguous-file':
    case null:
    case undefined:
      return unpacker.file(name, mode, content);
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
      throw broken(`it has an entry of the kind ${header.type}`);
  }
}

async function* bytesIn(entry: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const piece of entry) if (piece instanceof Uint8Array) yield piece;
}

const paxSchema = z.object({ path: z.string().optional(), linkpath: z.string().optional() }).nullish();

/** Names out of an extended header are UTF-8 by definition, and come as text; all others come as bytes. */
function bytesOf({ name, linkname, pax }: Header): { name: BytePath; linkname: BytePath } {
  const extended = paxSchema.parse(pax);
  return {
    name: extended?.path === undefined ? name : fromPlain(name),
    linkname: extended?.linkpath === undefined ? (linkname ?? '') : fromPlain(linkname ?? ''),
  };
}
