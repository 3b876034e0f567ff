import { randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, read, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createDeflate } from 'node:zlib';
import { WorkspaceError } from '../errors.ts';
import { syncFolder, syncOpen, writeAll } from '../files/write-durably.ts';
import { header, startObject } from './object-id.ts';
import { compression } from './pack.ts';

const readAsync = promisify(read);

/**
 * Writes a large file as a loose blob in pieces of 1 MiB, compressed on the thread pool, so that neither memory nor the event
 * loop pays for its size. On disk when it returns.
 */
export async function writeLooseBlob(gitDir: string, source: number, size: number): Promise<string> {
  const objects = join(gitDir, 'objects');
  const temporary = join(objects, `tmp_obj_${randomBytes(6).toString('hex')}`);
  const target = openSync(temporary, 'wx', 0o444);
  try {
    const oid = await deflateInto(target, source, size);
    await syncOpen(target);
    const folder = join(objects, oid.slice(0, 2));
    mkdirSync(folder, { recursive: true });
    renameSync(temporary, join(folder, oid.slice(2)));
    await syncFolder(folder);
    await syncFolder(objects);
    return oid;
  } catch (error) {
    rmSync(temporary, { force: true });
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

async function deflateInto(target: number, source: number, size: number): Promise<string> {
  const hash = startObject('blob', size);
  const deflate = createDeflate(compression);
  const feed = async () => {
    deflate.write(header('blob', size));
    for await (const piece of pieces(source, size)) {
      hash.update(piece);
      await new Promise<void>((resolve, reject) => {
        deflate.write(piece, (error) => (error ? reject(error) : resolve()));
      });
    }
    deflate.end();
  };
  const drain = async () => {
    for await (const piece of deflate) writeAll(target, piece as Buffer);
  };
  await Promise.all([feed().catch((error) => deflate.destroy(error as Error)), drain()]);
  return hash.digest('hex');
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
