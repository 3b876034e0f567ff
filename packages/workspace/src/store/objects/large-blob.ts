import { createHash } from 'node:crypto';
import { closeSync, openSync, read, readSync } from 'node:fs';
import { promisify } from 'node:util';
import { crc32, createDeflate } from 'node:zlib';
import { WorkspaceError } from '../../errors.ts';
import { syncOpen, writeAll, writeSynced } from '../../files/index.ts';
import { startObject } from './object-id.ts';
import * as packs from './pack.ts';
import type { PackStream } from './pack-stream.ts';

const readAsync = promisify(read);

/**
 * Writes a large file as a pack of a single blob, in pieces of 1 MiB compressed on the thread pool: the file's size costs neither memory
 * nor event-loop time. On disk at the return. When the content is stored already, the pack is removed again.
 */
export async function writeLargeBlob(
  gitDir: string,
  input: { fd: number; size: number; has: (oid: string) => boolean; assertSpace: () => void },
): Promise<string> {
  const paths = packs.newPackPaths(gitDir);
  const target = openSync(paths.tmpPack, 'wx', 0o444);
  try {
    const { oid, crc, trailer } = await deflateInto(target, input);
    if (input.has(oid)) {
      packs.removeTemporaryPack(paths);
      return oid;
    }
    await syncOpen(target);
    await writeSynced(paths.tmpIndex, packs.packIndex([{ oid, crc, at: packs.packHeader(1).length }], trailer), 0o444);
    await packs.commitPack(paths);
    return oid;
  } catch (error) {
    packs.removeTemporaryPack(paths);
    throw error;
  } finally {
    closeSync(target);
  }
}

/** Writes a large file to a pack with other objects. A pack takes a single call at a time. */
export async function appendLargeBlob(
  pack: PackStream,
  input: { fd: number; size: number; has: (oid: string) => boolean; assertSpace: () => void },
): Promise<string> {
  const { write, end } = pack.start();
  let object: { oid: string; crc: number } | undefined;
  try {
    const deflated = await deflateEntry(input.fd, input.size, (bytes) => {
      input.assertSpace();
      write(bytes);
    });
    if (!input.has(deflated.oid)) object = deflated;
    return deflated.oid;
  } finally {
    end(object);
  }
}

/** Writes a large file with a known id and unchanging content to a pack with other objects. A pack takes a single call at a time. */
export async function appendKnownBlob(
  pack: PackStream,
  input: { fd: number; size: number; oid: string; assertSpace: () => void },
): Promise<void> {
  const { write, end } = pack.start();
  let object: { oid: string; crc: number } | undefined;
  try {
    const writeChecked = (bytes: Buffer) => {
      input.assertSpace();
      write(bytes);
    };
    object = await deflateEntry(input.fd, input.size, writeChecked, input.oid);
  } finally {
    end(object);
  }
}

/** Computes the id of a large file without storing the content. */
export async function hashLargeBlob(source: number, size: number): Promise<string> {
  const hash = startObject('blob', size);
  for await (const piece of pieces(source, size)) hash.update(piece);
  return hash.digest('hex');
}

async function deflateInto(
  target: number,
  { fd, size, assertSpace }: { fd: number; size: number; assertSpace: () => void },
) {
  const whole = createHash('sha1');
  const write = (bytes: Buffer) => {
    assertSpace();
    whole.update(bytes);
    writeAll(target, bytes);
  };
  write(packs.packHeader(1));
  const { oid, crc } = await deflateEntry(fd, size, write);
  const trailer = whole.digest();
  writeAll(target, trailer);
  return { oid, crc, trailer };
}

/** Writes the pack entry of a blob: header and content. @param known its id, to save the computation */
async function deflateEntry(source: number, size: number, write: (bytes: Buffer) => void, known?: string) {
  const blob = known === undefined ? startObject('blob', size) : undefined;
  let crc = 0;
  const writeEntry = (bytes: Buffer) => {
    crc = crc32(bytes, crc);
    write(bytes);
  };
  const sampleAt = (position: number, length: number) => {
    const sample = Buffer.allocUnsafe(length);
    return sample.subarray(0, readSync(source, sample, 0, length, position));
  };
  const deflate = createDeflate({ ...packs.compressionFor(size, sampleAt), chunkSize: 256 * 1024 });
  const feed = async () => {
    for await (const piece of pieces(source, size)) {
      blob?.update(piece);
      await new Promise<void>((resolve, reject) => {
        deflate.write(piece, (error) => (error ? reject(error) : resolve()));
      });
    }
    deflate.end();
  };
  const drain = async () => {
    for await (const piece of deflate) writeEntry(piece as Buffer);
  };
  writeEntry(packs.entryHeader('blob', size));
  await Promise.all([feed().catch((error) => deflate.destroy(error as Error)), drain()]);
  return { oid: known ?? blob?.digest('hex') ?? '', crc };
}

/** Reuses a single buffer: a piece is valid until the request for the next piece. */
async function* pieces(fd: number, size: number): AsyncGenerator<Buffer> {
  let position = 0;
  const buffer = spare ?? Buffer.allocUnsafeSlow(pieceBytes);
  spare = undefined;
  try {
    while (position < size) {
      const { bytesRead } = await readAsync(fd, buffer, 0, Math.min(buffer.length, size - position), position);
      if (bytesRead === 0) throw new WorkspaceError('EWORKSPACEBUSY', 'A file became shorter while it was read.');
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    spare = buffer;
  }
}

const pieceBytes = 1024 * 1024;
/** For the next file: a new buffer for each would stay until the next garbage collection. */
let spare: Buffer | undefined;
