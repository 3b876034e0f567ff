import { type BigIntStats, fstatSync, mkdirSync, readlinkSync, rmdirSync, symlinkSync } from 'node:fs';
import { errnoOf } from '../errors.ts';
import * as files from '../files/index.ts';
import { assertUsablePath, countBytes, countEntry, fileDone, type ImportContext } from '../source/import-context.ts';
import { emptyFolder, type Folder, modes, type ObjectWriter } from '../store/objects/index.ts';
import { isPrivate, keptBits, specialKind } from '../tree/index.ts';
import { type CopyFolder, type CopyResult, statusFields } from './import/copy-files.ts';
import type { Importer } from './import/importer.ts';

export interface Copy extends ImportContext {
  /** Device and inode of a directory to leave out: the data directory, in case the source contains the directory. */
  readonly without: { dev: bigint; ino: bigint };
  readonly importer: Importer;
  /** Stores the targets of links. */
  readonly content: Pick<ObjectWriter, 'blob'>;
  /** The content of a source file with this status, if known for sure. Asked only when nothing is written. */
  readonly known?: (path: files.BytePath, status: BigIntStats) => string | undefined;
  /** Records the status of a stored file: see `statusFields`. */
  readonly learn: (path: files.BytePath, status: BigInt64Array, oid: string) => void;
}

/** The files of a source, as they were copied. */
export interface Copied {
  readonly root: Folder;
  /** Permission bits different from git's own. */
  readonly permissions: Map<files.BytePath, number>;
  /** Files copied and not stored: too large, or changed during the copy. */
  readonly unstored: files.BytePath[];
  /** Regular files, and their bytes. */
  files: number;
  bytes: number;
}

export const newCopied = (): Copied => ({
  root: emptyFolder(),
  permissions: new Map(),
  unstored: [],
  files: 0,
  bytes: 0,
});

/**
 * Copies the content of a directory into an empty directory: files with their times, links, and modes. `.git` entries are left out. Sockets, FIFOs,
 * devices and unreadable files are left out and recorded. Links are never followed.
 * @param input.to undefined: the source is only read
 */
export async function copyDirectory(copy: Copy, input: { from: string; to: string | undefined }): Promise<Copied> {
  const walk: Walk = { copy, copied: newCopied(), batch: newBatch(), tasks: [], optional: [], failure: undefined };
  const from = files.openTop(input.from);
  const to = input.to === undefined ? undefined : files.openTop(input.to);
  try {
    await walkFolder(walk, { from, to, path: '', folder: walk.copied.root, uses: 1 });
  } catch (error) {
    for (const { pair } of walk.batch.folders) release(pair);
    throw error;
  }
  sendBatch(walk);
  await Promise.all(walk.tasks);
  if (walk.failure !== undefined) throw walk.failure.error;
  for (const one of walk.optional.toReversed()) removeIfUnused(one, input.to);
  return walk.copied;
}

interface Walk {
  readonly copy: Copy;
  readonly copied: Copied;
  /** Found files with their copy still to begin. */
  batch: Batch;
  /** Batches in the course of copying. Never rejected. */
  readonly tasks: Promise<void>[];
  /** Folders made in case the selection includes a file inside. */
  readonly optional: { parent: Folder; name: string; path: files.BytePath }[];
  failure: { error: unknown } | undefined;
}

interface Pair {
  from: files.Directory;
  to: files.Directory | undefined;
  path: files.BytePath;
  folder: Folder;
  /** The walk, and each batch with files of the folder. */
  uses: number;
}

/** Files copied together by a thread, and their folders: each message to a thread costs as much as a small file. */
const batchFiles = 200;
/** Each folder holds two descriptors until its last batch is copied. */
const batchFolders = 16;

/** Files of several folders, copied together. */
interface Batch {
  readonly folders: { readonly pair: Pair; readonly names: string[] }[];
  files: number;
}

const newBatch = (): Batch => ({ folders: [], files: 0 });

/** Closes the folders when everything in them is copied. */
async function walkFolder(walk: Walk, pair: Pair): Promise<void> {
  try {
    await walkEntries(walk, pair);
  } finally {
    release(pair);
  }
}

/**
 * Ends a use of the folders: the walk's, or a batch's. The last use closes them, because a thread names them by their descriptors, and
 * another file could get a closed descriptor.
 */
function release(pair: Pair): void {
  pair.uses -= 1;
  if (pair.uses > 0) return;
  pair.from[Symbol.dispose]();
  pair.to?.[Symbol.dispose]();
}

function addToBatch(walk: Walk, pair: Pair, name: string): Promise<unknown> | undefined {
  const { batch } = walk;
  const last = batch.folders.at(-1);
  if (last?.pair === pair) last.names.push(name);
  else {
    pair.uses += 1;
    batch.folders.push({ pair, names: [name] });
  }
  batch.files += 1;
  if (batch.files < batchFiles && batch.folders.length < batchFolders) return undefined;
  sendBatch(walk);
  return walk.copy.importer.backpressure();
}

function sendBatch(walk: Walk): void {
  const { batch } = walk;
  if (batch.files === 0) return;
  walk.batch = newBatch();
  const ended = copyFiles(walk, batch)
    .catch((error: unknown) => {
      walk.failure ??= { error };
    })
    .finally(() => {
      for (const { pair } of batch.folders) release(pair);
    });
  walk.tasks.push(ended);
}

async function walkEntries(walk: Walk, pair: Pair): Promise<void> {
  const { copy } = walk;
  for (const { name, kind } of files.entriesIn(pair.from)) {
    if (files.isDotGit(name)) continue;
    const path = files.join(pair.path, name);
    if (kind === 'folder' ? copy.selection.excludes(path) : !copy.selection.has(path)) continue;
    assertUsablePath(path);
    countEntry(copy);
    if (kind === 'file') {
      const full = isKnown(walk, pair, name) ? undefined : addToBatch(walk, pair, name);
      if (full !== undefined) await full;
    } else await walkEntry(walk, pair, { name, kind });
    const pause = copy.maybeYield();
    if (pause !== undefined) await pause;
    if (walk.failure !== undefined) throw walk.failure.error;
  }
}

async function walkEntry(
  walk: Walk,
  pair: Pair,
  { name, kind }: { name: string; kind: files.EntryKind },
): Promise<void> {
  switch (kind) {
    case 'folder':
      return walkChild(walk, pair, name);
    case 'link':
      return copyLink(walk, pair, name);
    case 'other':
      return noteSpecial(walk.copy, pair, name);
    case 'file':
      throw new TypeError('files are copied together');
    default:
      throw kind satisfies never;
  }
}

/**
 * Reads from the source. An unreadable path is recorded. A path lost or changed in kind between two system calls is skipped: the copy shows
 * no single moment anyway. Any other error is thrown.
 */
function fromSource<T>(copy: Copy, path: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (errno === 'EACCES' || errno === 'EPERM') copy.skipped.set(path, 'unreadable');
    else if (!['ENOENT', 'ELOOP', 'ENOTDIR', 'ENXIO'].includes(errno)) throw error;
    return undefined;
  }
}

async function walkChild(walk: Walk, pair: Pair, name: string): Promise<void> {
  const { copy } = walk;
  const path = files.join(pair.path, name);
  const from = fromSource(copy, path, () => files.openChild(pair.from, name));
  if (from === undefined) return;
  const status = fstatSync(from.fd);
  const isWithout = BigInt(status.ino) === copy.without.ino && BigInt(status.dev) === copy.without.dev;
  if (isWithout) return from[Symbol.dispose]();
  const bits = (status.mode & 0o777) | 0o700;
  const to = pair.to && makeFolder(pair.to, { name, owner: copy.owner, bits });
  const folder = emptyFolder();
  pair.folder.entries.set(name, folder);
  notePermissions(walk.copied, { path, kind: 'folder', mode: bits });
  if (!copy.selection.has(path)) walk.optional.push({ parent: pair.folder, name, path });
  await walkFolder(walk, { from, to, path, folder, uses: 1 });
}

function makeFolder(
  parent: files.Directory,
  { name, owner, bits }: { name: string; owner: ImportContext['owner']; bits: number },
): files.Directory {
  mkdirSync(parent.at(name), 0o700);
  const made = files.openChild(parent, name);
  files.setFolderOwner(made.fd, owner, bits);
  return made;
}

function removeIfUnused({ parent, name, path }: Walk['optional'][number], top: string | undefined): void {
  const folder = parent.entries.get(name);
  if (folder === undefined || !('entries' in folder) || folder.entries.size > 0) return;
  try {
    if (top !== undefined) rmdirSync(Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, 'latin1')]));
  } catch (error) {
    // The folder holds an unstored file.
    if (!['ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error;
  }
  parent.entries.delete(name);
}

function copyLink({ copy }: Walk, pair: Pair, name: string): void {
  const read = () => readlinkSync(pair.from.at(name), { encoding: 'buffer' });
  const target = fromSource(copy, files.join(pair.path, name), read);
  if (target === undefined) return;
  if (pair.to !== undefined) {
    symlinkSync(target, pair.to.at(name));
    files.setLinkOwner(pair.to.at(name), copy.owner);
  }
  pair.folder.entries.set(name, { mode: modes.symlink, oid: copy.content.blob(target) });
  fileDone(copy);
}

/** Takes a file from the stat cache of the source. */
function isKnown({ copy, copied }: Walk, pair: Pair, name: string): boolean {
  if (copy.known === undefined) return false;
  const path = files.join(pair.path, name);
  const status = fromSource(copy, path, () => files.statIn(pair.from, name));
  const oid = status?.isFile() === true ? copy.known(path, status) : undefined;
  if (status === undefined || oid === undefined) return false;
  const mode = Number(status.mode);
  countBytes(copy, Number(status.size));
  noteFile(copied, { folder: pair.folder, name, path }, { mode, size: Number(status.size), oid });
  return true;
}

async function copyFiles(walk: Walk, { folders }: Batch): Promise<void> {
  const { copy } = walk;
  const result = await copy.importer.copy({
    folders: folders.map(({ pair, names }): CopyFolder => {
      return { from: pair.from.self.toString('latin1'), to: pair.to?.self.toString('latin1'), names };
    }),
    remaining: copy.limits.sourceBytes - copy.bytes,
  });
  let index = 0;
  for (const { pair, names } of folders) {
    for (const name of names) {
      noteResult(walk, pair, { result, index, name });
      index += 1;
    }
  }
}

function noteResult(
  { copy, copied }: Walk,
  { path: above, folder }: Pair,
  { result, index, name }: { result: CopyResult; index: number; name: string },
): void {
  const path = files.join(above, name);
  const fate = result.fates[index] ?? 'gone';
  const { [index]: oid = '' } = result.oids;
  const { [index]: mode = 0 } = result.modes;
  const { [index]: size = 0 } = result.sizes;
  switch (fate) {
    case 'gone':
      return;
    case 'unreadable':
      return void copy.skipped.set(path, fate);
    case 'too_large':
    case 'unstored':
    case 'done':
      countBytes(copy, size);
      break;
    default:
      throw fate satisfies never;
  }
  if (fate !== 'done') return void copied.unstored.push(path);
  noteFile(copied, { folder, name, path }, { mode, size, oid });
  copy.learn(path, result.status.subarray(index * statusFields, (index + 1) * statusFields), oid);
}

function noteFile(
  copied: Copied,
  at: { folder: Folder; name: string; path: files.BytePath },
  { mode, size, oid }: { mode: number; size: number; oid: string },
): void {
  const isExecutable = (mode & 0o100) !== 0;
  at.folder.entries.set(at.name, { mode: isExecutable ? modes.executable : modes.file, oid });
  notePermissions(copied, { path: at.path, kind: isExecutable ? 'executable' : 'file', mode });
  copied.files += 1;
  copied.bytes += size;
}

function notePermissions(
  { permissions }: Copied,
  { path, kind, mode }: { path: files.BytePath; kind: 'file' | 'executable' | 'folder'; mode: number },
): void {
  const bits = keptBits(mode, kind);
  if (isPrivate(bits, kind)) permissions.set(path, bits);
}

function noteSpecial(copy: Copy, pair: Pair, name: string): void {
  const path = files.join(pair.path, name);
  const status = fromSource(copy, path, () => files.statIn(pair.from, name));
  const special = status && specialKind(status);
  if (special !== undefined) copy.skipped.set(path, special);
}
