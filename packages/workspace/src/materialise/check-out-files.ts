import { randomBytes } from 'node:crypto';
import { chmodSync, lchownSync, lstatSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Deps, WorkspaceError } from '../deps.ts';
import { fromPlain, isAscii, join as joinNames, openTop, setFolderOwner } from '../files/index.ts';
import { bigFileFlags } from '../host-git/git.ts';
import { bytesDone, fileDone, type ImportContext, type ImportProgress } from '../source/import-context.ts';
import { type Folder, isFolder, leavesOf } from '../store/objects/index.ts';
import { gitPermissions, indexOf, kindOf } from '../tree/index.ts';
import { statusNumbers } from './import/copy-files.ts';

/** Files per process of git. Its start takes as long as some hundred files, and the caller's progress moves at its end. */
const partFiles = 2500;
/** Concurrent processes: writing files in the same file system gains little from more. */
const atOnce = 2;

interface Input {
  /** The repository of the objects. Its attributes turn every conversion off. */
  readonly gitDir: string;
  readonly root: Folder;
  /** An empty folder without other users. */
  readonly to: string;
  /** Folder for temporary files. */
  readonly temporary: string;
  /** Undefined: the files keep the owner of this process. */
  readonly owner: ImportContext['owner'];
  /** Permissions of new entries at a byte path below `to`. @default git's permissions */
  readonly bitsOf?: (path: string, kind: Kind) => number;
  readonly context: ImportProgress & Pick<ImportContext, 'maybeYield'>;
  /** Records the status of a file: see `statusFields`. */
  readonly learn?: ((path: string, status: BigInt64Array, oid: string) => void) | undefined;
  /** Settled when the repository has the objects. @default the objects are there */
  readonly objects?: Promise<unknown> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes the files of a tree into a new folder, by processes of git: git writes a file in a third of a Node thread's processor time. Only
 * these processes use the folder, so plain paths are safe.
 */
export async function checkOutFiles(deps: Pick<Deps, 'git'>, input: Input): Promise<void> {
  await makeFolders(input.root, input);
  const parts = split(leavesOf(input.root));
  const failed = new AbortController();
  const signal = AbortSignal.any([failed.signal, ...(input.signal ? [input.signal] : [])]);
  const writeNext = async (): Promise<void> => {
    const { value: part } = parts.next();
    if (part === undefined) return;
    await writePart(deps, { ...input, signal }, part);
    await finishPart(input, part);
    await writeNext();
  };
  const writers = Array.from({ length: atOnce }, () =>
    writeNext().catch((error: unknown) => {
      failed.abort(error);
      throw error;
    }),
  );
  // No process writes any more when this returns.
  const ended = await Promise.allSettled(writers);
  for (const one of ended) if (one.status === 'rejected') throw failed.signal.reason;
}

async function writePart(deps: Pick<Deps, 'git'>, input: Input, files: readonly File[]): Promise<void> {
  const index = join(input.temporary, `check-out-${randomBytes(6).toString('hex')}.index`);
  writeFileSync(index, await indexOf(files), { mode: 0o600 });
  // The names are checked already, for every file system; git would refuse some names without need.
  const flags = [...bigFileFlags, '-c', 'core.protectNTFS=false', '-c', 'core.protectHFS=false'];
  try {
    await input.objects;
    await deps.git.run([...flags, `--git-dir=${input.gitDir}`, `--work-tree=${input.to}`, 'checkout-index', '-aq'], {
      env: { GIT_INDEX_FILE: index },
      signal: input.signal,
    });
  } finally {
    rmSync(index, { force: true });
  }
}

/** Gives the files their owner and permissions, and looks at each. */
async function finishPart(
  { to, owner, context, learn, bitsOf = usualBits }: Input,
  files: readonly File[],
): Promise<void> {
  const top = fromPlain(to);
  for (const { path, leaf } of files) {
    const full = `${top}/${path}`;
    const at = isAscii(full) ? full : Buffer.from(full, 'latin1');
    if (owner !== undefined) lchownSync(at, owner.uid, owner.gid);
    const kind = kindOf(leaf);
    const bits = kind === undefined ? undefined : BigInt(bitsOf(path, kind));
    let status = lstatSync(at, { bigint: true });
    if (bits !== undefined && status.isFile() && (status.mode & 0o7777n) !== bits) {
      // The umask of this process.
      chmodSync(at, Number(bits));
      status = lstatSync(at, { bigint: true });
    }
    if (bits === undefined ? !status.isSymbolicLink() : !status.isFile()) {
      throw new WorkspaceError('EWORKSPACEBUSY', `${path} changed while it was made.`);
    }
    if (bits !== undefined) learn?.(path, BigInt64Array.from(statusNumbers(status)), leaf.oid);
    fileDone(context);
    bytesDone(context, Number(status.size));
    const pause = context.maybeYield();
    if (pause !== undefined) await pause;
  }
}

type File = ReturnType<typeof leavesOf> extends Generator<infer T> ? T : never;

function* split(files: Generator<File>): Generator<File[]> {
  let part: File[] = [];
  for (const file of files) {
    part.push(file);
    if (part.length < partFiles) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}

/** All folders first: git gives its own new folders to the user of this process. */
async function makeFolders(
  root: Folder,
  { to, owner, context, bitsOf = usualBits }: Pick<Input, 'to' | 'owner' | 'context' | 'bitsOf'>,
): Promise<void> {
  const visit = async (folder: Folder, above: string): Promise<void> => {
    for (const [name, entry] of folder.entries) {
      if (!isFolder(entry)) continue;
      const path = joinNames(above, name);
      const at = Buffer.from(`${fromPlain(to)}/${path}`, 'latin1');
      mkdirSync(at, 0o700);
      using made = openTop(at);
      setFolderOwner(made.fd, owner, bitsOf(path, 'folder'));
      const pause = context.maybeYield();
      if (pause !== undefined) await pause;
      await visit(entry, path);
    }
  };
  await visit(root, '');
}

type Kind = keyof typeof gitPermissions.usual;
const usualBits = (_path: string, kind: Kind): number => gitPermissions.usual[kind];
