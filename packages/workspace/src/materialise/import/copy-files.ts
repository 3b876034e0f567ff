import * as fs from 'node:fs';
import { writeAll } from '@holdpoint/process/durable-files';
import { errnoOf } from '../../errors.ts';
import { isAscii } from '../../files/path-name.ts';
import { setFileOwner } from '../../files/set-owner.ts';
import type { Owner } from '../../port/workspaces.ts';
import { startObject } from '../../store/objects/object-id.ts';
import { largeBlobBytes } from '../../store/objects/object-writer.ts';
import type { ImportPack } from './import-pack.ts';

/** Regular files of some folders. */
export interface CopyTask {
  readonly kind: 'copy';
  readonly folders: readonly CopyFolder[];
  /** A file with more bytes is not copied. */
  readonly remaining: number;
}

export interface CopyFolder {
  /** Paths of two open folders, in `latin1`. Without `to` the files are only read. */
  readonly from: string;
  readonly to: string | undefined;
  /** In `latin1`. */
  readonly names: readonly string[];
}

export interface CopySettings {
  readonly owner: Owner | undefined;
  /** Larger files are copied and not stored. */
  readonly fileBytes: number;
  /** Whose status the caller needs. */
  readonly learns: 'source' | 'copy';
}

type CopyFate = 'done' | 'unstored' | 'unreadable' | 'gone' | 'too_large';

/** The fate of each file, by its place in the `names` of all folders. Numbers in a single array: objects are expensive to send. */
export interface CopyResult {
  readonly fates: CopyFate[];
  /** Empty unless the fate is `done`. */
  readonly oids: string[];
  readonly modes: number[];
  readonly sizes: number[];
  /** `statusFields` numbers for each file. */
  readonly status: BigInt64Array;
}

export const statusFields = 6;

export function statusNumbers({ size, mtimeNs, ctimeNs, ino, dev, mode }: fs.BigIntStats): bigint[] {
  return [size, mtimeNs, ctimeNs, BigInt.asIntN(64, ino), BigInt.asIntN(64, dev), mode];
}

const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = fs.constants;
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR } = fs.constants;
const pieceBytes = 1024 * 1024;

/** Copies files and stores their content in the same pass: each is read once. State lasts across folders. */
export class FileCopier {
  readonly #settings: CopySettings;
  readonly #pack: ImportPack;
  /** Whether blocks can be shared with the source; undefined until the first try. */
  #shares: boolean | undefined;
  #memory = Buffer.allocUnsafeSlow(256 * 1024);
  /** A piece of the single large file in the course of copying. */
  #piece: Buffer | undefined;

  constructor(settings: CopySettings, pack: ImportPack) {
    this.#settings = settings;
    this.#pack = pack;
  }

  /** @param onFile called after each file; may return a promise to wait for */
  async copy(task: CopyTask, onFile?: (size: number) => Promise<void> | undefined): Promise<CopyResult> {
    const files = task.folders.reduce((sum, { names }) => sum + names.length, 0);
    const status = new BigInt64Array(files * statusFields);
    const result: CopyResult = { fates: [], oids: [], modes: [], sizes: [], status };
    for (const folder of task.folders) {
      const at = { ...folder, remaining: task.remaining };
      for (const name of folder.names) {
        const large = this.#copyOne(at, name, result);
        if (large !== undefined) await large;
        const pause = onFile?.(result.sizes.at(-1) ?? 0);
        if (pause !== undefined) await pause;
      }
    }
    await this.#pack.settle();
    return result;
  }

  #copyOne(task: FolderTask, name: string, result: CopyResult): Promise<void> | undefined {
    let fd: number;
    try {
      fd = fs.openSync(childOf(task.from, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (error) {
      // Vanished or changed its kind between two system calls: the copy shows no single moment anyway.
      const errno = errnoOf(error) ?? '';
      if (errno === 'EACCES' || errno === 'EPERM') note(result, 'unreadable');
      else if (['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO'].includes(errno)) note(result, 'gone');
      else throw error;
      return undefined;
    }
    let later: Promise<void> | undefined;
    try {
      const status = fs.fstatSync(fd, { bigint: true });
      if (!status.isFile()) note(result, 'gone');
      else if (Number(status.size) > task.remaining) note(result, 'too_large', { size: Number(status.size) });
      else later = this.#copyOpen(task, { name, fd, status }, result)?.finally(() => fs.closeSync(fd));
    } finally {
      if (later === undefined) fs.closeSync(fd);
    }
    return later;
  }

  #copyOpen(task: FolderTask, source: Source, result: CopyResult): Promise<void> | undefined {
    const bytes = Number(source.status.size);
    const target = task.to === undefined ? undefined : this.#create(task.to, source);
    let later: Promise<void> | undefined;
    try {
      if (bytes >= largeBlobBytes) {
        later = this.#copyLarge(source, target, result).finally(() => target && fs.closeSync(target.fd));
        return later;
      }
      // A shared file is read from the copy, because the source may have changed.
      const content = this.#read(target?.isShared === true ? target.fd : source.fd, bytes);
      if (target?.isShared === false) writeAll(target.fd, content);
      const isStored = content.length <= this.#settings.fileBytes;
      this.#note(result, {
        source,
        target,
        size: content.length,
        oid: isStored ? this.#pack.add('blob', content) : '',
      });
    } finally {
      if (target !== undefined && later === undefined) fs.closeSync(target.fd);
    }
    return undefined;
  }

  async #copyLarge(source: Source, target: Target | undefined, result: CopyResult): Promise<void> {
    const from = target?.isShared === true ? target.fd : source.fd;
    const hash = startObject('blob', Number(source.status.size));
    this.#piece ??= Buffer.allocUnsafeSlow(pieceBytes);
    const piece = this.#piece;
    let size = 0;
    for (;;) {
      const read = fs.readSync(from, piece, 0, Math.min(pieceBytes, Number(source.status.size) - size), size);
      if (read === 0) break;
      const bytes = piece.subarray(0, read);
      hash.update(bytes);
      if (target?.isShared === false) {
        this.#pack.assertSpace();
        writeAll(target.fd, bytes);
      }
      size += read;
      // Other work of the process continues.
      await new Promise(setImmediate);
    }
    // A shortened file has another id; the caller checks the copied bytes.
    const isStored = size <= this.#settings.fileBytes && size === Number(source.status.size);
    const oid = isStored ? hash.digest('hex') : '';
    if (isStored && target !== undefined) await this.#pack.addLarge(oid, { fd: target.fd, size });
    this.#note(result, { source, target, size, oid });
  }

  #create(folder: string, { name, fd, status }: Source): Target {
    const path = childOf(folder, name);
    const isShared = this.#share(fd, status.size, path);
    const mode = modeOf(status);
    return isShared
      ? { fd: fs.openSync(path, O_RDWR | O_NOFOLLOW), isShared }
      : { fd: fs.openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, mode), isShared };
  }

  /** Makes a copy with blocks shared with the source. The first file with blocks decides whether the file system can. */
  #share(fd: number, size: bigint, target: string | Buffer): boolean {
    if (this.#shares === false || size === 0n || process.platform !== 'linux') return false;
    try {
      fs.copyFileSync(`/proc/self/fd/${fd}`, target, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
      this.#shares = true;
      return true;
    } catch (error) {
      if (!unsupported.includes(errnoOf(error) ?? '')) throw error;
      // After a success, a failure (another mount, another setting) does not disable sharing for the rest.
      this.#shares ??= false;
      return false;
    }
  }

  /** At most `size` bytes, in a buffer overwritten by the next call. */
  #read(fd: number, size: number): Buffer {
    if (this.#memory.length < size) this.#memory = Buffer.allocUnsafeSlow(largeBlobBytes);
    let length = 0;
    while (length < size) {
      const read = fs.readSync(fd, this.#memory, length, size - length, length);
      if (read === 0) break;
      length += read;
    }
    return this.#memory.subarray(0, length);
  }

  #note(result: CopyResult, done: Done): void {
    const { source, target, size, oid } = done;
    const { status } = source;
    if (target !== undefined) {
      fs.futimesSync(target.fd, Number(status.atimeNs) / 1e9, Number(status.mtimeNs) / 1e9);
      setFileOwner(target.fd, this.#settings.owner, modeOf(status));
    }
    const seen = this.#settings.learns === 'source' ? status : target && fs.fstatSync(target.fd, { bigint: true });
    const fate = oid === '' ? 'unstored' : 'done';
    note(result, fate, { oid, mode: modeOf(status), size, status: seen });
  }
}

type FolderTask = CopyFolder & Pick<CopyTask, 'remaining'>;

interface Source {
  name: string;
  fd: number;
  status: fs.BigIntStats;
}

interface Target {
  fd: number;
  isShared: boolean;
}

interface Done {
  source: Source;
  target: Target | undefined;
  size: number;
  oid: string;
}

const modeOf = ({ mode }: fs.BigIntStats): number => (Number(mode) & 0o777) | 0o600;

const unsupported = ['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'ENOTTY', 'EXDEV', 'EINVAL', 'EPERM'];

function note(
  result: CopyResult,
  fate: CopyFate,
  {
    oid = '',
    mode = 0,
    size = 0,
    status,
  }: { oid?: string; mode?: number; size?: number; status?: fs.BigIntStats | undefined } = {},
): void {
  const at = result.fates.length * statusFields;
  result.fates.push(fate);
  result.oids.push(oid);
  result.modes.push(mode);
  result.sizes.push(size);
  if (status !== undefined) result.status.set(statusNumbers(status), at);
}

/** The path of a child of an open folder: 1 µs less than with a buffer. */
const childOf = (folder: string, name: string): string | Buffer => {
  const path = `${folder}/${name}`;
  return isAscii(path) ? path : Buffer.from(path, 'latin1');
};
