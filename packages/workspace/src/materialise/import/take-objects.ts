import { spawn } from 'node:child_process';
import { type Hash, randomBytes } from 'node:crypto';
import { type BigIntStats, closeSync, constants, fstatSync, mkdirSync, openSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setFileOwner, setLinkOwner } from '../../files/set-owner.ts';
import { writeAll } from '../../files/write-durably.ts';
import { type ObjectType, startObject } from '../../git-objects/object-id.ts';
import { largeBlobBytes } from '../../git-objects/object-writer.ts';
import type { GitCommand } from '../../host-git/git.ts';
import type { Owner } from '../../port.ts';
import { statusFields } from './copy-files.ts';
import type { ImportPack } from './import-pack.ts';

/** Objects of a repository, and the files that are made of them. */
export interface ObjectsTask {
  readonly kind: 'objects';
  /** `git cat-file --batch` */
  readonly command: GitCommand;
  readonly objects: readonly WantedObject[];
  /** Folder for files under temporary names. */
  readonly temporary: string;
}

export interface WantedObject {
  readonly oid: string;
  readonly type: ObjectType;
  /** The new file that gets the content, in `latin1`. Its folder exists. Without one the object is only stored. */
  readonly path?: string;
  readonly bits?: number;
  /** Whether the path becomes a link to the content. */
  readonly isLink?: boolean;
}

export interface ObjectsResult {
  /** `statusFields` numbers for each object; zeros where no file was made. */
  readonly status: BigInt64Array;
}

/** A source that does not give what its commit needs. */
export class BrokenSource extends Error {
  override name = 'BrokenSource';
}

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants;

/**
 * Takes objects from a repository through one process and checks that each is what its id says. Files are written in the same pass, under
 * their final names: no other process sees the tree yet.
 */
export async function takeObjects(
  deps: { pack: ImportPack; owner: Owner | undefined; learns: boolean },
  task: ObjectsTask,
  onObject: (size: number) => Promise<void> | undefined,
): Promise<ObjectsResult> {
  const status = new BigInt64Array(task.objects.length * statusFields);
  if (task.objects.length === 0) return { status };
  const receiver = new ObjectReceiver(deps, { task, status });
  const child = spawn(task.command.file, task.command.args, { ...task.command.options, stdio: 'pipe' });
  let said = '';
  child.stderr.on('data', (text) => {
    said = (said + String(text)).slice(-2000);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  ended.catch(() => {});
  child.stdin.on('error', () => {});
  child.stdin.end(task.objects.map(({ oid }) => `${oid}\n`).join(''));
  try {
    for await (const chunk of child.stdout) {
      for (let rest = chunk as Buffer; rest.length > 0; ) {
        const taken = receiver.take(rest);
        rest = rest.subarray(taken);
        if (!receiver.isAtEnd) continue;
        const size = await receiver.finish();
        const pause = onObject(size);
        if (pause !== undefined) await pause;
      }
    }
    const code = await ended;
    if (code !== 0 || receiver.left > 0) throw new BrokenSource(said.trim() || `git exited with ${code}`);
    await deps.pack.settle();
    return { status };
  } finally {
    receiver[Symbol.dispose]();
    child.kill('SIGKILL');
  }
}

interface Open {
  readonly wanted: WantedObject;
  readonly size: number;
  filled: number;
  /** Content of a small object. */
  readonly content: Buffer | undefined;
  readonly file: { fd: number; temporary: string | undefined } | undefined;
  /** For a large object. */
  readonly hash: Hash | undefined;
}

/** Splits `<oid> <type> <size>\n<content>\n` into objects. */
class ObjectReceiver {
  readonly #deps: Parameters<typeof takeObjects>[0];
  readonly #task: ObjectsTask;
  readonly #status: BigInt64Array;
  #memory = Buffer.allocUnsafeSlow(256 * 1024);
  #header = '';
  #index = 0;
  #open: Open | undefined;

  constructor(deps: Parameters<typeof takeObjects>[0], input: { task: ObjectsTask; status: BigInt64Array }) {
    this.#deps = deps;
    this.#task = input.task;
    this.#status = input.status;
  }

  /** Objects that have not arrived. */
  get left(): number {
    return this.#task.objects.length - this.#index;
  }

  /** Whether all bytes of an object are there. */
  get isAtEnd(): boolean {
    return this.#open !== undefined && this.#open.filled > this.#open.size;
  }

  /** Takes some of the bytes and returns how many. */
  take(bytes: Buffer): number {
    const open = this.#open;
    if (open === undefined) return this.#takeHeader(bytes);
    if (open.filled === open.size) {
      // The line feed after the content.
      open.filled += 1;
      return 1;
    }
    const piece = bytes.subarray(0, open.size - open.filled);
    if (open.content !== undefined) piece.copy(open.content, open.filled);
    open.hash?.update(piece);
    if (open.file !== undefined && open.content === undefined) {
      this.#deps.pack.assertSpace();
      writeAll(open.file.fd, piece);
    }
    open.filled += piece.length;
    return piece.length;
  }

  /** Checks and stores the object. Returns its size. */
  async finish(): Promise<number> {
    const open = this.#open;
    if (open === undefined) return 0;
    const { wanted, content, file, size } = open;
    const oid = content === undefined ? open.hash?.digest('hex') : this.#deps.pack.add(wanted.type, content);
    if (oid !== wanted.oid) throw new BrokenSource(`the object ${wanted.oid} is damaged`);
    if (file !== undefined) {
      if (content !== undefined) writeAll(file.fd, content);
      else await this.#deps.pack.addLarge(oid, { fd: file.fd, size });
      if (file.temporary === undefined) this.#keepStatus(file.fd, wanted);
    } else if (wanted.isLink === true && wanted.path !== undefined && content !== undefined) {
      const path = Buffer.from(wanted.path, 'latin1');
      symlinkSync(content, path);
      setLinkOwner(path, this.#deps.owner);
    }
    this[Symbol.dispose]();
    this.#index += 1;
    return size;
  }

  [Symbol.dispose](): void {
    const file = this.#open?.file;
    this.#open = undefined;
    if (file === undefined) return;
    closeSync(file.fd);
    if (file.temporary !== undefined) rmSync(file.temporary, { force: true });
  }

  #keepStatus(fd: number, { bits = 0o644 }: WantedObject): void {
    setFileOwner(fd, this.#deps.owner, bits);
    if (!this.#deps.learns) return;
    this.#status.set(statusNumbers(fstatSync(fd, { bigint: true })), this.#index * statusFields);
  }

  #takeHeader(bytes: Buffer): number {
    const end = bytes.indexOf(0x0a);
    this.#header += bytes.toString('latin1', 0, end === -1 ? bytes.length : end);
    if (end === -1) return bytes.length;
    const wanted = this.#task.objects[this.#index];
    const [oid, type, size] = this.#header.split(' ');
    if (wanted === undefined || oid !== wanted.oid || type !== wanted.type || size === undefined) {
      throw new BrokenSource(`git answered ${JSON.stringify(this.#header.slice(0, 200))} for ${wanted?.oid}`);
    }
    this.#header = '';
    this.#begin(wanted, Number(size));
    return end + 1;
  }

  #begin(wanted: WantedObject, size: number): void {
    const isLarge = size >= largeBlobBytes && wanted.type === 'blob' && wanted.isLink !== true;
    if (!isLarge && this.#memory.length < size) this.#memory = Buffer.allocUnsafeSlow(Math.max(size, largeBlobBytes));
    const isTemporary = isLarge && wanted.path === undefined;
    const temporary = isTemporary ? join(this.#task.temporary, `large-${randomBytes(8).toString('hex')}`) : undefined;
    const path = temporary ?? (wanted.isLink === true ? undefined : wanted.path);
    if (temporary !== undefined) mkdirSync(dirname(temporary), { recursive: true });
    const at = path === undefined ? undefined : Buffer.from(path, 'latin1');
    const fd = at && openSync(at, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    this.#open = {
      ...{ wanted, size, filled: 0 },
      content: isLarge ? undefined : this.#memory.subarray(0, size),
      hash: isLarge ? startObject('blob', size) : undefined,
      file: fd === undefined ? undefined : { fd, temporary },
    };
  }
}

function statusNumbers({ size, mtimeNs, ctimeNs, ino, dev, mode }: BigIntStats): bigint[] {
  return [size, mtimeNs, ctimeNs, BigInt.asIntN(64, ino), BigInt.asIntN(64, dev), mode];
}
