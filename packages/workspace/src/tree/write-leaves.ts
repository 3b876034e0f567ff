import { randomBytes } from 'node:crypto';
import { type BigIntStats, closeSync, constants, openSync, renameSync, symlinkSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkspaceError } from '../errors.ts';
import * as files from '../files/index.ts';
import { type BlobReceiver, streamBlobs } from '../host-git/stream-blobs.ts';
import { modes } from '../store/objects/index.ts';
import type { Checkout, WantedFile } from './checkout.ts';
import { keptBits } from './permissions.ts';

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
