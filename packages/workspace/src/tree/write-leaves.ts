import { randomBytes } from 'node:crypto';
import { type BigIntStats, closeSync, constants, openSync, renameSync, symlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkspaceError } from '../errors.ts';
import * as files from '../files/index.ts';
import type { Git } from '../host-git/git.ts';
import { type BlobReceiver, streamBlobs } from '../host-git/stream-blobs.ts';
import type { Owner } from '../port/workspaces.ts';
import { type Folder, type Leaf, modes } from '../store/objects/index.ts';
import { keptBits, type Permissions } from './permissions.ts';
import type { Scan } from './scan.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Writes files from the shadow repository into the tree: each under a temporary name, then renamed to its own. */
export async function writeLeaves(
  checkout: Checkout,
  input: { top: files.Directory; wanted: readonly WantedFile[] },
): Promise<void> {
  const written: Written[] = [];
  const receiver = createReceiver(checkout, { ...input, written });
  try {
    await streamBlobs(
      { git: checkout.git },
      { gitDir: checkout.gitDir, oids: input.wanted.map(({ leaf }) => leaf.oid), signal: checkout.signal },
      receiver,
    );
  } finally {
    receiver.close();
  }
  const clock = await laterClock(checkout, written.at(-1)?.status.ctimeNs);
  for (const { path, status, oid } of written) checkout.scan.stats.set(path, status, oid, clock);
}

/** Longer than a tick of any kernel, ms. */
const tickMs = 12;

/** A time of the file system after the tick of the last file's write: the stat cache would not keep its status otherwise. */
async function laterClock({ clock }: Checkout, last: bigint | undefined): Promise<bigint> {
  const now = clock();
  if (last === undefined || last < now) return now;
  await sleep(tickMs);
  return clock();
}

interface Written {
  path: string;
  status: BigIntStats;
  oid: string;
}

interface Open {
  readonly wanted: WantedFile;
  readonly directory: files.Directory;
  readonly name: string;
  readonly temporary: string;
  /** Undefined for a symbolic link, whose target is collected in `pieces`. */
  readonly fd: number | undefined;
  readonly pieces: Buffer[];
}

function createReceiver(
  checkout: Checkout,
  input: { top: files.Directory; wanted: readonly WantedFile[]; written: Written[] },
) {
  let open: Open | undefined;
  let size = 0;
  let path = '';
  const close = () => {
    if (open?.fd !== undefined) closeSync(open.fd);
    open?.directory[Symbol.dispose]();
    open = undefined;
  };
  const receiver: BlobReceiver & { close(): void } = {
    begin: (index, bytes) => {
      size = bytes;
      const wanted = input.wanted[index];
      path = wanted?.path ?? '';
      if (wanted !== undefined) open = openTarget(input.top, wanted);
    },
    piece: (bytes) => {
      if (open?.fd !== undefined) files.writeAll(open.fd, bytes);
      else open?.pieces.push(Buffer.from(bytes));
    },
    end: () => {
      const done = open === undefined ? undefined : finish(checkout, open);
      if (done !== undefined) input.written.push(done);
      close();
      checkout.onWritten?.(size, path);
      return checkout.scan.maybeYield();
    },
    close,
  };
  return receiver;
}

function openTarget(top: files.Directory, wanted: WantedFile): Open {
  const names = wanted.path.split('/');
  const name = names.pop() ?? '';
  const directory = files.openChain(top, names);
  if (directory === undefined) {
    throw new WorkspaceError('EWORKSPACEBUSY', `The folder of ${files.toText(wanted.path)} vanished during a restore.`);
  }
  const temporary = `.holdpoint-${randomBytes(8).toString('hex')}`;
  const isLink = wanted.leaf.mode === modes.symlink;
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  const fd = isLink ? undefined : openSync(directory.at(temporary), flags, 0o600);
  return { wanted, directory, name, temporary, fd, pieces: [] };
}

/** Renames the file to its own name and returns its status. */
function finish(checkout: Checkout, open: Open): Written | undefined {
  const { directory, temporary, name, wanted, fd } = open;
  if (fd === undefined) {
    symlinkSync(Buffer.concat(open.pieces), directory.at(temporary));
    files.setLinkOwner(directory.at(temporary), checkout.owner);
  } else {
    files.setFileOwner(fd, checkout.owner, permissions(directory, name, wanted));
  }
  const mtime = checkout.mtimeOf?.(wanted.path, wanted.leaf.oid);
  if (mtime !== undefined) files.setMtime(directory.at(temporary), mtime);
  renameSync(directory.at(temporary), directory.at(name));
  const status = fd === undefined ? undefined : files.statIn(directory, name);
  return status === undefined ? undefined : { path: wanted.path, status, oid: wanted.leaf.oid };
}

/** The permissions of the replaced file with git's executable bit corrected, unless the snapshot keeps wider or narrower ones. */
function permissions(directory: files.Directory, name: string, { leaf, bits }: WantedFile): number {
  const status = files.statIn(directory, name);
  if (status?.isFile() !== true) return bits;
  const executable = leaf.mode === modes.executable;
  const mode = Number(status.mode & 0o777n) | 0o600;
  const kept = executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
  return keptBits(kept, executable ? 'executable' : 'file') === bits ? kept : bits;
}

export interface Checkout {
  readonly git: Git;
  /** Finds the already right files; stores nothing. */
  readonly scan: Scan;
  /** Overrides `scan` for some paths. @default `scan` */
  readonly scanAt?: (path: string) => Scan;
  readonly gitDir: string;
  readonly tree: string;
  /** The file system's time, ns. */
  readonly clock: () => bigint;
  /** Owner of the written files; undefined on a host without a change of owners. */
  readonly owner: Owner | undefined;
  /** Whether an entry stays exactly unchanged. */
  readonly keep: (path: string, status: BigIntStats) => boolean;
  /** Called for every written file. */
  readonly onWritten?: (bytes: number, path: string) => void;
  /** Names never written or removed. @default `.git` entries */
  readonly hides?: (name: string) => boolean;
  /** The known content of the tree. @default every entry is looked at */
  readonly known?: KnownTree | undefined;
  /** @default git's own */
  readonly permissions?: Permissions;
  /** The time of this content in the former tree, ns. @default now */
  readonly mtimeOf?: MtimeOf | undefined;
  readonly signal?: AbortSignal;
}

/** Undefined: not known. */
export type MtimeOf = (path: string, oid: string) => bigint | undefined;

/** Known entries of the tree are left alone where the target has the same. */
export interface KnownTree {
  readonly root: Folder;
  /** Whether an entry at or below this path differs from `root`, or has other permissions than the target. */
  readonly isUnsure: (path: string) => boolean;
}

/** A file to write. */
export interface WantedFile {
  path: string;
  leaf: Leaf;
  /** Permission bits; ignored for a link. */
  bits: number;
}
