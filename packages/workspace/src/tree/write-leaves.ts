import { randomBytes } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { closeSync, constants, openSync, renameSync, symlinkSync } from 'node:fs';
import { WorkspaceError } from '../errors.ts';
import { giveFile, giveLink } from '../files/give-away.ts';
import { type Directory, openChain, statIn } from '../files/open-directory.ts';
import { toText } from '../files/path-name.ts';
import { writeAll } from '../files/write-durably.ts';
import { type BlobReceiver, streamBlobs } from '../host-git/stream-blobs.ts';
import type { Bring, Wanted } from './bring-tree.ts';
import { keptBits } from './permissions.ts';
import { modes } from './tree.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;

/** Writes files from the shadow repository into the tree: each to a temporary name first, then renamed over what is there. */
export async function writeLeaves(bring: Bring, input: { top: Directory; wanted: readonly Wanted[] }): Promise<void> {
  const written: Written[] = [];
  const receiver = createReceiver(bring, { ...input, written });
  try {
    await streamBlobs(
      { git: bring.git },
      {
        gitDir: bring.gitDir,
        oids: input.wanted.map(({ leaf }) => leaf.oid),
        ...(bring.signal && { signal: bring.signal }),
      },
      receiver,
    );
  } finally {
    receiver.close();
  }
  // Learned at the end, when the clock has left the ticks in which the files were written.
  const clock = bring.clock();
  for (const { path, status, oid } of written) bring.scan.stats.learn(path, status, oid, clock);
}

interface Written {
  path: string;
  status: BigIntStats;
  oid: string;
}

interface Open {
  readonly wanted: Wanted;
  readonly directory: Directory;
  readonly name: string;
  readonly temporary: string;
  /** Absent for a symbolic link, whose target is gathered in `pieces`. */
  readonly fd: number | undefined;
  readonly pieces: Buffer[];
}

function createReceiver(bring: Bring, input: { top: Directory; wanted: readonly Wanted[]; written: Written[] }) {
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
      if (open?.fd !== undefined) writeAll(open.fd, bytes);
      else open?.pieces.push(Buffer.from(bytes));
    },
    end: () => {
      const done = open === undefined ? undefined : finish(bring, open);
      if (done !== undefined) input.written.push(done);
      close();
      bring.onWritten?.(size, path);
      return bring.scan.pace();
    },
    close,
  };
  return receiver;
}

function openTarget(top: Directory, wanted: Wanted): Open {
  const names = wanted.path.split('/');
  const name = names.pop() ?? '';
  const directory = openChain(top, names);
  if (directory === undefined) {
    throw new WorkspaceError('EWORKSPACEBUSY', `The folder of ${toText(wanted.path)} vanished during a restore.`);
  }
  const temporary = `.holdpoint-${randomBytes(8).toString('hex')}`;
  const isLink = wanted.leaf.mode === modes.symlink;
  const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
  const fd = isLink ? undefined : openSync(directory.at(temporary), flags, 0o600);
  return { wanted, directory, name, temporary, fd, pieces: [] };
}

/** Puts the file in its place; answers with what is now known of it. */
function finish(bring: Bring, open: Open): Written | undefined {
  const { directory, temporary, name, wanted, fd } = open;
  if (fd === undefined) {
    symlinkSync(Buffer.concat(open.pieces), directory.at(temporary));
    giveLink(directory.at(temporary), bring.owner);
  } else {
    giveFile(fd, bring.owner, permissions(directory, name, wanted));
  }
  renameSync(directory.at(temporary), directory.at(name));
  const status = fd === undefined ? undefined : statIn(directory, name);
  return status === undefined ? undefined : { path: wanted.path, status, oid: wanted.leaf.oid };
}

/** Those of the file that is replaced, with git's executable bit put right, unless they are wider or narrower than those of the snapshot. */
function permissions(directory: Directory, name: string, { leaf, bits }: Wanted): number {
  const status = statIn(directory, name);
  if (status?.isFile() !== true) return bits;
  const executable = leaf.mode === modes.executable;
  const mode = Number(status.mode & 0o777n) | 0o600;
  const kept = executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
  return keptBits(kept, executable ? 'executable' : 'file') === bits ? kept : bits;
}
