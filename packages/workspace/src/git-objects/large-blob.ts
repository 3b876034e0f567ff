import { createHash } from 'node:crypto';
import { closeSync, openSync, read } from 'node:fs';
import { promisify } from 'node:util';
import { crc32, createDeflate } from 'node:zlib';
import { WorkspaceError } from '../errors.ts';
import { syncOpen, writeAll, writeSynced } from '../files/write-durably.ts';
import { startObject } from './object-id.ts';
import { compression, entryHeader, packHeader, packIndex, placeForPack, putInPlace, removeTemporary } from './pack.ts';

const readAsync = promisify(read);

/**
 * Writes a large file as a pack of one blob, in pieces of 1 MiB, compressed on the thread pool, so that neither memory nor the event
 * loop pays for its size. On disk when it returns. Content that is there already is written and thrown away again.
 */
export async function writeLargeBlob(
  gitDir: string,
  input: { fd: number; size: number; has: (oid: string) => boolean },
): Promise<string> {
  const place = placeForPack(gitDir);
  const target = openSync(place.tmpPack, 'wx', 0o444);
  try {
    const { oid, crc, trailer } = await deflateInto(target, input.fd, input.size);
    if (input.has(oid)) {
      removeTemporary(place);
      return oid;
    }
    await syncOpen(target);
    await writeSynced(place.tmpIndex, packIndex([{ oid, crc, at: packHeader(1).length }], trailer), 0o444);
    await putInPlace(place);
    return oid;
  } catch (error) {
    removeTemporary(place);
    throw error;
  } finally {
    closeSync(target);
  }
}

/** The id of a large file without storing it. */
export async function hashLargeBlob(source: number, size: number): Promise<string> {
  const hash = startObject('blob', size);
  for await (const piece of pieces(source, size)) hash.update(piece);
  return hash.digest('hex');
}

async function deflateInto(target: number, source: number, size: number) {
  const blob = startObject('blob', size);
  const whole = createHash('sha1');
  let crc = 0;
  const write = (bytes: Buffer) => {
    whole.update(bytes);
    writeAll(target, bytes);
  };
  const writeEntry = (bytes: Buffer) => {
    crc = crc32(bytes, crc);
    write(bytes);
  };
  const deflate = createDeflate(compression);
  const feed = async () => {
    for await (const piece of pieces(source, size)) {
      blob.update(piece);
      await new Promise<void>((resolve, reject) => {
        deflate.write(piece, (error) => (error ? reject(error) : resolve()));
      });
    }
    deflate.end();
  };
  const drain = async () => {
    for await (const piece of deflate) writeEntry(piece as Buffer);
  };
  write(packHeader(1));
  writeEntry(entryHeader('blob', size));
  await Promise.all([feed().catch((error) => deflate.destroy(error as Error)), drain()]);
  const trailer = whole.digest();
  writeAll(target, trailer);
  return { oid: blob.digest('hex'), crc, trailer };
}

async function* pieces(fd: number, size: number): AsyncGenerator<Buffer> {
  let position = 0;
  while (position < size) {
    const buffer = Buffer.allocUnsafe(Math.min(1024 * 1024, size - position));
    const { bytesRead } = await readAsync(fd, buffer, 0, buffer.length, position);
    if (bytesRead === 0) throw new WorkspaceError('EWORKSPACEBUSY', 'A file became shorter while it was read.');
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
